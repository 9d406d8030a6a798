package import Foundation
package import ManagedModel

/// What somebody who only looks sees of a store. All of it is of one state.
package struct StoreInspection: Sendable {
    package let metadata: StoreMetadata
    /// How many objects there are of each concrete entity, in the order of their names; nil if no model says which they are.
    package let counts: [(entity: String, count: Int)]?
    /// Nil for a store that nobody has shared: its saves are noted nowhere.
    package let feed: Feed?

    package init(metadata: StoreMetadata, counts: [(entity: String, count: Int)]?, feed: Feed?) {
        self.metadata = metadata
        self.counts = counts
        self.feed = feed
    }

    /// What those who share a store tell each other.
    package struct Feed: Sendable {
        /// The position of the newest save.
        package let position: Int64
        /// The lowest position that is still noted.
        package let lowest: Int64
        /// Who has the store open, and who had it, as far as the store remembers.
        package var members: [(member: StoreMember, isAlive: Bool)]
        package let desk: LeaseDesk
        /// The time by the clock of the leases, in milliseconds.
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

/// A save, as the store has noted it for those who follow.
package struct NotedSave: Sendable {
    package enum Content: Sendable {
        /// As ``ChangeEncoding`` wrote it.
        case words(ContiguousArray<UInt64>)
        /// Rows of those entities have changed, and nobody noted how.
        case unknown([String])
    }

    package let position: Int64
    /// The number of the member who made it; 0 for another program.
    package let member: Int64
    package let time: Date
    package let content: Content

    /// - Parameters:
    ///   - unknown: The names of entities, each on a line; nil if the changes were noted.
    ///   - changes: The bytes of the words.
    package init(position: Int64, member: Int64, time: Date, unknown: String?, changes: UnsafeRawBufferPointer) {
        self.position = position
        self.member = member
        self.time = time
        if let unknown {
            content = .unknown(unknown.split(separator: "\n").map(String.init))
            return
        }
        // The bytes are anywhere; words have to be at addresses of words.
        let count = changes.count / 8
        content = .words(
            ContiguousArray(unsafeUninitializedCapacity: count) { buffer, initialized in
                UnsafeMutableRawBufferPointer(buffer).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: changes[..<(count * 8)]))
                initialized = count
            })
    }
}

/// Saves that were made since an inspection.
package struct NotedSaves: Sendable {
    /// The store's own number; it is another one after a reset.
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

/// Looks at a store that others may have open, and changes nothing.
package protocol StoreInspector {
    /// How often it is worth while to look for new saves.
    var interval: Duration { get }

    /// - Parameter tail: How many of the newest saves, at most.
    func inspection(tail: Int) throws(DataSourceError) -> StoreInspection

    /// The first few saves after a position. Nil if the store notes none.
    func saves(after position: Int64) throws(DataSourceError) -> NotedSaves?
}

/// Who has a store open.
package struct StoreOccupants: Sendable {
    /// Whether anybody has.
    package let isOpen: Bool
    /// Those who share it. Who has a store alone is not known by name.
    package let members: [StoreMember]

    package init(isOpen: Bool, members: [StoreMember]) {
        self.isOpen = isOpen
        self.members = members
    }
}

extension StoreMetadata {
    /// The model that the store was made for: its own copy of it, or the one among others that has the store's hash.
    package func model(among others: [ManagedObjectModel] = []) -> ManagedObjectModel? {
        let own = modelText.flatMap { ManagedObjectModel(storedText: $0) }
        return ([own].compactMap(\.self) + others).first { $0.hash.description == identity.modelHash }
    }
}

extension FoundStore {
    /// - Throws: `notADatabase` if there is nothing yet, `foreignDatabase`, or that it cannot be read.
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
