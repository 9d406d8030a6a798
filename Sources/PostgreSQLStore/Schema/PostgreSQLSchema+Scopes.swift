#if PostgreSQL
internal import Foundation
internal import RowStore

/// The table with the state of each scope. Stores of earlier releases get the table when their owner opens them.
extension PostgreSQLSchema {
    static let scopes = "_scopes"

    var scopes: String { qualified(PostgreSQLSchema.scopes) }

    var scopesSQL: String {
        """
        CREATE TABLE \(scopes) ("name" text PRIMARY KEY, "entity" text NOT NULL, "predicate" text NOT NULL, \
        "requested" double precision, "tag" text, "cursor" text, "complete" bigint NOT NULL, "failures" bigint NOT NULL, \
        "failed" double precision, "failure" text, "retry" double precision, "answer" bigint NOT NULL, \
        "version" bigint NOT NULL)
        """
    }

    /// Gives each role that has rights for the table of changes the same rights for the table of scopes.
    var scopeRightsSQL: String {
        """
        DO $body$
        DECLARE found record;
        BEGIN
            FOR found IN SELECT a.grantee::regrole AS role, string_agg(a.privilege_type, ', ') AS rights \
            FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = \(qualified(PostgreSQLSchema.changes).quotedText)::regclass \
            AND a.grantee <> c.relowner AND a.grantee <> 0 \
            AND a.privilege_type IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE') GROUP BY a.grantee LOOP
                EXECUTE format('GRANT %s ON %s TO %s', found.rights, \(scopes.quotedText), found.role);
            END LOOP;
        END $body$
        """
    }

    /// Drops the entity tags and cursors of scopes.
    var tagDropSQL: String {
        """
        UPDATE \(scopes) SET "tag" = NULL, "cursor" = NULL, "version" = "version" + 1 \
        WHERE ("tag" IS NOT NULL OR "cursor" IS NOT NULL)
        """
    }

    /// An SQL condition for the rows of the table of scopes. The condition is true for each scope that a write to the entity
    /// can concern: the scope's entity is the written entity or one of its parents. A written link can concern every scope.
    ///
    /// - Parameter entity: The name of the entity, as SQL.
    func isOfScope(_ entity: String) -> String {
        var conditions = ["\"entity\" = \(entity)"]
        var (parents, links): ([String], [String]) = ([], [])
        for (index, written) in layout.entities.enumerated() {
            let name = written.name.quotedText
            if written.links != nil { links.append(name) }
            for parent in layout.names(ofEntitiesContaining: [index]).sorted() where parent != written.name {
                parents.append("(\(name), \(parent.quotedText))")
            }
        }
        if !parents.isEmpty { conditions.append("(\(entity), \"entity\") IN (\(parents.joined(separator: ", ")))") }
        if !links.isEmpty { conditions.append("\(entity) IN (\(links.joined(separator: ", ")))") }
        return "(\(conditions.joined(separator: " OR ")))"
    }

    /// Reads a scope by its name.
    var scopeSQL: String {
        "SELECT \(PostgreSQLSchema.scopeColumns.joined(separator: ", ")) FROM \(scopes) WHERE \"name\" = $1"
    }

    /// The parameters are the two times of ``RequestReader/scopes(requestedSince:listsSince:)``. The name of an object's scope is the
    /// entity and the format of the predicate.
    var laterRequestsSQL: String {
        """
        SELECT \(StoredScope.columnsWithoutTexts.joined(separator: ", ")) FROM \(scopes) WHERE "requested" >= $1 \
        OR ("requested" >= $2 \
        AND "name" <> "entity" || ' ' || right("predicate", length("name") - length("entity") - 1))
        """
    }

    fileprivate static let scopeColumns = StoredScope.columns.map(\.quoted)

