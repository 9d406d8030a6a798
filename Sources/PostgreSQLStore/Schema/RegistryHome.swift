#if PostgreSQL
internal import ManagedModel
internal import RowStore

/// The schema with a role's registry.
///
/// Code of a table's owner, such as a trigger or a function of a view, runs with the rights of the role that uses the
/// table. So this library uses only tables of trusted roles: the current role, superusers, the database's owner, and
/// groups with the current role as a member. A role that can log in does not count as a group: to be trusted, such a
/// role could simply make the current role its member.
struct RegistryHome {
    let schema: String
    let schemaExists: Bool

    static let shared = "coredatasource"

    /// An SQL condition: whether the role that the query names `o` is trusted.
    static let isTrusted = """
        (o.rolsuper OR o.rolname = current_user OR o.oid = (SELECT datdba FROM pg_database WHERE datname = current_database()) \
        OR (NOT o.rolcanlogin AND pg_has_role(current_user, o.oid, 'MEMBER')))
        """

    /// Finds the registry: the role's own registry if there is one, otherwise the shared registry. If the role has no
    /// right to use the shared registry, the result is the role's own registry, which does not exist yet.
    ///
    /// - Throws: `permissionDenied` if the registry belongs to a role that is not trusted.
    init(_ connection: Connection) throws(DataSourceError) {
        let found = try connection.rows(
            """
            SELECT current_user::text, n.nspname::text, o.rolname::text, \(RegistryHome.isTrusted)::integer, \
            has_schema_privilege(n.oid, 'USAGE')::integer, (o.rolname = current_user)::integer \
            FROM (SELECT) one LEFT JOIN pg_namespace n ON starts_with(n.nspname::text, $1) \
            LEFT JOIN pg_roles o ON o.oid = n.nspowner
            """, [WireValue(RegistryHome.shared)])
        let own = Identifiers.fitting("\(RegistryHome.shared) \(found.text(0, 0))")
        func row(_ name: String) -> Int? { (0..<found.rowCount).first { found.text($0, 1) == name } }
        let (ownRow, sharedRow) = (row(own), row(RegistryHome.shared))
        if let ownRow, found.isTrue(ownRow, 5) {
            self.init(schema: own, schemaExists: true)
        } else if let sharedRow, found.isTrue(sharedRow, 4) {
            guard found.isTrue(sharedRow, 3) else {
                throw RegistryHome.untrusted(RegistryHome.shared, found.text(sharedRow, 2))
            }
            self.init(schema: RegistryHome.shared, schemaExists: true)
        } else if sharedRow == nil {
            self.init(schema: RegistryHome.shared, schemaExists: false)
        } else if let ownRow {
            throw RegistryHome.untrusted(own, found.text(ownRow, 2))
        } else {
            self.init(schema: own, schemaExists: false)
        }
    }

    private init(schema: String, schemaExists: Bool) {
        self.schema = schema
        self.schemaExists = schemaExists
    }

    static func untrusted(_ schema: String, _ owner: String) -> DataSourceError {
        DataSourceError(
            .permissionDenied,
            "The schema \(schema) belongs to the role \(owner), whose code would run with the rights of this process. Connect as a "
                + "role that owns the schema or is a member of its owner, or revoke the right of this process's role to use "
                + "the schema."
        )
    }

    /// Checks that a table of the registry is intact, and that using the table runs no code.
    ///
    /// - Returns: Whether the table exists.
    /// - Throws: `storeCorrupt` if the table differs from the table that this library makes.
    static func check(_ table: String, in schema: String, _ connection: Connection) throws(DataSourceError) -> Bool {
        let found = try connection.rows(
            """
            SELECT (c.relkind = 'r' AND NOT c.relrowsecurity AND NOT c.relhasrules AND \(RegistryHome.isTrusted) \
            AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid) \
            AND NOT EXISTS (SELECT FROM pg_attrdef d WHERE d.adrelid = c.oid) \
            AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype NOT IN ('p', 'n')) \
            AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)) \
            AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
            AND a.atttypid NOT IN ('text'::regtype, 'bigint'::regtype)))::integer \
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles o ON o.oid = c.relowner \
            WHERE n.nspname = $1 AND c.relname = $2
            """, [WireValue(schema), WireValue(table)])
        guard found.rowCount > 0 else { return false }
        if found.isTrue(0, 0) { return true }
        throw DataSourceError(
            .storeCorrupt,
            "The table \(schema).\(table) differs from the table that this library makes, or has a trigger, rule or policy, whose "
                + "code would run with the rights of this process. Restore the table.")
    }
}

/// Inspects a store that other members can have open, without changing anything.
extension Connection {
    /// Runs the body in a read-only transaction with one state of the database.
    func withSnapshot<R>(_ body: () throws(DataSourceError) -> R) throws(DataSourceError) -> R {
        try run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        defer { if isUsable { try? run("ROLLBACK") } }
        return try body()
    }
}

extension PostgreSQLSchema {
    /// Makes the schema of a store whose model is not known yet. The schema has only the tables by which processes
    /// share the store.
    init(named name: String) throws(DataSourceError) {
        try self.init(ModelLayout(ManagedObjectModel(name: "", entities: [])), name: name)
    }

    func metadataRows(_ connection: Connection) throws(DataSourceError) -> [String: RowValue] {
        let found = try connection.rows("SELECT name, number, text FROM \(qualified(PostgreSQLSchema.metadata))")
        var rows: [String: RowValue] = [:]
        for row in 0..<found.rowCount {
            rows[found.text(row, 0)] =
                found.optionalInteger(row, 1).map { .integer($0) } ?? .text(found.text(row, 2))
        }
        return rows
    }
}

extension DataSourceError {
    init(damagedSharing name: String) {
        self.init(
            .storeCorrupt,
            "The tables by which processes share the store \(name) are not as this library made them. Close the store "
                + "in all processes, and restore the tables, or replace the store with model-reset reset.")
    }
}
#endif
