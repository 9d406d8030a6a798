#if PostgreSQL
internal import ManagedModel
internal import RowStore

/// The tables of one generation of a store: the tables of its model, and the tables by which processes share the store.
///
/// A reset or a migration replaces a generation with a new one. Each generation has its own schema in the database. `_feed` has
/// one row: the lowest position in `_changes`, the number of changes of the leases, and the number of the newest member.
///
/// A save is recorded in new rows with new keys, not by an update of a row that all saves share. The server keeps the old
/// versions of an updated row as long as any transaction of the database can need them. If every save updated the same row,
/// each read of the row would have to skip all old versions.
struct PostgreSQLSchema: Sendable {
    let layout: ModelLayout
    let name: String
    /// The tables by entity index; nil for an abstract entity.
    let tables: [PostgreSQLTable?]

    static let feed = "_feed"
    static let changes = "_changes"
    static let leases = "_leases"
    static let tickets = "_tickets"
    static let members = "_members"
    /// The keys that each member has reserved, and the member's refused transactions.
    static let writers = "_writers"
    /// The number of each member's newest transaction.
    static let saves = "_saves"
    static let metadata = "_metadata"
    static let keys = "_keys"
    /// The entities that open transactions of other programs have written.
    static let outside = "_outside"
    static let names = [feed, changes, leases, tickets, members, writers, saves, metadata, keys, outside, scopes]

    init(_ layout: ModelLayout, name: String) throws(DataSourceError) {
        self.layout = layout
        self.name = name
        var names = Identifiers.unique(besides: PostgreSQLSchema.names)
        var tables: [PostgreSQLTable?] = []
        for entity in layout.entities {
            if entity.isAbstract {
                tables.append(nil)
                continue
            }
            tables.append(try PostgreSQLTable(entity, schema: name, name: try names.claim(entity.name)))
        }
        self.tables = tables
    }

    /// The position of the newest save, as an SQL expression; 0 before the first save. The feed always keeps the newest save.
    var position: String {
        "(SELECT coalesce(max(position), 0) FROM \(qualified(PostgreSQLSchema.changes)) WHERE position > 0)"
    }

    /// The name of a table with its schema, quoted.
    func qualified(_ table: String) -> String { name.quoted + "." + table.quoted }

    func table(_ entity: Int) throws(DataSourceError) -> PostgreSQLTable {
        guard let table = tables[entity] else {
            throw DataSourceError(abstractEntity: layout.entities[entity].name)
        }
        return table
    }

    /// The name of the channel for notifications between members.
    var channel: String { Identifiers.fitting("coredatasource " + name) }

    // MARK: Making the tables

    /// The SQL of columns that members use as counters. The check refuses a number that is too large to be incremented.
    private func numbers(_ names: String...) -> String {
        names.map { "\($0) bigint NOT NULL CHECK (\($0) BETWEEN 0 AND \(Int64(1) << 62))" }.joined(separator: ", ")
    }

