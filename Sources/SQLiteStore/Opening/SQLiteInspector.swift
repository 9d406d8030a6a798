package import Foundation
package import ManagedModel
internal import MigrationSQL
package import RowStore

/// Inspects a store that others may have open, and changes nothing.
package struct SQLiteInspector: StoreInspector {
    package let interval = Duration.milliseconds(100)
    private let files: StoreFiles
    private let models: [ManagedObjectModel]

    /// The most saves that are read at once: each may have 4 MB.
    private static let pageSize = 16

    /// - Parameter models: Models to try if the store has no copy of its own.
    package init(_ url: URL, models: [ManagedObjectModel]) throws(DataSourceError) {
        files = try StoreFiles(url, .system)
        self.models = models
    }

    package func metadata() throws(DataSourceError) -> StoreMetadata {
        let found = try files.look { (connection) throws(DataSourceError) in
            try StoreProbe(connection).found().metadata()
        }
        guard let found else { throw missing }
        return found
    }

    package func inspection(tail: Int) throws(DataSourceError) -> StoreInspection {
        let found = try files.look { (connection) throws(DataSourceError) in
            let probe = try StoreProbe(connection)
            let metadata = try probe.found().metadata()
            return StoreInspection(
                metadata: metadata, counts: try counts(metadata, probe), feed: try feed(probe, tail: tail))
        }
        guard let found else { throw missing }
        guard var feed = found.feed else { return found }
        let alive = Set(try Bell.alive(feed.members.map(\.member), files))
        feed.members = feed.members.map { ($0.member, alive.contains($0.member)) }
        return StoreInspection(metadata: found.metadata, counts: found.counts, feed: feed)
    }

    package func saves(after position: Int64) throws(DataSourceError) -> NotedSaves? {
        let found = try files.look { (connection) throws(DataSourceError) -> NotedSaves? in
            let probe = try StoreProbe(connection)
            guard probe.isShared else { return nil }
            return NotedSaves(
                storeID: try probe.found().metadata().storeID, position: try SharedTables.feed(connection).position,
                saves: try saves(connection, after: position, limit: SQLiteInspector.pageSize),
                members: try SharedTables.members(connection))
        }
        guard let found else { throw missing }
        return found
    }

    private var missing: DataSourceError { DataSourceError(.notAFile, "There is no store at \(files.main).") }

    private func counts(
        _ metadata: StoreMetadata, _ probe: StoreProbe
    ) throws(DataSourceError) -> [(entity: String, count: Int)]? {
        try metadata.model(among: models).map { model throws(DataSourceError) in
            try StoreSchema(model, format: metadata.format).storedModel.counts(probe.connection)
        }
    }

    private func feed(_ probe: StoreProbe, tail: Int) throws(DataSourceError) -> StoreInspection.Feed? {
        guard probe.isShared else { return nil }
        let connection = probe.connection
        let feed = try SharedTables.feed(connection)
        let facts = try LeaseFacts(connection, version: feed.leases)
        return StoreInspection.Feed(
            position: feed.position, lowest: feed.lowest,
            members: facts.members.map { ($0, false) },
            desk: facts.desk, now: facts.now,
            saves: try saves(connection, after: feed.position - Int64(tail), limit: tail))
    }

    private func saves(
        _ connection: Connection, after position: Int64, limit: Int
    ) throws(DataSourceError) -> [NotedSave] {
        let sql = """
            SELECT "position", "member", "time", "unknown", "changes" FROM "_changes" WHERE "position" > ?1 \
            ORDER BY "position" LIMIT ?2
            """
        return try connection.values(sql, [.integer(position), .integer(Int64(limit))]).compactMap { NotedSave($0) }
    }
}

extension StoreProbe {
    /// Whether the store has the tables by which processes share it.
    var isShared: Bool {
        let names = Set(contents.map(\.name))
        return SharedTables.names.allSatisfy(names.contains)
    }
}
