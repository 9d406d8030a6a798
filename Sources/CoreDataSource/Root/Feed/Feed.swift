package import RowStore

/// Changes of rows that the context which owns them did not make itself. All contexts take them in before they continue.
///
/// It keeps a bounded number of events, and of bytes. For older positions the result is that nothing is known.
package struct Feed: Sendable {
    /// How many events there have been.
    package private(set) var position: Int64 = 0
    /// The newest events.
    private var events: [(event: FeedEvent, byteCount: Int)] = []
    /// How much memory they take, in bytes.
    package private(set) var byteCount = 0
    /// The position after the last event that took saves back, by their origin.
    private var takeBacks: [Int: Int64] = [:]

    /// The most events that are kept.
    package static let limit = 64
    /// How much memory events may use, in bytes. A larger event only says which entities it affects.
    package static let byteLimit = 16 << 20
    /// The most rows of one event; a larger event only says which entities it affects.
    package static let rowLimit = 4096

    package init() {}

    package mutating func append(_ event: FeedEvent) {
        var (event, bytes) = (event, 0)
        if case .changes(let changes) = event {
            bytes = changes.byteCount
            if bytes > Feed.byteLimit { (event, bytes) = (.unknown(Set(changes.entities.map(\.entity))), 0) }
        }
        position += 1
        events.append((event, bytes))
        byteCount += bytes
        while events.count > Feed.limit || byteCount > Feed.byteLimit { byteCount -= events.removeFirst().byteCount }
    }

    /// Adds an event that undoes saves.
    package mutating func append(takeBack changes: ChangeSet, ofOrigins origins: Set<Int>) {
        let isLarge = changes.rowCount > Feed.rowLimit
        append(isLarge ? .unknown(Set(changes.entities.map(\.entity))) : .changes(changes))
        for origin in origins { takeBacks[origin] = position }
    }

    /// Replaces origins by others.
    mutating func move(_ moved: [Int: Int]) {
        for (old, new) in moved {
            guard let position = takeBacks.removeValue(forKey: old) else { continue }
            takeBacks[new] = max(position, takeBacks[new] ?? 0)
        }
    }

    /// The events after a position.
    package func events(after start: Int64) -> [FeedEvent] {
        let count = Int(position - start)
        return count <= events.count ? events.suffix(count).map(\.event) : [.unknown(nil)]
    }

    /// Whether saves of an origin were taken back after a position.
    package func hasTakenBack(_ origin: Int, after start: Int64) -> Bool {
        takeBacks[origin].map { $0 > start } ?? false
    }
}
