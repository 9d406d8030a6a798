public import CoreDataSourceStores
public import Foundation
import Synchronization

/// A store in a folder that people can read: one JSON file for each object.
///
///     store.json              the model and keys that the store was made for
///     scopes.json             how old the lists of a server are
///     history.json            the limits and the consumers of the history
///     history/7.record        the record of a save
///     ContactEntity/12.json   the object with the key 12
///     journal.json            saves that are not in the files yet
///     lock                    locked by the container that has the store open
public final class JSONFolderStore: ScopeStore, HistoryStore {
    public let startup: StoreStartup
    public let history: InMemoryHistory?
    private let rows: InMemoryRows
    private let folder: JournaledFolder
    private let state: Mutex<State>

    private struct State {
        var metadata: StoreMetadata
        var scopes: [StoredScope] = []
        var history: StoredHistory?
        /// The reason why no more saves are accepted; nil while they are.
        var end: DataSourceError?
    }

    /// Opens the folder, or makes it.
    ///
    /// - Parameters:
    ///   - url: The folder: a folder of this store, an empty folder, or none. Its parent folder must exist.
    ///   - options: The options of the container.
    ///   - didStep: Called after each change to the disk, for tests.
    public init(
        _ url: URL, _ options: StoreOptions, didStep: @escaping @Sendable () -> Void = {}
    ) throws(DataSourceError) {
        guard !options.isReadOnly else {
            throw DataSourceError(.invalidRequest, "A folder of JSON files cannot be opened for reading only.")
        }
        folder = try JournaledFolder(url, options, didStep)
        try folder.finish()
        let found = try folder.decoded(StoreMetadata.self, "store.json")
        let files = try folder.files()
        guard found != nil || files.isEmpty else {
            throw DataSourceError(
                .foreignDatabase, "The folder contains files of other programs. Choose another folder.")
        }
        let storedHistory = try folder.decoded(StoredHistory.self, "history.json")
        let plan = try options.plan(for: found, history: storedHistory)
        let records = try JSONFolderStore.records(folder)
        let (history, historyChange) = try plan.openHistory(records)
        rows = InMemoryRows(options.layout, firstFreeKey: plan.metadata.firstFreeKey)
        state = Mutex(State(metadata: plan.metadata))
        // The folders of links begin with an underscore.
        var rowsDropped = files.count { !$0.hasPrefix("_") }
        var changes = Dictionary(uniqueKeysWithValues: files.map { ($0, String?.none) })
        if plan.keepsRows {
            for file in files { try JSONFolderStore.load(file, folder, rows) }
            rowsDropped = rows.objectCount(of: plan.droppedEntities)
            let dropped = try rows.changes(droppingEntities: plan.droppedEntities)
            changes = try JSONFolderStore.files(of: [dropped], options.layout)
            _ = try rows.commit([dropped])
        }
        let scopes = try folder.decoded([StoredScope].self, "scopes.json") ?? []
        if plan.keepsRows, plan.droppedEntities.isEmpty {
            try rows.load(scopes)
            state.withLock { $0.scopes = scopes }
        } else if !scopes.isEmpty {
            changes["scopes.json"] = .some(nil)
        }
        startup = plan.startup(rowsDropped: rowsDropped)
        self.history = history
        state.withLock { $0.history = storedHistory }
        guard plan.metadata != found || historyChange != nil else { return }
        changes["store.json"] = try encoded(plan.metadata)
        if let historyChange {
            changes.merge(try JSONFolderStore.files(of: historyChange)) { $1 }
            state.withLock { $0.history = historyChange.stored }
        }
        try folder.change(changes)
    }

    private static func records(_ folder: JournaledFolder) throws(DataSourceError) -> [CodableRecord] {
        var records: [CodableRecord] = []
        for file in try folder.files(".record") {
            if let record = try folder.decoded(CodableRecord.self, file) { records.append(record) }
        }
        return records
    }

    private static func load(
        _ file: String, _ folder: JournaledFolder, _ rows: InMemoryRows
    ) throws(DataSourceError) {
        let parts = file.dropLast(".json".count).split(separator: "/")
        guard parts.count == 2, let key = Int64(parts[1]),
            let layout = rows.layout.entities.first(where: { $0.name == parts[0] }),
            let coded = try folder.decoded(CodableRow.self, file)
        else { throw DataSourceError(damagedFile: file, "It is not the file of an object.") }
        try rows.load([StoredRow(key: key, row: layout.row(coded))], entity: layout.index)
    }

