public import Foundation
internal import RowStore

/// Pinning: the context keeps its state while others save, like the query generations of Core Data.
extension MainContext {
    /// Merges the newest saves, also those of other processes, and keeps the context at that state.
    ///
    /// ```swift
    /// try main.pin()
    /// defer { main.unpin() }
    /// let count = try main.count(ContactEntity.self)
    /// let contacts = try main.fetch(ContactEntity.self)  // count objects
    /// ```
    ///
    /// While the context is pinned, it merges no saves, whether of this container or of other processes. Objects keep their
    /// values. Fetches, look-ups, counts, aggregates and relationships show the pinned rows. If an update of a list or a live
    /// aggregate is running, it ends with the pinned rows. After that, lists and live aggregates do not change while the context
    /// is pinned, and lists show the freshness of a scope as of the pinned rows. Only ``ScopeFreshness/isLoading`` still changes.
    /// Drafts show the pinned rows until their first save, and then the newest rows. Saves go to the store as usual: a call with
    /// `waitFor: .main` returns, although the context does not show the save yet. Private contexts,
    /// ``PersistentContainer/read(_:)``, ``PersistentContainer/saves`` and ``DataSource/freshness(of:)`` are not pinned.
    ///
    /// A second call keeps the pinned state, and begins a new time limit. The pin ends with ``unpin()``, at the limit, when
    /// the store is reset or closed, and when the container is released. It also ends if the store loses the pinned state,
    /// because a read of the file fails, or because a server ends the connection that keeps the state. At the limit, and after
    /// such a loss, ``PersistentContainer/failures`` reports `pinExpired`. Time in which the app is suspended counts, too: if the
    /// limit passes during this time, the pin ends at the next read or merge.
    ///
    /// Saves wait in memory up to ``PersistentContainer/Configuration/mainBacklogByteLimit``; beyond the limit, they are
    /// dropped, and the context reloads when the pin ends. A write of another program, or a large save of another process, is
    /// noticed meanwhile, but the context reads its rows again only when the pin ends. The write-ahead log of a file cannot be
    /// emptied while the context shows one state, so it grows with each commit. If the log becomes long,
    /// ``PersistentContainer/failures`` reports `readerBlocksCheckpoint`. A server keeps the old versions of changed rows. In
    /// a store in memory, the first commit copies the tables that it changes.
    ///
    /// **Isolation**: the main actor. While a list reads the pinned rows off the main actor, a read of the context waits.
    ///
    /// - Parameter limit: The longest time of the pin; 60 seconds by default, at most a day.
    /// - Throws: `snapshotsNotKept` if the store is custom; `storeClosed`; `storeBusy` if large changes begin during each of
    ///   several tries; errors of the store. If the call throws, it pins nothing.
    /// - Complexity: O(n) in the number of rows that unmerged saves have changed. The pin uses one connection to a file or a
    ///   server for as long as the context is pinned.
    @MainActor
    public func pin(for limit: Duration = .seconds(60)) throws {
        guard let tier else { throw RootTier.closed }
        try tier.pin(for: limit)
    }

    /// Moves a pinned context to the newest state, and keeps it there.
    ///
    /// ```swift
    /// try main.advance()
    /// ```
    ///
    /// Objects get their new values, and each list reports one difference from the old to the new state. The time limit begins
    /// again. If the context is not pinned, the call only merges the newest saves.
    ///
    /// The new state begins before the old state ends, so that a failed call loses nothing. If the write-ahead log of a file is
    /// long, it is copied into the main file after the call, off the main actor. If nothing is committed between the call and the
    /// end of the copy, the next commit writes at the beginning of the log. So the log may grow while saves follow each other
    /// without a pause. If ``PinState/logByteCount`` becomes large, call ``unpin()``, and pin the
    /// context again later.
    ///
    /// **Isolation**: the main actor.
    ///
    /// - Throws: `storeClosed`; `storeBusy`; errors of the store. If the call throws, the context keeps the old state.
    /// - Complexity: O(n) in the number of rows that saves have changed since the last state.
    @MainActor
    public func advance() throws {
        guard let tier else { throw RootTier.closed }
        try tier.advance()
    }

    /// Makes a pinned context follow saves again.
    ///
    /// ```swift
    /// main.unpin()
    /// ```
    ///
    /// Objects get their newest values, and each list reports one difference from the pinned to the newest state. Does nothing
    /// if the context is not pinned.
    ///
    /// **Isolation**: the main actor.
    ///
    /// - Complexity: O(n) in the number of rows that saves have changed since the pinned state.
    @MainActor
    public func unpin() { tier?.unpin() }

    /// The pin of the context, and the bytes that wait because of it; nil if the context is not pinned.
    ///
    /// ```swift
    /// if let pinned = main.pinned { print(pinned) }
    /// ```
    ///
    /// **Isolation**: the main actor.
    @MainActor
    public var pinned: PinState? { tier?.pinState }
}

/// The pin of a main context, and the bytes that wait because of it: see ``MainContext/pin(for:)``.
///
/// A context has at most one pin, which keeps one state: a second ``MainContext/pin(for:)`` only begins a new limit. On a
/// server, the pin is an open transaction, so the server keeps the old version of each row that any program changes or deletes,
/// in all tables of the database. The client cannot ask how many bytes these are. They grow from the time of the last
/// ``MainContext/advance()``, or of the first `pin` if there was none, until the pin ends or moves on.
///
/// ```swift
/// if let pinned = main.pinned, (pinned.logByteCount ?? 0) > 100 << 20 {
///     main.unpin()
/// }
/// ```
public struct PinState: Sendable {
    /// The time of the last call of ``MainContext/pin(for:)`` or ``MainContext/advance()``. The pinned state can be older,
    /// because a second `pin` keeps the state.
    public let since: Date
    /// How long after ``since`` the pin ends.
    public let limit: Duration
    /// The memory of the saves that wait until the context moves on, in bytes. At most about
    /// ``PersistentContainer/Configuration/mainBacklogByteLimit``.
    public let waitingByteCount: Int
    /// The size of the write-ahead log of a file, in bytes; nil for another store. If the log is overwritten from its
    /// beginning, it keeps this size. The log is emptied after ``MainContext/unpin()``, and usually after
    /// ``MainContext/advance()``.
    public let logByteCount: Int?
}

extension PinState: CustomStringConvertible {
    /// The age of the pin, and the bytes that wait because of it: `pinned for 2 s (waiting saves: 120 bytes, log: 4152
    /// bytes)`.
    public var description: String {
        let seconds = Int(max(0, Date().timeIntervalSince(since)))
        let log = logByteCount.map { ", log: \($0) bytes" } ?? ""
        return "pinned for \(seconds) s (waiting saves: \(waitingByteCount) bytes\(log))"
    }
}