    /// Inserts or replaces a scope.
    ///
    /// - Parameters:
    ///   - kept: The columns whose values stay if the scope has the same entity and predicate as before.
    ///   - isFailure: Whether to count a failure.
    private func scopeInsertion(keeping kept: Set<String>, isFailure: Bool) -> String {
        let isSame = "(old.\"entity\" = excluded.\"entity\" AND old.\"predicate\" = excluded.\"predicate\")"
        let settings = StoredScope.columns.dropFirst().map { column in
            let (new, old) = ("excluded.\(column.quoted)", "old.\(column.quoted)")
            guard kept.contains(column) else { return "\(column.quoted) = \(new)" }
            // Add the failure to the count of earlier failures.
            let value = isFailure && column == "failures" ? "least(\(old), \(Int64.max - 1)) + 1" : old
            return "\(column.quoted) = CASE WHEN \(isSame) THEN \(value) ELSE \(new) END"
        }
        let parameters = (1...StoredScope.columns.count).map { "$\($0)" }.joined(separator: ", ")
        return """
            INSERT INTO \(scopes) AS old (\(PostgreSQLSchema.scopeColumns.joined(separator: ", "))) VALUES (\(parameters)) \
            ON CONFLICT ("name") DO UPDATE SET \(settings.joined(separator: ", "))
            """
    }

    private static let answerColumns: Set<String> = [
        "requested", "tag", "cursor", "complete", "failures", "answer", "version",
    ]

    private static let failureColumns: Set<String> = ["failures", "failed", "failure", "retry"]

    /// Deletes scopes. The parameters are arrays of their names, entities and predicates.
    var scopeDeletionSQL: String {
        """
        DELETE FROM \(scopes) AS stored USING unnest($1::text[], $2::text[], $3::text[]) AS found(name, entity, predicate) \
        WHERE stored."name" = found.name AND stored."entity" = found.entity AND (stored."predicate" = found.predicate \
        OR stored."predicate" ~ '^\(StoredScope.mappingWord) -?[0-9]+: ' \
        AND substr(stored."predicate", position(': ' IN stored."predicate") + 2) = found.predicate)
        """
    }

    /// The request that makes a change of a scope; nil for a change that forgets the scope.
    func request(_ change: ScopeChange) -> Request? {
        let id = [WireValue(change.name), WireValue(change.entity), WireValue(change.predicate)]
        if case .notModified(let version) = change.event {
            let requested = change.requestedAt?.timeIntervalSinceReferenceDate
            return Request(
                """
                UPDATE \(scopes) SET "requested" = $4, "failures" = 0, "failed" = NULL, "failure" = NULL, "retry" = NULL, \
                "answer" = $5, "version" = $5 WHERE "name" = $1 AND "entity" = $2 AND "predicate" = $3 AND "version" = $6 \
                AND ("tag" IS NOT NULL OR "cursor" IS NOT NULL)
                """,
                id + [requested.map { WireValue($0) } ?? .null, WireValue(change.number), WireValue(version)])
        }
        guard let scope = change.result(after: nil) else { return nil }
        var (kept, isFailure): (Set<String>, Bool) = (change.isPartOfList ? PostgreSQLSchema.failureColumns : [], false)
        if case .failed = change.event { (kept, isFailure) = (PostgreSQLSchema.answerColumns, true) }
        return Request(scopeInsertion(keeping: kept, isFailure: isFailure), scope.values.map { WireValue($0) })
    }

    /// The request that forgets the scopes with the oldest requests, if there are too many scopes. The named scope is always
    /// kept, even if other scopes seem to be newer because a clock was changed.
    func scopeTrim(keeping name: String) -> Request {
        Request(
            """
            DELETE FROM \(scopes) WHERE "name" IN \
            (SELECT "name" FROM \(scopes) WHERE "name" <> $1 \
            ORDER BY COALESCE("requested", "failed") DESC NULLS LAST OFFSET \(StoredScope.limit - 1))
            """, [WireValue(name)])
    }

    /// Returns whether the generation has the table of scopes, as SQL.
    var scopesExistSQL: String { "SELECT to_regclass(\(scopes.quotedText)) IS NOT NULL" }
}

extension DataSourceError {
    init(noScopesIn name: String) {
        self.init(
            .scopesNotKept,
            "The store \(name) was made by an earlier release, and has no table for scopes. Open the store once with the role that owns it."
        )
    }
}
#endif
