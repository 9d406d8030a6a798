package import Foundation
package import ManagedModel
internal import ModelMigration

/// A store as seen by a program that does not open the store. All parts come from the same state of the store.
package struct StoreInspection: Sendable {
    package let metadata: StoreMetadata
    /// The number of objects of each concrete entity; nil if the model is unknown.
    package let counts: [(entity: String, count: Int)]?
    /// What the processes of a shared store record in the store; nil for a store that was never shared.
    package let feed: Feed?
    /// The kept history; nil if the store keeps none.
    package let history: InspectedHistory?

    package init(
        metadata: StoreMetadata, counts: [(entity: String, count: Int)]?, feed: Feed?, history: InspectedHistory? = nil
    ) {
        self.history = history
        self.metadata = metadata
        self.counts = counts
        self.feed = feed
    }

    /// The saves, members and leases that the processes of a shared store record in the store.
    package struct Feed: Sendable {
        /// The position of the newest save.
        package let position: Int64
        /// The lowest position of a save that is still in the feed.
        package let lowest: Int64
        /// The members that are listed in the store. Some of them may have closed the store.
        package let members: [(member: StoreMember, isAlive: Bool)]
        package let arbiter: LeaseArbiter
        /// The current time in milliseconds, by the clock that leases use.
        package let now: Int64
        /// The newest saves, in the order of their positions.
        package let saves: [RecordedSave]

        package init(
            position: Int64, lowest: Int64, members: [(member: StoreMember, isAlive: Bool)], arbiter: LeaseArbiter,
            now: Int64, saves: [RecordedSave]
        ) {
            self.position = position
            self.lowest = lowest
            self.members = members
            self.arbiter = arbiter
            self.now = now
            self.saves = saves
        }
    }
}

