public import CoreDataSource
public import Foundation
import Synchronization

/// A store in a folder that people can read: one JSON file for each object.
///
///     store.json              for which model and keys it was made
///     ContactEntity/12.json   the object with the key 12
///     journal.json            saves on their way into the files
///     lock                    held by the container that has it open
public final class JSONFolderStore: PersistentStore {
    public let startup: StoreStartup
    private let rows: InMemoryRows
    private let folder: JournaledFolder
    private let state: Mutex<State>

    private struct State {
        var metadata: StoreMetadata
        /// Why nothing can be written any more.
        var end: DataSourceError?
    }

    /// Opens the folder, or makes it.
    ///
    /// - Parameters:
    ///   - url: The folder: one that this store made, an empty one, or none. The folder around it must exist.
    ///   - options: What the container wants of the store.
    ///   - didStep: Called after each change to the disk, for tests.
    public init(
        _ url: URL, _ options: StoreOptions, didStep: @escaping @Sendable () -> Void = {}
    ) throws(DataSourceError) {
        guard !options.isReadOnly else {
            throw DataSourceError(.invalidRequest, "A folder of JSON files cannot be opened for reading only.")
        }
        folder = try JournaledFolder(url, options, didStep)
        do throws(DataSourceError) {
            let metadata: StoreMetadata
            (rows, metadata, startup) = try Self.open(folder, options)
            state = Mutex(State(metadata: metadata))
        } catch {
            folder.unlock()
            throw error
        }
    }

    private static func open(
        _ folder: JournaledFolder, _ options: StoreOptions
    ) throws(DataSourceError) -> (InMemoryRows, StoreMetadata, StoreStartup) {
        try folder.finish()
        let files = try folder.files()
        var found: StoreMetadata?
        if let contents = try folder.contents("store.json") {
            found = try decoded(StoreMetadata.self, contents, "store.json")
        } else if !files.isEmpty {
            throw DataSourceError(
                .foreignDatabase, "The folder contains files of other programs. Choose another folder.")
        }
        let plan = try options.plan(for: found)
        let rows = InMemoryRows(options.layout, firstFreeKey: plan.metadata.firstFreeKey)
        var changes: [String: String?] = [:]
        // The folders of links begin with an underscore.
        var rowsDropped = files.count { !$0.hasPrefix("_") }
        if plan.keepsRows {
            for file in files { try load(file, folder, rows) }
            rowsDropped = rows.objectCount(of: plan.droppedEntities)
            let dropped = try rows.changes(droppingEntities: plan.droppedEntities)
            changes = try Self.changes([dropped], options.layout)
            _ = try rows.commit([dropped])
        } else {
            for file in files { changes[file] = .some(nil) }
        }
        if plan.metadata != found {
            changes["store.json"] = try encoded(plan.metadata)
            try folder.change(changes)
        }
        return (rows, plan.metadata, plan.startup(rowsDropped: rowsDropped))
    }

    private static func load(
        _ file: String, _ folder: JournaledFolder, _ rows: InMemoryRows
    ) throws(DataSourceError) {
        let parts = file.dropLast(".json".count).split(separator: "/")
        guard parts.count == 2, let key = Int64(parts[1]),
            let layout = rows.layout.entities.first(where: { $0.name == parts[0] }),
            let contents = try folder.contents(file)
        else { throw DataSourceError(damagedFile: file, "It is not the file of an object.") }
        let row = try layout.row(fields: decoded([String: JSONField].self, contents, file), file)
        try rows.load([StoredRow(key: key, row: row)], entity: layout.index)
    }

    public var firstFreeKey: Int64 { rows.firstFreeKey }

    public func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        try rows.read(isolation, body)
    }

    public func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
        try rows.commit(group) { (accepted, firstFreeKey) throws(DataSourceError) in
            try self.write(Self.changes(accepted, self.rows.layout), firstFreeKey)
        }
    }

    public func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        // What a save has left to be put in place goes too.
        try folder.finish()
        var changes: [String: String?] = [:]
        for file in try folder.files() { changes[file] = .some(nil) }
        try write(changes, firstFreeKey)
        return StoreStartup(reason: .requested, rowsDropped: try rows.removeAll(didEmpty: didEmpty))
    }

    public func close() {
        state.withLock { state in
            if state.end?.code != .storeClosed { folder.unlock() }
            state.end = DataSourceError(.storeClosed, "The store was closed. Open it again before using it.")
        }
        rows.close()
    }

    /// Changes files, and says from where on keys are free.
    private func write(_ changes: [String: String?], _ firstFreeKey: Int64) throws(DataSourceError) {
        try state.withLock { (state) throws(DataSourceError) in
            if let end = state.end { throw end }
            var changes = changes
            var metadata = state.metadata
            metadata.firstFreeKey = firstFreeKey
            if metadata != state.metadata { changes["store.json"] = try encoded(metadata) }
            do throws(DataSourceError) { try folder.change(changes) } catch {
                if error.code == .outcomeUnknown { state.end = error }
                throw error
            }
            state.metadata = metadata
        }
    }

    /// The files that change sets write, and those that they remove.
    private static func changes(
        _ sets: [ChangeSet], _ layout: ModelLayout
    ) throws(DataSourceError) -> [String: String?] {
        var files: [String: String?] = [:]
        for changes in sets.lazy.flatMap(\.entities) {
            let layout = layout.entities[changes.entity]
            for row in changes.deleted { files["\(layout.name)/\(row.key).json"] = .some(nil) }
            for row in changes.updated {
                files["\(layout.name)/\(row.key).json"] = try encoded(layout.fields(of: row.row))
            }
            for row in changes.inserted {
                files["\(layout.name)/\(row.key).json"] = try encoded(layout.fields(of: row.row))
            }
        }
        return files
    }
}
