/// The arguments of a sync that restrict it.
struct SyncRules: Sendable {
    let deletion: SyncDeletion
    let operations: SyncOperations
    let options: SyncOptions

    /// Whether objects that the list lacks are deleted at all.
    var deletes: Bool { operations.contains(.delete) && deletion != .none }
}
