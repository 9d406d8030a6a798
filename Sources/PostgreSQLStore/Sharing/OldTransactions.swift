#if PostgreSQL
internal import RowStore

/// Looks for transactions in the database that have been open for long. While they are, the server keeps all rows that were changed or
/// deleted since, and has to pass by them.
struct OldTransactions {
    /// How long one may be open until it is reported.
    let age: Duration
    private var nextLook: ContinuousClock.Instant
    /// The one that was reported last.
    private var reported: String?

    init(age: Duration) {
        self.age = age
        nextLook = .now + age / OldTransactions.looks
    }

    /// How often it looks in that time.
    private static let looks = 10

    /// What to report; nil if there is nothing new.
    ///
    /// A role sees transactions of other roles if it is a superuser or a member of `pg_read_all_stats`.
    mutating func look(_ connection: Connection) throws(DataSourceError) -> DataSourceError? {
        guard ContinuousClock.now >= nextLook else { return nil }
        nextLook = .now + age / OldTransactions.looks
        let found = try connection.rows(
            """
            SELECT pid::bigint, coalesce(nullif(application_name, ''), 'a program'), coalesce(usename::text, ''), xact_start::text \
            FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
            AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL) \
            AND xact_start < clock_timestamp() - $1::bigint * interval '1 millisecond' ORDER BY xact_start LIMIT 1
            """, [WireValue(Int64(age / .milliseconds(1)))])
        guard found.rowCount == 1 else { return nil }
        let name = "\(found.text(0, 1)) (process \(found.integer(0, 0)) of \(found.text(0, 2)))"
        let start = found.text(0, 3)
        if reported == "\(name) \(start)" { return nil }
        reported = "\(name) \(start)"
        return DataSourceError(
            .readerBlocksCheckpoint,
            "A transaction of \(name) has been open in the database since \(start). Until it ends, the server keeps all rows that "
                + "are changed or deleted, so that its tables grow and saves of the same objects get slower. Keep transactions short."
        )
    }
}
#endif