/// A save in the feed of a shared store.
package struct RecordedSave: Sendable {
    package enum Content: Sendable {
        /// The changes, as encoded by ``ChangeEncoding``.
        case words(ContiguousArray<UInt64>)
        /// The names of the entities whose rows have changed. The changes themselves are not in the feed.
        case unknown([String])
    }

    package let position: Int64
    /// The number of the member that made the save; 0 if a program that is not a member made it.
    package let member: Int64
    package let time: Date
    package let content: Content

    /// Decodes a row of the feed.
    ///
    /// - Parameter row: Five values: the save's position; its member's number; its time, in seconds since 1970; the names of
    ///   the changed entities, one per line, if the changes are not in the feed; and the bytes of the changes, as encoded by
    ///   ``ChangeEncoding``.
    /// - Returns: Nil if the row has contents that no member can have written.
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

/// The first few saves after a position in the feed.
package struct NotedSaves: Sendable {
    /// The ID of the store. A reset makes a new ID.
    package let storeID: String
    /// The position of the newest save.
    package let position: Int64
    /// The saves, in the order of their positions.
    package let saves: [RecordedSave]
    package let members: [StoreMember]

    package init(storeID: String, position: Int64, saves: [RecordedSave], members: [StoreMember]) {
        self.storeID = storeID
        self.position = position
        self.saves = saves
        self.members = members
    }
}

/// Inspects a store that other programs may have open. Makes no changes.
package protocol StoreInspector {
    /// The recommended time between two checks for new saves.
    var interval: Duration { get }
    /// The models to try if the store has no copy of its model, or a damaged one.
    var models: [ManagedObjectModel] { get }

    /// Runs the body with a single state of the store. If the store changes meanwhile, the body may be called again.
    func withSnapshot<R>(
        _ body: (any InspectedState) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R
}

/// A single state of a store.
package protocol InspectedState {
    func metadata() throws(DataSourceError) -> StoreMetadata

    /// Returns the number of objects of each concrete entity.
    func counts(_ model: ManagedObjectModel, format: Int64) throws(DataSourceError) -> [(entity: String, count: Int)]

    /// Returns the position of the newest save, and the lowest position that is still in the feed. Returns nil for a store that
    /// was never shared.
    func positions() throws(DataSourceError) -> (newest: Int64, lowest: Int64)?

    /// Returns the leases. Call this method, ``members()`` and ``saves(after:limit:)`` only for a store that was shared.
    func leases() throws(DataSourceError) -> LeaseSnapshot

    func members() throws(DataSourceError) -> [StoreMember]

    /// Returns the saves after a position, in the order of their positions.
    func saves(after position: Int64, limit: Int) throws(DataSourceError) -> [RecordedSave]

    /// The kept history, with its newest records; nil if the store keeps none.
    ///
    /// - Parameter model: The model of the store, for decoding the values; nil if the model is not known.
    func history(_ model: ManagedObjectModel?, tail: Int) throws(DataSourceError) -> InspectedHistory?
}

/// The maximum number of saves to read in one call. It is small because the changes of a single save can have 4 MB.
private let pageSize = 16

extension StoreInspector {
    package func metadata() throws(DataSourceError) -> StoreMetadata {
        try withSnapshot { state throws(DataSourceError) in try state.metadata() }
    }

    /// Inspects the store.
    ///
    /// - Parameter tail: The maximum number of saves to return. The newest saves are returned.
    package func inspection(tail: Int) throws(DataSourceError) -> StoreInspection {
        try withSnapshot { state throws(DataSourceError) in
            let metadata = try state.metadata()
            let counts = try metadata.model(among: models).map { model throws(DataSourceError) in
                try state.counts(model, format: metadata.format)
            }
            let feed = try state.positions().map { newest, lowest throws(DataSourceError) in
                let leases = try state.leases()
                return StoreInspection.Feed(
                    position: newest, lowest: lowest, members: leases.members.map { ($0, leases.isAlive($0.number)) },
                    arbiter: leases.arbiter, now: leases.now,
                    saves: try state.saves(after: newest - Int64(tail), limit: tail)
                )
            }
            let history = try state.history(metadata.model(among: models), tail: tail)
            return StoreInspection(metadata: metadata, counts: counts, feed: feed, history: history)
        }
    }

    /// Returns the first few saves after a position; nil if the store has no feed.
    package func saves(after position: Int64) throws(DataSourceError) -> NotedSaves? {
        try withSnapshot { state throws(DataSourceError) in
            guard let newest = try state.positions()?.newest else { return nil }
            return NotedSaves(
                storeID: try state.metadata().storeID, position: newest,
                saves: try state.saves(after: position, limit: pageSize), members: try state.members())
        }
    }
}

/// The processes that have a store open.
package struct StoreOccupants: Sendable {
    /// Whether any process has the store open.
    package let isOpen: Bool
    /// The members that share the store. A process that does not share the store is not a member.
    package let members: [StoreMember]

    package init(isOpen: Bool, members: [StoreMember]) {
        self.isOpen = isOpen
        self.members = members
    }
}

extension StoreMetadata {
    /// Returns the model that the store was made for. First tries the copy in the store, then the other models. Returns nil
    /// if none of them has the hash that the store has recorded for its model.
    package func model(among others: [ManagedObjectModel] = []) -> ManagedObjectModel? {
        let own = modelText.flatMap { ManagedObjectModel(storedText: $0) }
        return ([own].compactMap(\.self) + others).first { $0.hash.description == identity.modelHash }
    }
}

extension FoundStore {
    /// Returns the store's metadata.
    ///
    /// - Throws: `storeNotFound` if there is no store yet; `foreignDatabase` if another program made the database; or
    ///   the error from reading the metadata.
    package func metadata() throws(DataSourceError) -> StoreMetadata {
        switch self {
        case .metadata(let rows): return try StoreMetadata(rows: rows)
        case .nothing:
            throw DataSourceError(
                .storeNotFound, "The database does not contain a store yet. Open the store in the app first.")
        case .foreignTables:
            throw DataSourceError(
                .foreignDatabase, "The file is a database that another program made. Choose the file of a store.")
        }
    }
}
