package import Foundation
package import ManagedModel
internal import MigrationSQL
package import RowStore

/// Inspects a store that containers may have open. Makes no changes.
package struct SQLiteInspector: StoreInspector {
    package let interval = Duration.milliseconds(100)
    package let models: [ManagedObjectModel]
    private let files: StoreFiles

    package init(_ url: URL, models: [ManagedObjectModel]) throws(DataSourceError) {
        files = try StoreFiles(url, .system)
        self.models = models
    }

    package func withSnapshot<R>(
        _ body: (any InspectedState) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        let found = try files.withSnapshot { (connection) throws(DataSourceError) in
            try body(InspectedFile(probe: StoreProbe(connection), files: files))
        }
        guard let found else {
            throw DataSourceError(.storeNotFound, "There is no store at \(files.main). Check the path.")
        }
        return found
    }
}

private struct InspectedFile: InspectedState {
    let probe: StoreProbe
    let files: StoreFiles

    func metadata() throws(DataSourceError) -> StoreMetadata { try probe.found().metadata() }

    func counts(_ model: ManagedObjectModel, format: Int64) throws(DataSourceError) -> [(entity: String, count: Int)] {
        try StoreSchema(model, format: format).storedModel.counts(probe.connection)
    }

    func positions() throws(DataSourceError) -> (newest: Int64, lowest: Int64)? {
        guard probe.isShared else { return nil }
        let feed = try SharedTables.feed(probe.connection)
        return (feed.position, feed.lowest)
    }

    func leases() throws(DataSourceError) -> LeaseSnapshot {
        let alive = Set(try MemberNotifier.alive(members(), files).map(\.number))
        let version = try SharedTables.feed(probe.connection).leases
        return try LeaseSnapshot(probe.connection, version: version) { alive.contains($0) }
    }

    func members() throws(DataSourceError) -> [StoreMember] { try SharedTables.members(probe.connection) }

    func history(_ model: ManagedObjectModel?, tail: Int) throws(DataSourceError) -> InspectedHistory? {
        guard try metadata().keepsHistory else { return nil }
        // Without a model, the rows are not decoded.
        let layout = model.map { ModelLayout($0) }
        let empty = ManagedObjectModel(name: "", entities: [])
        return try HistoryReading(probe.connection, HistoryEncoding(layout ?? ModelLayout(empty)))
            .inspection(layout, tail: tail)
    }

    func saves(after position: Int64, limit: Int) throws(DataSourceError) -> [RecordedSave] {
        let sql = """
            SELECT "position", "member", "time", "unknown", "changes" FROM "_changes" WHERE "position" > ?1 \
            ORDER BY "position" LIMIT ?2
            """
        return try probe.connection.values(sql, [.integer(position), .integer(Int64(limit))])
            .compactMap { RecordedSave($0) }
    }
}

extension StoreProbe {
    /// Whether the store has the tables for sharing.
    var isShared: Bool {
        let names = Set(contents.map(\.name))
        return SharedTables.names.allSatisfy(names.contains)
    }
}
