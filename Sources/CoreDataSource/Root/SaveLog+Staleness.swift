extension SaveLog {
    /// Why main cannot continue from what it shows.
    package enum Staleness: Sendable {
        /// It was so far behind that it skipped saves.
        case backlog
        /// Another program wrote to the store.
        case outsideWrites
        /// The store has changed very many rows itself.
        case bulkChange
    }
}
