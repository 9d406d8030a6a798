extension ListReason {
    /// Why a list changed. New kinds may be added in any release: keep a default branch.
    public struct Kind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public var description: String { rawValue }

        /// The list was filled for the first time.
        public static let initial = Kind(rawValue: "initial")
        /// Objects were saved.
        public static let save = Kind(rawValue: "save")
        /// The store was reset: everything that the list showed is gone.
        public static let reset = Kind(rawValue: "reset")
        /// Saves were taken back, because they could not be written or were discarded.
        public static let takenBack = Kind(rawValue: "takenBack")
        /// Another program wrote to the store, so all rows were read again.
        public static let outsideWrites = Kind(rawValue: "outsideWrites")
        /// Main was so far behind that it skipped saves, so all rows were read again.
        public static let backlog = Kind(rawValue: "backlog")
        /// A bulk change of very many objects was saved, so all rows were read again.
        public static let bulkChange = Kind(rawValue: "bulkChange")
        /// The rows could not be read. The list keeps what it showed; the next save tries again.
        public static let failure = Kind(rawValue: "failure")
        /// The container was closed. The list keeps what it showed, and does not change any more.
        public static let closed = Kind(rawValue: "closed")
    }
}