    /// The statements that make all tables, in order.
    var tableSQL: [String] {
        var sql = [
            "CREATE SCHEMA \(name.quoted)",
            """
            CREATE TABLE \(qualified(PostgreSQLSchema.feed)) (id integer PRIMARY KEY CHECK (id = 1), \
            \(numbers("lowest", "leases", "members")))
            """,
            """
            CREATE TABLE \(qualified(PostgreSQLSchema.changes)) (position bigint PRIMARY KEY, member bigint NOT NULL, \
            made timestamptz NOT NULL, size bigint NOT NULL, unknown text, changes bytea, \
            token uuid NOT NULL DEFAULT gen_random_uuid())
            """,
            "ALTER TABLE \(qualified(PostgreSQLSchema.changes)) ALTER COLUMN changes SET STORAGE EXTERNAL",
            """
            CREATE TABLE \(qualified(PostgreSQLSchema.leases)) (entity text PRIMARY KEY, holder bigint, \(numbers("epoch")), \
            source text NOT NULL, \(numbers("since")))
            """,
            """
            CREATE TABLE \(qualified(PostgreSQLSchema.tickets)) (number bigint PRIMARY KEY, member bigint NOT NULL, \
            entities text NOT NULL, source text NOT NULL, \(numbers("since")), answered text NOT NULL)
            """,
            """
            CREATE TABLE \(qualified(PostgreSQLSchema.members)) (number bigint PRIMARY KEY, process integer NOT NULL, \
            name text NOT NULL, seen timestamptz NOT NULL, token bigint NOT NULL)
            """,
            """
            CREATE TABLE \(qualified(PostgreSQLSchema.writers)) (member bigint NOT NULL, token bigint NOT NULL, \
            refused bigint NOT NULL, keys bigint NOT NULL, PRIMARY KEY (member, token))
            """,
            """
            CREATE TABLE \(qualified(PostgreSQLSchema.saves)) (member bigint NOT NULL, token bigint NOT NULL, number bigint NOT NULL, \
            made timestamptz NOT NULL, PRIMARY KEY (member, token, number))
            """,
            "CREATE TABLE \(qualified(PostgreSQLSchema.metadata)) (name text PRIMARY KEY, number bigint, text text)",
            "CREATE TABLE \(qualified(PostgreSQLSchema.keys)) (id integer PRIMARY KEY CHECK (id = 1), next bigint NOT NULL)",
            """
            CREATE TABLE \(qualified(PostgreSQLSchema.outside)) (transaction bigint NOT NULL, entity text NOT NULL, \
            PRIMARY KEY (transaction, entity))
            """,
            "INSERT INTO \(qualified(PostgreSQLSchema.feed)) VALUES (1, 1, 0, 0)",
        ]
        sql.append(contentsOf: [scopesSQL] + tables.compactMap { $0?.createSQL })
        return sql
    }

    /// The statements that make the indexes and triggers, after the first rows were written.
    ///
    /// - Parameter keepsHistory: Whether the store keeps a history.
    func completionSQL(keepsHistory: Bool) -> [String] {
        tables.compactMap(\.self).flatMap { $0.indexes.map { $0.createSQL() } } + outsideSQL(keepsHistory)
    }

    /// The names of the function that records writes of other programs, and of the triggers that call the function.
    static let (outsideName, outsideTrigger) = ("_note_outside_write", "_outside")

    /// The SQL name of the function that records writes of other programs.
    var outsideFunction: String { qualified(PostgreSQLSchema.outsideName) }
    /// The SQL name of the function that makes a save from the recorded writes.
    var publishingFunction: String { qualified("_publish_outside_write") }

    /// The key of the next new object, as an SQL expression over the table of keys. The key is higher than the keys of all
    /// objects, including those that another program has inserted.
    var firstFreeKey: String {
        let highest = tables.compactMap { $0?.name }.map { name in
            "(SELECT least(coalesce(max(\(PostgreSQLTable.keyName.quoted)), 0), \(Int64.max - 1)) + 1 FROM \(name))"
        }
        // Ignore a `next` above 2^62. The table is damaged, or `next` was stored while an object had a key near `Int64.max`.
        let next = "CASE WHEN next > \(Int64(1) << 62) THEN 1 ELSE next END"
        return "greatest(\(([next, "1"] + highest).joined(separator: ", ")))"
    }
}

extension PostgreSQLSchema {
    /// Checks that the tables of the model exist, with their columns and types.
    ///
    /// - Throws: `storeCorrupt`, with the first difference.
    func checkTables(_ connection: Connection, _ store: String) throws(DataSourceError) {
        let found = try connection.rows(
            """
            SELECT c.relname, a.attname, format_type(a.atttypid, NULL) FROM pg_attribute a \
            JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
            """, [WireValue(name)])
        var types: [String: [String: String]] = [:]
        for row in 0..<found.rowCount {
            types[found.text(row, 0), default: [:]][found.text(row, 1)] = found.text(row, 2)
        }
        for table in tables.compactMap(\.self) {
            guard let columns = types[table.bareName] else {
                throw damaged(store, "the table \(table.bareName) is missing")
            }
            var wanted = [PostgreSQLTable.keyName: ColumnStorage.integer.typeName]
            for (column, name) in table.bareColumns { wanted[name] = table.layout.columns[column].storage.typeName }
            for (name, type) in wanted.sorted(by: { $0.key < $1.key }) where columns[name] != type {
                throw damaged(store, "the column \(table.bareName).\(name) is not of the type \(type)")
            }
        }
    }

