package import RowStore

/// A context that follows what main merges.
///
/// **Isolation**: the main actor, as every context of main.
package protocol MainFollower: AnyObject {
    /// Main has merged saves.
    ///
    /// - Parameters:
    ///   - isReset: Whether the store was reset before.
    ///   - isStale: Whether there were other changes, of which nothing is known.
    ///   - changesLinks: Whether one of the saves changes links.
    func follow(_ saves: [ChangeSet], isReset: Bool, isStale: Bool, changesLinks: Bool)

    /// It is not used any more.
    func end()
}
