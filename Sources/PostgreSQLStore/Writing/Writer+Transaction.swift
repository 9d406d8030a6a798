#if PostgreSQL
internal import RowStore

/// One transaction: the rows, the place in the order of all saves, and what followers are told.
extension Writer {
    /// Saves whose rows were written in a transaction that is not committed yet.
    struct Written {
        let saves: [ChangeSet]
        /// Of the first of them.
        let position: Int64
        let epochs: [Int: Int64]
    }

    /// Runs a transaction, again if the server has ended it for the sake of another one.
    ///
    /// - Parameter body: Begins the transaction of that number, and writes rows.
    func transaction(
        _ body: (Connection, Int64) throws(DataSourceError) -> Written
    ) throws(DataSourceError) {
        for attempt in 1... {
            do throws(DataSourceError) {
                return try transactionOnce(body)
            } catch {
                let isGone = error.code == .storeCorrupt || error.code == .storeReset
                if isGone, let reset = try resetElsewhere() { throw reset }
                guard error.isConflict, attempt < Writer.attempts else { throw error }
            }
        }
    }

    func transactionOnce(
        _ body: (Connection, Int64) throws(DataSourceError) -> Written
    ) throws(DataSourceError) {
        let connection = try connected()
        transactionNumber += 1
        let number = transactionNumber
        var saves: [ChangeSet] = []
        var isCommitting = false
        do throws(DataSourceError) {
            let written = try body(connection, number)
            saves = written.saves
            for set in saves { try check(set, written.epochs) }
            var requests = note(saves, from: written.position)
            requests += try forgetting(written.position + Int64(saves.count) - 1, saves.count, connection)
            requests.append(Request(notifySQL))
            isCommitting = true
            requests.append(Request("COMMIT"))
            _ = try connection.pipeline(requests)
            counters.count(rows: saves.reduce(0) { $0 + $1.rowCount })
        } catch {
            if isCommitting, error.isLoss, !connection.isUsable {
                unsettled = Unsettled(
                    number: number, serverProcess: connection.serverProcess, saves: Set(saves.map(\.number)))
                self.connection = nil
                if try settle(patience: opening.options.settlingPatience) { return }
                throw error
            }
            if connection.isUsable { try? connection.run("ROLLBACK") } else { self.connection = nil }
            if error.isLoss { rejoin() }
            throw error
        }
    }

    /// Those who come may have forgotten a member that was silent for long.
    func rejoin() {
        if let connection, connection.isUsable { try? Members(connection, schema).add(member) }
    }

    // MARK: Position and leases

    /// The statements that mark a transaction, take the positions of so many saves, and read the epochs of the leases.
    func placing(_ count: Int, _ number: Int64) -> [Request] {
        [
            Request(
                """
                UPDATE \(schema.term(PostgreSQLSchema.members)) SET saved = $2 WHERE number = $1 AND refused < $2
                """, [WireValue(member.number), WireValue(number)]),
            Request(
                "UPDATE \(schema.term(PostgreSQLSchema.feed)) SET position = position + $1 RETURNING position",
                [WireValue(Int64(count))]),
            epochsRequest,
        ]
    }

    /// - Returns: The position of the first of the saves, and the epochs of the leases that this member has, by entity.
    func place(
        _ results: [QueryResult], _ count: Int
    ) throws(DataSourceError) -> (position: Int64, epochs: [Int: Int64]) {
        guard results[0].changedRows == 1 else { throw DataSourceError(goneMemberOf: opening.options.name) }
        guard results[1].rowCount == 1 else { throw DataSourceError(damagedSharing: opening.options.name) }
        return (results[1].integer(0, 0) - Int64(count) + 1, epochs(results[2]))
    }

    var epochsRequest: Request {
        Request(
            "SELECT entity, epoch FROM \(schema.term(PostgreSQLSchema.leases)) WHERE holder = $1",
            [WireValue(member.number)])
    }

    func epochs(_ found: QueryResult) -> [Int: Int64] {
        var epochs: [Int: Int64] = [:]
        for row in 0..<found.rowCount {
            if let entity = schema.layout.entity(named: found.text(row, 0)) {
                epochs[entity.index] = found.integer(row, 1)
            }
        }
        return epochs
    }

    /// - Throws: `leaseLost` if somebody else has got a lease that the save was made under.
    func check(_ changes: ChangeSet, _ epochs: [Int: Int64]) throws(DataSourceError) {
        guard let lost = changes.leases.first(where: { epochs[$0.entity] != $0.epoch }) else { return }
        let name = schema.layout.entities[lost.entity].name
        throw DataSourceError(
            .leaseLost,
            "This process was stopped, or did not answer, for so long that another process has taken \(name) over. Saves "
                + "that were not in the store yet are refused. Save again.", entityName: name)
    }

    // MARK: The feed

    /// The statements that note what saves have changed.
    func note(_ saves: [ChangeSet], from first: Int64) -> [Request] {
        saves.enumerated().map { place, set in
            let words = encoding.words(set)
            let bytes = words.map { words in words.withUnsafeBytes { Array($0) } }
            let names = set.entities.map { schema.layout.entities[$0.entity].name }
            return Request(
                """
                INSERT INTO \(schema.term(PostgreSQLSchema.changes)) VALUES ($1, $2, clock_timestamp(), $3, $4, $5)
                """,
                [
                    WireValue(first + Int64(place)), WireValue(member.number), WireValue(Int64(bytes?.count ?? 0)),
                    bytes == nil ? WireValue(names.joined(separator: "\n")) : .null, WireValue(bytes: bytes),
                ])
        }
    }

    /// The statements that forget saves that are old, or too many. Who has not taken them in reads anew.
    func forgetting(
        _ position: Int64, _ saves: Int, _ connection: Connection
    ) throws(DataSourceError) -> [Request] {
        notedSaves += saves
        guard notedSaves >= Writer.saveLimit / 4 else { return [] }
        notedSaves = 0
        let changes = schema.term(PostgreSQLSchema.changes)
        let found = try connection.rows(
            """
            SELECT greatest((SELECT max(position) FROM (SELECT position, sum(size) OVER (ORDER BY position DESC) AS total \
            FROM \(changes)) sizes WHERE total > \(Writer.sizeLimit)), \
            (SELECT max(position) FROM \(changes) WHERE made < clock_timestamp() - interval '\(Writer.ageLimit)'), 0)
            """)
        let bound = max(found.integer(0, 0), position - Int64(Writer.saveLimit))
        return [
            Request("DELETE FROM \(changes) WHERE position <= $1", [WireValue(bound)]),
            Request(
                "UPDATE \(schema.term(PostgreSQLSchema.feed)) SET lowest = greatest(lowest, $1::bigint + 1)",
                [WireValue(bound)]),
        ]
    }
}

extension DataSourceError {
    /// Whether the server has ended a transaction for the sake of another one. It can be tried again.
    fileprivate var isConflict: Bool {
        code == .storeBusy && (cause?.contains("40001") == true || cause?.contains("40P01") == true)
    }
}
#endif
