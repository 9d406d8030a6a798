/// Makes events for the container of the saves that the store has noted.
package struct FeedDecoder {
    private let layout: ModelLayout
    private let encoding: ChangeEncoding
    private var members: [Int64: StoreMember] = [:]

    package init(_ layout: ModelLayout) {
        self.layout = layout
        encoding = ChangeEncoding(layout)
    }

    /// - Parameters:
    ///   - maker: The number of the member that made the save.
    ///   - unknown: The names of entities, if the rows were not noted: ``ChangeEncoding/names(_:)``.
    ///   - changes: The bytes of the rows.
    ///   - all: Reads the members that the store knows.
    package mutating func event(
        by maker: Int64, unknown: String?, changes: UnsafeRawBufferPointer,
        _ all: () throws(DataSourceError) -> [StoreMember]
    ) throws(DataSourceError) -> FeedEvent {
        if let unknown {
            return .unknown(Set(unknown.split(separator: "\n").compactMap { layout.entity(named: String($0))?.index }))
        }
        guard var decoded = ChangeEncoding.words(changes).withUnsafeBufferPointer(encoding.changes) else {
            return .unknown(nil)
        }
        if members[maker] == nil {
            members = Dictionary(try all().map { ($0.number, $0) }) { _, last in last }
        }
        decoded.maker = members[maker] ?? StoreMember(ended: maker)
        return .changes(decoded)
    }
}

extension SharedNews {
    /// Adds the next save; nil for one of the container itself. Positions have no gaps: if one is missing, a program has
    /// deleted rows.
    package mutating func add(_ event: FeedEvent?, at next: Int64) {
        if next != position &+ 1 { events.append(.unknown(nil)) }
        position = next
        if let event { events.append(event) }
    }

    /// Passes by saves that the store no longer has.
    package mutating func skip(to position: Int64) {
        self.position = position
        events = [.unknown(nil)]
    }
}

/// Decides when old saves are forgotten. Members that have not read them reload.
package struct FeedRetention {
    /// The most saves and bytes that are kept for members that are behind, beside what was noted since the last check.
    package static let saveLimit = 4096
    package static let byteLimit = 16 << 20
    /// How long they are kept, in seconds.
    package static let ageLimit: Int64 = 600

    // A member checks with its first save, because it may make only few.
    private var saves = FeedRetention.saveLimit / 4
    private var bytes = 0

    package init() {}

    package mutating func note(saves: Int = 0, bytes: Int) {
        self.saves += saves
        self.bytes += bytes
    }

    /// - Returns: Whether so much was noted since the last check that it is time for one.
    package mutating func takeTurn() -> Bool {
        guard saves >= FeedRetention.saveLimit / 4 || bytes >= FeedRetention.byteLimit / 4 else { return false }
        (saves, bytes) = (0, 0)
        return true
    }
}
