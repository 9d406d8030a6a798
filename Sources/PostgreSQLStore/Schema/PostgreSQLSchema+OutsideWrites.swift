#if PostgreSQL
internal import RowStore

/// What the server does when other programs write.
extension PostgreSQLSchema {
    /// Notes that another program has written: a transaction of a program that is not a member adds a save with unknown
    /// content. It does so as it commits, because nobody can save between the save's position and the commit. If its isolation level
    /// hides a save that was made since it began, it fails as any such transaction does, and can be tried again.
    var outsideSQL: [String] {
        let (function, publishing) = (outsideFunction, publishingFunction)
        var sql = [
            """
            CREATE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $body$
            BEGIN
                IF current_setting('coredatasource.member', true) = 'on' THEN RETURN NULL; END IF;
                INSERT INTO \(term(PostgreSQLSchema.outside)) VALUES (pg_current_xact_id()::text::bigint, TG_ARGV[0]) \
                ON CONFLICT DO NOTHING;
                RETURN NULL;
            END $body$
            """,
            publishingSQL,
            """
            CREATE CONSTRAINT TRIGGER \(PostgreSQLSchema.outsideTrigger) AFTER INSERT ON \(term(PostgreSQLSchema.outside)) \
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

    /// Makes a save of what the triggers have noted.
    private var publishingSQL: String {
        """
        CREATE FUNCTION \(publishingFunction)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $body$
        DECLARE kept bigint; found bigint;
        BEGIN
            SELECT lowest INTO STRICT kept FROM \(term(PostgreSQLSchema.feed)) FOR UPDATE;
            found := \(position) + 1;
            BEGIN
                INSERT INTO \(term(PostgreSQLSchema.changes)) VALUES (found, 0, clock_timestamp(), 0, NEW.entity, NULL, DEFAULT);
            EXCEPTION WHEN unique_violation THEN
                RAISE EXCEPTION 'could not serialize access due to a concurrent save' USING ERRCODE = 'serialization_failure';
            END;
            IF found - kept >= \(PostgreSQLSchema.saveLimit + PostgreSQLSchema.saveLimit / 64) THEN
                UPDATE \(term(PostgreSQLSchema.feed)) SET lowest = found - \(PostgreSQLSchema.saveLimit - 1);
                DELETE FROM \(term(PostgreSQLSchema.changes)) \
                WHERE position BETWEEN kept AND found - \(PostgreSQLSchema.saveLimit);
            END IF;
            DELETE FROM \(term(PostgreSQLSchema.outside)) WHERE transaction = NEW.transaction AND entity = NEW.entity;
            PERFORM pg_notify(\(channel.quotedText), '');
            RETURN NULL;
        END $body$
        """
    }
}
#endif
