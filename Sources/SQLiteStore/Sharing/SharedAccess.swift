internal import Foundation
internal import RowStore

/// The locks and notifications of a shared store, and the connections that read the saves of members.
final class SharedAccess: Sendable {
    let gate: FileLock
    /// The lock that a member takes to write to the store.
    let writeLock: FileLock
    let notifier: MemberNotifier
    let times: LeaseTimes
    let member: StoreMember
    private let files: StoreFiles
    private let layout: ModelLayout
    private let state: Guarded<State>

    private struct State {
        var firstPosition: Int64
        /// Reads the saves of other members.
        var reader: FeedReader?
        /// Reads the saves of all members, for loops over saves; nil without such loops.
        var allMembersReader: FeedReader?
        var isClosed = false

        mutating func closeReaders() {
            reader?.close()
            allMembersReader?.close()
            (reader, allMembersReader) = (nil, nil)
        }
    }

    init(
        _ files: StoreFiles, _ layout: ModelLayout, gate: FileLock, writeLock: FileLock, notifier: MemberNotifier,
        joined: (member: StoreMember, feed: SharedTables.Feed), times: LeaseTimes
    ) {
        self.files = files
        self.layout = layout
        self.gate = gate
        self.writeLock = writeLock
        self.notifier = notifier
        self.times = times
        member = joined.member
        state = Guarded(State(firstPosition: joined.feed.position))
    }

    var firstPosition: Int64 { state.withLock { $0.firstPosition } }

    /// Runs the body with the connection that reads the saves of other members.
    func reading<R: Sendable>(_ body: (FeedReader) throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try state.withLock { (state) throws(DataSourceError) in
            try body(connected(&state, \.reader, own: member.number))
        }
    }

    /// Reads the saves of all members after a position.
    func readSaves(after position: Int64) throws(DataSourceError) -> FeedPage {
        try state.withLock { (state) throws(DataSourceError) in
            try connected(&state, \.allMembersReader, own: nil).readFeed(after: position)
        }
    }

    /// Returns a connection that reads saves. Opens the connection at the first read.
    ///
    /// - Parameter own: The member whose own saves are not read; nil to read the saves of all members.
    private func connected(
        _ state: inout State, _ reader: WritableKeyPath<State, FeedReader?>, own: Int64?
    ) throws(DataSourceError) -> FeedReader {
        if state.isClosed { throw DataSourceError.storeClosed }
        if let known = state[keyPath: reader] { return known }
        let new = try FeedReader(files, layout, own: own, isAlive: notifier.isAlive)
        state[keyPath: reader] = new
        return new
    }

    /// Runs a body that replaces the store's files. No connection reads saves meanwhile. The positions of the new store start
    /// at 0.
    func replacing<R: Sendable>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try state.withLock { (state) throws(DataSourceError) in
            state.closeReaders()
            let result = try body()
            state.firstPosition = 0
            return result
        }
    }

    /// Ends the notifications, and closes the connections that read saves. The caller must still close the store.
    func endFollowing() {
        notifier.end()
        state.withLock { state in
            state.closeReaders()
            state.isClosed = true
        }
    }

    /// Checks that no other member has the store open.
    ///
    /// - Throws: `storeInUse`, with the names of the other members.
    func requireAlone(_ connection: Connection?, to action: String) throws(DataSourceError) {
        guard notifier.isAnyAlive else { return }
        let others = try connection.map(SharedTables.members)?.filter { notifier.isAlive($0.number) } ?? []
        throw DataSourceError(files.main, openIn: others, cannotBe: action)
    }
}
