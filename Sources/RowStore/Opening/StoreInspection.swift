package import Foundation
package import ManagedModel
internal import ModelMigration

/// A view of a store from outside. All of it is of one state.
package struct StoreInspection: Sendable {
    package let metadata: StoreMetadata
    /// How many objects there are of each concrete entity, in the order of their names; nil if the model is unknown.
    package let counts: [(entity: String, count: Int)]?
    /// Nil for a store that was never shared: its saves are not noted.
    package let feed: Feed?

    package init(metadata: StoreMetadata, counts: [(entity: String, count: Int)]?, feed: Feed?) {
        self.metadata = metadata
        self.counts = counts
        self.feed = feed
    }

    /// The information that processes share about a store.
    package struct Feed: Sendable {
        /// The position of the newest save.
        package let position: Int64
        /// The lowest position that is still noted.
        package let lowest: Int64
        /// The members that have the store open or had it open, as far as the store remembers.
        package var members: [(member: StoreMember, isAlive: Bool)]
        package let desk: LeaseDesk
        /// The time of the leases' clock, in milliseconds.
        package let now: Int64
        /// The newest saves, the oldest of them first.
        package let saves: [NotedSave]

        package init(
            position: Int64, lowest: Int64, members: [(member: StoreMember, isAlive: Bool)], desk: LeaseDesk,
            now: Int64, saves: [NotedSave]
        ) {
            self.position = position
            self.lowest = lowest
            self.members = members
            self.desk = desk
            self.now = now
            self.saves = saves
        }
    }
}

/// A save, as the store has noted it for followers.
package struct NotedSave: Sendable {
    package enum Content: Sendable {
        /// As ``ChangeEncoding`` wrote it.
        case words(ContiguousArray<UInt64>)
        /// Rows of these entities have changed, without details.
        case unknown([String])
    }

    package let position: Int64
    /// The number of the member that made it; 0 for another program.
    package let member: Int64
    package let time: Date
    package let content: Content

    /// - Parameter row: The position, the number of the member, the time in seconds since 1970, the names of entities, one on
    ///   each line, if the changes were not noted, and the bytes of the words.
    /// - Returns: Nil if no member has written it.
    package init?(_ row: [RowValue]) {
        guard case .integer(let position) = row[0], case .integer(let member) = row[1] else { return nil }
        switch row[2] {
        case .integer(let seconds): time = Date(timeIntervalSince1970: TimeInterval(seconds))
        case .real(let seconds): time = Date(timeIntervalSince1970: seconds)
        case .null, .text, .blob: return nil
        }
        self.position = position
        self.member = member
        if case .text(let names) = row[3] {
            content = .unknown(names.split(separator: "\n").map(String.init))
        } else if case .blob(let bytes) = row[4] {
            content = .words(bytes.withUnsafeBytes(ChangeEncoding.words))
        } else {
            content = .words([])
        }
    }
}

/// Saves that were made since an inspection.
package struct NotedSaves: Sendable {
    /// The store's own number, which changes with a reset.
    package let storeID: String
    /// The position of the newest save.
    package let position: Int64
    /// The oldest first.
    package let saves: [NotedSave]
    package let members: [StoreMember]

    package init(storeID: String, position: Int64, saves: [NotedSave], members: [StoreMember]) {
        self.storeID = storeID
        self.position = position
        self.saves = saves
        self.members = members
    }
}

/// Inspects a store that others may have open, and changes nothing.
package protocol StoreInspector {
    /// How often it makes sense to look for new saves.
    var interval: Duration { get }

    func metadata() throws(DataSourceError) -> StoreMetadata

    /// - Parameter tail: How many of the newest saves, at most.
    func inspection(tail: Int) throws(DataSourceError) -> StoreInspection

    /// The first few saves after a position. Nil if the store notes none.
    func saves(after position: Int64) throws(DataSourceError) -> NotedSaves?
}

/// Who has a store open.
package struct StoreOccupants: Sendable {
    /// Whether any process has it open.
    package let isOpen: Bool
    /// The processes that share it. A process that has a store alone is not known by name.
    package let members: [StoreMember]

    package init(isOpen: Bool, members: [StoreMember]) {
        self.isOpen = isOpen
        self.members = members
    }
}

extension StoreMetadata {
    /// The model that the store was made for: its own copy of it, or one of the others that has the store's hash.
    package func model(among others: [ManagedObjectModel] = []) -> ManagedObjectModel? {
        let own = modelText.flatMap { ManagedObjectModel(storedText: $0) }
        return ([own].compactMap(\.self) + others).first { $0.hash.description == identity.modelHash }
    }
}

extension FoundStore {
    /// - Throws: `notADatabase` if the file is empty, `foreignDatabase`, or the error that it cannot be read.
    package func metadata() throws(DataSourceError) -> StoreMetadata {
        switch self {
        case .metadata(let rows): return try StoreMetadata(rows: rows)
        case .nothing:
            throw DataSourceError(.notADatabase, "No store was made there yet. Open it in the app first.")
        case .foreignTables:
            throw DataSourceError(.foreignDatabase, "The file is a database that another program made.")
        }
    }
}
