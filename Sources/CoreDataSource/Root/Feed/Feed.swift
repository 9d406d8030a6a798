package import RowStore

/// What happened to rows that the context which owns them did not do itself, for all contexts to take in before they go on.
///
/// It keeps a bounded number of events. For older ones the answer is that nothing is known.
package struct Feed: Sendable {
    /// How many events there have been.
    package private(set) var position: Int64 = 0
    /// The newest events.
    private var events: [FeedEvent] = []
    /// The position after the last event that took saves back, by their origin.
    private var takeBacks: [Int: Int64] = [:]

    /// The most events that are kept.
    package static let limit = 64
    /// The most rows of one event; of more it only says which entities they are of.
    package static let rowLimit = 4096

    package init() {}

    package mutating func append(_ event: FeedEvent) {
        position += 1
        if events.count == Feed.limit { events.removeFirst() }
        events.append(event)
    }

    /// Adds what undoes saves.
    package mutating func append(takeBack changes: ChangeSet, ofOrigins origins: Set<Int>) {
        let isLarge = changes.rowCount > Feed.rowLimit
        append(isLarge ? .unknown(Set(changes.entities.map(\.entity))) : .changes(changes))
        for origin in origins { takeBacks[origin] = position }
    }

    /// Lets origins be others.
    mutating func move(_ moved: [Int: Int]) {
        for (old, new) in moved {
            guard let position = takeBacks.removeValue(forKey: old) else { continue }
            takeBacks[new] = max(position, takeBacks[new] ?? 0)
        }
    }

    /// The events after a position.
    package func events(after start: Int64) -> [FeedEvent] {
        let count = Int(position - start)
        return count <= events.count ? events.suffix(count) : [.unknown(nil)]
    }

    /// Whether saves of an origin were taken back after a position.
    package func hasTakenBack(_ origin: Int, after start: Int64) -> Bool {
        takeBacks[origin].map { $0 > start } ?? false
    }
}