    private func damaged(_ store: String, _ cause: String) -> DataSourceError {
        DataSourceError(
            .storeCorrupt,
            "The tables of the store \(store) are not as this library made them: `cause` names the difference. Restore the tables.",
            cause: cause)
    }
}

/// The triggers for writes of other programs.
extension PostgreSQLSchema {
    /// The SQL of the triggers. A transaction of a program that is not a member adds a save with unknown content. The save is
    /// added just before the commit, so that no other save gets a position between this save and the commit. If the
    /// transaction's isolation level hides a save that was committed since the transaction began, the transaction fails with a
    /// serialization failure, and can be tried again.
    func outsideSQL(_ keepsHistory: Bool) -> [String] {
        let (function, publishing) = (outsideFunction, publishingFunction)
        var sql = [
            """
            CREATE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $body$
            BEGIN
                IF current_setting('coredatasource.member', true) = 'on' THEN RETURN NULL; END IF;
                INSERT INTO \(qualified(PostgreSQLSchema.outside)) VALUES (pg_current_xact_id()::text::bigint, TG_ARGV[0]) \
                ON CONFLICT DO NOTHING;
                RETURN NULL;
            END $body$
            """,
            publishingSQL(keepsHistory),
            """
            CREATE CONSTRAINT TRIGGER \(PostgreSQLSchema.outsideTrigger) AFTER INSERT ON \(qualified(PostgreSQLSchema.outside)) \
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION \(publishing)()
            """,
        ]
        for table in tables.compactMap(\.self) {
            sql.append(
                """
                CREATE TRIGGER \(PostgreSQLSchema.outsideTrigger) AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON \(table.name) FOR EACH STATEMENT \
                EXECUTE FUNCTION \(function)(\(table.layout.name.quotedText))
                """)
        }
        return sql
    }

    /// The SQL of the function that makes a save from the recorded writes.
    ///
    /// - Parameter replacing: Whether to replace the function.
    func publishingSQL(_ keepsHistory: Bool, replacing: Bool = false) -> String {
        """
        CREATE \(replacing ? "OR REPLACE " : "")FUNCTION \(publishingFunction)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $body$
        DECLARE kept bigint; found bigint;
        BEGIN
            SELECT lowest INTO STRICT kept FROM \(qualified(PostgreSQLSchema.feed)) FOR UPDATE;
            -- Members also write scopes after they lock the feed.
            \(tagDropSQL) AND \(isOfScope("NEW.entity"));
            found := \(position) + 1;
            BEGIN
                INSERT INTO \(qualified(PostgreSQLSchema.changes)) VALUES (found, 0, clock_timestamp(), 0, NEW.entity, NULL, DEFAULT);\(recordingOutsideWrite(keepsHistory))
            EXCEPTION WHEN unique_violation THEN
                RAISE EXCEPTION 'could not serialize access due to a concurrent save' USING ERRCODE = 'serialization_failure';
            END;
            IF found - kept >= \(FeedRetention.saveLimit + FeedRetention.saveLimit / 64) THEN
                UPDATE \(qualified(PostgreSQLSchema.feed)) SET lowest = found - \(FeedRetention.saveLimit - 1);
                DELETE FROM \(qualified(PostgreSQLSchema.changes)) \
                WHERE position BETWEEN kept AND found - \(FeedRetention.saveLimit);
            END IF;
            DELETE FROM \(qualified(PostgreSQLSchema.outside)) WHERE transaction = NEW.transaction AND entity = NEW.entity;
            PERFORM pg_notify(\(channel.quotedText), '');
            RETURN NULL;
        END $body$
        """
    }
}
#endif