    public var firstFreeKey: Int64 { rows.firstFreeKey }

    public func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        try rows.read(isolation, body)
    }

    public func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        try rows.commit(group) { (accepted, firstFreeKey) throws(DataSourceError) in
            let files = try Self.files(of: accepted, self.rows.layout)
            let scopes = try self.rows.scopes(after: accepted)
            guard let history = self.history else {
                return try self.write(files, firstFreeKey, scopes)
            }
            try history.append(accepted) { (change) throws(DataSourceError) in
                try self.write(files, firstFreeKey, scopes, change)
            }
        }
    }

    public func writeHistory(_ change: StoredHistoryChange) throws(DataSourceError) {
        try write([:], nil, nil, change)
    }

    public func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        // The last save may still be in the journal. It must not come back after the reset.
        try folder.finish()
        let files = Dictionary(uniqueKeysWithValues: try folder.files().map { ($0, String?.none) })
        var rowsDropped = 0
        if let history {
            try history.end { (change) throws(DataSourceError) in
                try write(files, firstFreeKey, [], change)
                rowsDropped = try rows.removeAll(didEmpty: didEmpty)
            }
        } else {
            try write(files, firstFreeKey, [])
            rowsDropped = try rows.removeAll(didEmpty: didEmpty)
        }
        return StoreStartup(reason: .requested, rowsDropped: rowsDropped)
    }

    public func close() {
        state.withLock {
            $0.end = DataSourceError(.storeClosed, "The store was closed. Open the store again.")
        }
        rows.close()
        folder.unlock()
    }

    /// Changes files, and stores the bound for new keys, the scopes and the history.
    ///
    /// - Parameters:
    ///   - firstFreeKey: Nil to leave the bound as it is.
    ///   - scopes: Nil to leave the scopes as they are.
    private func write(
        _ changes: [String: String?], _ firstFreeKey: Int64?, _ scopes: [StoredScope]?,
        _ history: StoredHistoryChange? = nil
    ) throws(DataSourceError) {
        try state.withLock { (state) throws(DataSourceError) in
            if let end = state.end { throw end }
            var (changes, metadata) = (changes, state.metadata)
            if let firstFreeKey { metadata.firstFreeKey = firstFreeKey }
            let scopes = scopes ?? state.scopes
            if metadata != state.metadata { changes["store.json"] = try encoded(metadata) }
            if scopes != state.scopes { changes["scopes.json"] = try encoded(scopes) }
            if let history {
                var files = try Self.files(of: history)
                if history.stored == state.history { files["history.json"] = nil }
                changes.merge(files) { $1 }
            }
            do throws(DataSourceError) { try folder.change(changes) } catch {
                if error.code == .outcomeUnknown { state.end = error }
                throw error
            }
            (state.metadata, state.scopes) = (metadata, scopes)
            if let history { state.history = history.stored }
        }
    }

    /// The new contents of the files of a history; nil for a removed record.
    private static func files(of change: StoredHistoryChange) throws(DataSourceError) -> [String: String?] {
        var files: [String: String?] = [:]
        if let removed = change.removed {
            for number in removed { files["history/\(number).record"] = .some(nil) }
        }
        for record in change.added { files["history/\(record.number).record"] = try encoded(record) }
        files["history.json"] = .some(nil)
        if let stored = change.stored { files["history.json"] = try encoded(stored) }
        return files
    }

    /// The new contents of the files of changed objects; nil for a deleted object.
    private static func files(
        of sets: [ChangeSet], _ layout: ModelLayout
    ) throws(DataSourceError) -> [String: String?] {
        var files: [String: String?] = [:]
        for changes in sets.lazy.flatMap(\.entities) {
            let layout = layout.entities[changes.entity]
            for row in changes.deleted { files["\(layout.name)/\(row.key).json"] = .some(nil) }
            for (key, row) in changes.updated.map({ ($0.key, $0.row) }) + changes.inserted.map({ ($0.key, $0.row) }) {
                files["\(layout.name)/\(key).json"] = try encoded(CodableRow(row, layout))
            }
        }
        return files
    }
}
