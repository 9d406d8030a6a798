#if PostgreSQL
internal import RowStore

/// The tables of a kept history.
///
/// - `_history` has the records, each with a row for each of its parts. A transaction inserts its records with negative numbers,
///   and gives them the next numbers just before its commit, after it has locked the feed.
/// - `_history_state` has the limits, the ID of the history, the IDs of earlier histories of the store, the names of layouts,
///   and the numbers of the last records that the consumers have read.
extension PostgreSQLSchema {
    static let history = "_history"
    static let historyState = "_history_state"

    var history: String { qualified(PostgreSQLSchema.history) }
    var historyState: String { qualified(PostgreSQLSchema.historyState) }

    /// The possible numbers of records, parts and bytes. In practice, no store reaches the upper bound.
    static let historyNumbers: Range<Int64> = 0..<1 << 62

    /// The SQL that makes the tables. The checks of the columns refuse numbers that are too large to be added.
    var historySQL: [String] {
        let most = PostgreSQLSchema.historyNumbers.upperBound - 1
        let counts = ["part", "start", "size"].map { "\($0) bigint NOT NULL CHECK (\($0) BETWEEN 0 AND \(most))" }
        return [
            """
            CREATE TABLE \(history) (number bigint NOT NULL CHECK (number <= \(most)), \
            \(counts.joined(separator: ", ")), last boolean NOT NULL, time bigint NOT NULL, kind text, source text, author text, \
            member bigint, process bigint, program text, entities text, note text, changes bytea, PRIMARY KEY (number, part))
            """,
            "ALTER TABLE \(history) ALTER COLUMN changes SET STORAGE EXTERNAL",
            "CREATE TABLE \(historyState) (name text PRIMARY KEY, number bigint CHECK (number >= 0), text text)",
        ]
    }

    /// Whether the store keeps a history, as an SQL expression.
    var keepsHistorySQL: String {
        """
        EXISTS (SELECT FROM \(qualified(PostgreSQLSchema.metadata)) WHERE name = 'format' \
        AND number >= \(StoreMetadata.historyFormat))
        """
    }

    /// The server's time in milliseconds since 1970.
    static let historyTime = "(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint"

    /// The number of the newest record, and the bytes of all rows so far, as SQL.
    var historyEnd: (number: String, bytes: String) {
        (
            "coalesce((SELECT max(number) FROM \(history) WHERE number > 0), 0)",
            """
            coalesce((SELECT start + size FROM \(history) WHERE number > 0 ORDER BY number DESC, part DESC LIMIT 1), 0)
            """
        )
    }

    /// The SQL that drops old records, the oldest first. The transaction must have locked the feed. The limits are read from
    /// the store, because another member can have opened the store with other limits. For a record from far in the future,
    /// the time of the first later record that is not from the future is used: see ``HistoryAges``.
    ///
    /// - Parameter count: The largest number of rows to drop, as SQL.
    func droppingRecords(atMost count: String) -> String {
        let end = historyEnd
        func state(_ name: String) -> String { "(SELECT number FROM \(historyState) WHERE name = '\(name)')" }
        return """
            WITH newest AS (SELECT \(end.number) AS number, \(end.bytes) AS bytes, \(PostgreSQLSchema.historyTime) AS now, \
            coalesce(\(state("bytes")), \(Int64.max)) AS most, least(\(state("seconds")), \(Int64(1) << 40)) * 1000 AS span, \
            coalesce((SELECT min(number) FROM \(historyState) WHERE starts_with(name, 'consumer ')), \(Int64.max)) AS unread), \
            known AS MATERIALIZED (SELECT h.number, h.part, h.time FROM \(history) h, newest WHERE h.number > 0 \
            AND h.time <= newest.now + newest.span ORDER BY h.number, h.part LIMIT 1), \
            oldest AS (SELECT h.number, h.part, row_number() OVER (ORDER BY h.number, h.part) AS place, \
            h.number < newest.number AND (newest.bytes - h.start > newest.most \
            OR CASE WHEN h.time <= newest.now + newest.span THEN h.time ELSE coalesce((SELECT known.time FROM known \
            WHERE (h.number, h.part) < (known.number, known.part)), newest.now) END < newest.now - newest.span \
            AND h.number <= newest.unread) AS is_old \
            FROM (SELECT number, part, start, time FROM \(history) WHERE number > 0 \
            ORDER BY number, part LIMIT \(count)) h, newest), \
            stop AS (SELECT min(place) AS place FROM oldest WHERE is_old IS NOT TRUE) \
            DELETE FROM \(history) dropped USING oldest, stop WHERE (stop.place IS NULL OR oldest.place < stop.place) \
            AND dropped.number = oldest.number AND dropped.part = oldest.part
            """
    }

    /// The SQL that records an event without values. Run it after the transaction has locked the feed, or while no other member
    /// has the store open.
    ///
    /// - Parameters:
    ///   - program: The program that caused the event, as SQL.
    ///   - entities: The names of the entities, as SQL.
    func recordingEvent(_ kind: HistoryKind, program: String, entities: String, note: String) -> String {
        let end = historyEnd
        return """
            INSERT INTO \(history) VALUES (\(end.number) + 1, 0, \(end.bytes), \(StoredRecord.rowOverhead), true, \
            \(PostgreSQLSchema.historyTime), \(kind.rawValue.quotedText), NULL, NULL, 0, 0, \(program), \(entities), \
            \(note.quotedText), NULL)
            """
    }

    /// The SQL that records a write of another program, for the trigger's function; empty if the store keeps no history.
    func recordingOutsideWrite(_ keepsHistory: Bool) -> String {
        guard keepsHistory else { return "" }
        let event = recordingEvent(
            .outsideWrites, program: "session_user", entities: outsideEntity,
            note: "Another program has written to the store.")
        // Drop old records here, too, because perhaps no member makes a save.
        return "\n\(event);\nIF found % 64 = 0 THEN \(droppingRecords(atMost: "256")); END IF;"
    }

    /// The name of the entity that another program has changed, for the record of the write, as SQL. For links, the feed has the
    /// name of their table. A later model may have no such table, so the record must have the name of the relationship.
    private var outsideEntity: String {
        let cases = layout.entities.filter { $0.links != nil }
            .map { "WHEN \($0.name.quotedText) THEN \($0.historyName.quotedText)" }
        return cases.isEmpty ? "NEW.entity" : "CASE NEW.entity \(cases.joined(separator: " ")) ELSE NEW.entity END"
    }

    /// Checks that no table of the model has the same name as one of these tables.
    func checkHistoryNames() throws(DataSourceError) {
        let names = [PostgreSQLSchema.history, PostgreSQLSchema.historyState]
        guard let taken = tables.compactMap({ $0?.bareName }).first(where: names.contains) else { return }
        throw DataSourceError(
            .unreadableModel,
            "The model has an entity named \(taken), but a kept history needs a table with that name. Rename the entity."
        )
    }
}
#endif
