internal import RowStore

/// The table with what the store knows of its scopes. It is made with the first scope.
enum ScopeTable {
    /// Whether the file has the table.
    enum Presence {
        case missing, present
        /// The table may have been made by another member, or in a transaction that was rolled back.
        case unknown
    }

    static let name = "_scopes"
    static let quoted = name.quoted

    static let createSQL = """
        CREATE TABLE IF NOT EXISTS "_scopes" ("name" TEXT PRIMARY KEY, "entity" TEXT NOT NULL, "predicate" TEXT NOT NULL, \
        "requested" REAL, "tag" TEXT, "cursor" TEXT, "complete" INTEGER NOT NULL, "failures" INTEGER NOT NULL, \
        "failed" REAL, "failure" TEXT, "retry" REAL, "loads" INTEGER NOT NULL, "changes" INTEGER NOT NULL)
        """

    private static let columns = StoredScope.columns.map(\.quoted).joined(separator: ", ")
    fileprivate static let insertSQL = """
        INSERT OR REPLACE INTO "_scopes" (\(columns)) VALUES (\((1...StoredScope.columns.count).map { "?\($0)" }
            .joined(separator: ", ")))
        """
    fileprivate static let selectSQL = "SELECT \(columns) FROM \"_scopes\" WHERE \"name\" = ?1"
    fileprivate static let trimSQL = """
        DELETE FROM "_scopes" WHERE "name" IN \
        (SELECT "name" FROM "_scopes" ORDER BY "requested" DESC LIMIT -1 OFFSET \(StoredScope.limit))
        """
    fileprivate static let dropTagsSQL = """
        UPDATE "_scopes" SET "tag" = NULL, "cursor" = NULL, "changes" = "changes" + 1 \
        WHERE ("tag" IS NOT NULL OR "cursor" IS NOT NULL)
        """

    /// Checks that no table of the model has the same name as the table of scopes.
    static func check(_ schema: StoreSchema) throws(DataSourceError) {
        guard let taken = schema.namedSQL.first(where: { $0.name.lowercased() == name }) else { return }
        throw DataSourceError(
            .unreadableModel,
            "The model has an entity named \(taken.name), but the store needs a table with that name to keep scopes. Rename the entity.",
            entityName: taken.name)
    }
}

extension Connection {
    /// Records that a transaction was rolled back, which may have made the table of scopes.
    func forgetNewScopeTable() { if scopeTable == .present { scopeTable = .unknown } }

    /// Records that another connection may have made the table of scopes.
    func expectScopeTable() { if scopeTable == .missing { scopeTable = .unknown } }

    fileprivate func hasScopeTable() throws(DataSourceError) -> Bool {
        if scopeTable == .unknown {
            let found = try values("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '\(ScopeTable.name)'")
            scopeTable = found.isEmpty ? .missing : .present
        }
        return scopeTable == .present
    }

    fileprivate func scope(named name: String) throws(DataSourceError) -> StoredScope? {
        try values(ScopeTable.selectSQL, [.text(name)]).first.flatMap(StoredScope.init(values:))
    }
}

extension Writer {
    /// Drops the tags that the save makes wrong, and writes the save's changes of scopes.
    func writeScopes(of set: ChangeSet) throws(DataSourceError) {
        if !set.scopes.isEmpty {
            try ScopeTable.check(schema)
            try connection.run(ScopeTable.createSQL)
            connection.scopeTable = .present
        }
        if set.entities.contains(where: { !$0.deleted.isEmpty }), try connection.hasScopeTable() {
            try dropTags(of: set.entitiesWithDeletions(schema.layout), except: set.scopes.map(\.name))
        }
        for change in set.scopes {
            let stored = try connection.scope(named: change.name)
            guard let scope = change.result(after: stored) else { continue }
            _ = try connection.values(ScopeTable.insertSQL, scope.values)
            if stored == nil { try connection.run(ScopeTable.trimSQL) }
            statementsRun += 1
            rowsWritten += 1
        }
    }

    /// Drops the entity tags and cursors of scopes.
    ///
    /// - Parameters:
    ///   - entities: The names of the scopes' entities; nil for all scopes.
    ///   - kept: The names of scopes whose tags stay.
    func dropTags(of entities: Set<String>?, except kept: [String] = []) throws(DataSourceError) {
        guard try connection.hasScopeTable() else { return }
        guard let entities else {
            try connection.run(ScopeTable.dropTagsSQL)
            return
        }
        for entity in entities.sorted() {
            let names = kept.indices.map { "?\($0 + 2)" }.joined(separator: ", ")
            _ = try connection.values(
                ScopeTable.dropTagsSQL + " AND \"entity\" = ?1 AND \"name\" NOT IN (\(names))",
                [.text(entity)] + kept.map { .text($0) })
        }
    }
}

extension Reader: ScopeReader {
    func scope(named name: String) throws(DataSourceError) -> StoredScope? {
        connection.expectScopeTable()
        guard try connection.hasScopeTable() else { return nil }
        counters.count(statements: 2)
        return try connection.scope(named: name)
    }
}

extension SQLiteStore: ScopeStore {}
