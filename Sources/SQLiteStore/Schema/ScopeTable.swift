internal import RowStore

/// The table of scopes. The table is made when the first scope is written.
enum ScopeTable {
    /// Whether the file has the table.
    enum Presence {
        case missing, present
        /// The table may have been made by another member, or in a transaction that was rolled back.
        case unknown
    }

    static let name = "_scopes"
    static let quoted = name.quoted

    /// The position is a column of its own, because VACUUM may change other row numbers.
    static let createSQL = """
        CREATE TABLE IF NOT EXISTS "_scopes" ("position" INTEGER PRIMARY KEY, "name" TEXT NOT NULL UNIQUE, \
        "entity" TEXT NOT NULL, "predicate" TEXT NOT NULL, "requested" REAL, "tag" TEXT, "cursor" TEXT, \
        "complete" INTEGER NOT NULL, "failures" INTEGER NOT NULL, "failed" REAL, "failure" TEXT, \
        "retry" REAL, "answer" INTEGER NOT NULL, "version" INTEGER NOT NULL)
        """

    private static let columns = StoredScope.columns.map(\.quoted).joined(separator: ", ")
    private static let parameters = (1...StoredScope.columns.count).map { "?\($0)" }.joined(separator: ", ")
    /// Inserts or replaces a scope after an answer. The row gets the next position.
    static let insertSQL = "INSERT OR REPLACE INTO \"_scopes\" (\(columns)) VALUES (\(parameters))"
    /// Inserts or replaces a scope after a failure. The row keeps its position, because the stored answer stays the same.
    static let failureSQL = """
        INSERT OR REPLACE INTO "_scopes" ("rowid", \(columns)) \
        VALUES ((SELECT "rowid" FROM "_scopes" WHERE "name" = ?1), \(parameters))
        """
    /// Writes a row at the next position that belongs to no scope. Run this statement before a deletion that may include the last
    /// row. SQLite gives a new row the position after the last row, so a later answer would otherwise get the position of a deleted
    /// row. The name of the written row is the character U+0000, which no scope's name contains.
    static let positionSQL = """
        INSERT OR REPLACE INTO "_scopes" ("name", "entity", "predicate", "complete", "failures", "answer", "version") \
        VALUES (char(0), '', '', 0, 0, 0, 0)
        """
    static let selectSQL = "SELECT \(columns) FROM \"_scopes\" WHERE \"name\" = ?1"
    /// The position of the last row.
    static let lastPositionSQL = "SELECT max(\"rowid\") FROM \"_scopes\""
    /// The parameters are those of ``RequestReader/scopes(after:requestedSince:listsSince:)``. If the name of a scope is the name
    /// of the entity, a space, and the format of the predicate, the scope is that of a single object. All other scopes are lists or
    /// pages of lists.
    static let laterRequestsSQL = """
        SELECT \(StoredScope.columnsWithoutTexts.joined(separator: ", ")) FROM "_scopes" WHERE "rowid" > ?1 \
        AND ("requested" >= ?2 OR ("requested" >= ?3 \
        AND "name" <> "entity" || ' ' || substr("predicate", length("entity") + 1 - length("name"))))
        """
    /// Deletes the scopes with the oldest requests if there are too many scopes. The parameter is the name of the scope that
    /// was just written. This scope is always kept, even if other scopes seem to be newer because a clock was changed. If a
    /// scope has never had an answer, it is sorted by its last failure, so that a new failure is kept.
    static let trimSQL = """
        DELETE FROM "_scopes" WHERE "name" IN (SELECT "name" FROM "_scopes" WHERE "name" <> ?1 \
        ORDER BY COALESCE("requested", "failed") DESC LIMIT -1 OFFSET \(StoredScope.limit - 1))
        """
    /// The largest number of scopes that one statement forgets. SQLite allows at least 999 parameters in a statement.
    static let deletionLimit = 256

    /// Deletes scopes. The parameters are the name, the entity and the predicate of each scope.
    static func deletionSQL(_ count: Int) -> String {
        let scopes = (0..<count).map { "(?\(3 * $0 + 1), ?\(3 * $0 + 2), ?\(3 * $0 + 3))" }
        let word = StoredScope.mappingWord
        return """
            DELETE FROM "_scopes" WHERE "rowid" IN (SELECT stored."rowid" \
            FROM (VALUES \(scopes.joined(separator: ", "))) AS found CROSS JOIN "_scopes" AS stored \
            WHERE stored."name" = found."column1" AND stored."entity" = found."column2" \
            AND (stored."predicate" = found."column3" OR stored."predicate" = '\(word) ' \
            || CAST(substr(stored."predicate", \(word.utf8.count + 2)) AS INTEGER) || ': ' || found."column3"))
            """
    }

    static let dropTagsSQL = """
        UPDATE "_scopes" SET "tag" = NULL, "cursor" = NULL, "version" = "version" + 1 \
        WHERE ("tag" IS NOT NULL OR "cursor" IS NOT NULL)
        """

    /// Checks that no table of the model has the same name as the table of scopes.
    static func check(_ schema: StoreSchema) throws(DataSourceError) {
        try schema.requireFree([name], "the store needs a table with that name to keep scopes")
    }
}
