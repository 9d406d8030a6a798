#if PostgreSQL
internal import RowStore

/// One transaction: the rows, the position in the order of all saves, and the notes for followers.
extension Writer {
    /// Saves whose rows were written in a transaction that is not committed yet.
    struct Written {
        let saves: [ChangeSet]
        /// The position of the first of them.
        let position: Int64
        let epochs: [Int: Int64]
    }

    /// Runs a transaction, and again if the server has ended it in favour of another one.
    ///
    /// - Parameter body: Begins the transaction with that number, and writes rows.
    func transaction(
        _ body: (Connection, Int64) throws(DataSourceError) -> Written
    ) throws(DataSourceError) {
        var (wasCut, wasForgotten) = (false, false)
        for attempt in 1... {
            do throws(DataSourceError) {
                return try transactionOnce(body)
            } catch {
                // Nothing of it was written.
                if error.isLoss, unsettled == nil {
                    // The server had forgotten this member, and knows it again now.
                    if isForgotten, !wasForgotten {
                        wasForgotten = true
                        continue
                    }
                    // The connection may have been cut while it was not used.
                    if connection?.isUsable != true, !wasCut {
                        wasCut = true
                        continue
                    }
                }
                guard error.isConflict, attempt < Writer.attempts else { throw error }
            }
        }
    }

    private func transactionOnce(
        _ body: (Connection, Int64) throws(DataSourceError) -> Written
    ) throws(DataSourceError) {
        let connection = try connected()
        transactionNumber += 1
        isForgotten = false
        let number = transactionNumber
        var saves: [ChangeSet] = []
        var isCommitting = false
        do throws(DataSourceError) {
            let written = try connection.ofGeneration(schema, opening.options.name) { () throws(DataSourceError) in
                try body(connection, number)
            }
            saves = written.saves
            for set in saves { try check(set, written.epochs) }
            var requests = note(saves, from: written.position)
            requests += try forgetting(written.position + Int64(saves.count) - 1, saves, requests, connection)
            isCommitting = true
            hasNewsForOthers = true
            requests.append(Request("COMMIT"))
            _ = try connection.pipeline(requests)
            committedNumber = number
            counters.count(rows: saves.reduce(0) { $0 + $1.rowCount })
        } catch {
            // The answer that the server is shutting down does not show the outcome of a commit that waited for another server.
            if isCommitting, error.isLoss {
                unsettled = Unsettled(number: number, saves: Set(saves.map(\.number)))
                giveUpConnection()
                if try settle(patience: opening.options.settlingPatience) { return }
                throw error
            }
            if connection.isUsable { try? connection.run("ROLLBACK") } else { giveUpConnection() }
            if error.isLoss { try rejoin() }
            throw error
        }
    }

    /// Members that join may have forgotten one that was silent for long.
    ///
    /// - Throws: `storeReset` if it cannot continue.
    func rejoin() throws(DataSourceError) {
        guard let connection, connection.isUsable else { return }
        try Members(connection, schema).beat(membership)
        try Members(connection, schema).markSaves(membership)
        try checkKeys(connection)
        try checkHistory(connection)
    }

    // MARK: Position and leases

    /// The statements that mark a transaction, take that many positions, and read the epochs of the leases.
    func placing(_ count: Int, _ number: Int64) -> [Request] {
        [
            Request(
                """
                UPDATE \(schema.term(PostgreSQLSchema.saves)) SET saved = $3, made = clock_timestamp() \
                WHERE member = $1 AND token = $2 AND refused < $3 AND keys >= $4 AND saved >= $5
                """, membership.values + [WireValue(number), WireValue(keys.bound), WireValue(committedNumber)]),
            Request(
                "UPDATE \(schema.term(PostgreSQLSchema.feed)) SET position = position + $1 RETURNING position",
                [WireValue(Int64(count))]),
            epochsRequest,
        ]
    }

    /// - Returns: The position of the first save, and the epochs of this member's leases, by entity.
    func place(
        _ results: [QueryResult], _ count: Int
    ) throws(DataSourceError) -> (position: Int64, epochs: [Int: Int64]) {
        guard results[0].changedRows == 1 else {
            isForgotten = true
            throw DataSourceError(goneMemberOf: opening.options.name)
        }
        guard results[1].rowCount == 1 else { throw DataSourceError(damagedSharing: opening.options.name) }
        return (results[1].integer(0, 0) - Int64(count) + 1, epochs(results[2]))
    }

    var epochsRequest: Request {
        Request(
            "SELECT entity, epoch FROM \(schema.term(PostgreSQLSchema.leases)) WHERE holder = $1",
            [WireValue(membership.member.number)])
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

    /// - Throws: `leaseLost` if others have got a lease that the save was made under, or keys that it uses.
    func check(_ changes: ChangeSet, _ epochs: [Int: Int64]) throws(DataSourceError) {
        try checkKeys(changes)
        try changes.checkLeases(epochs, schema.layout)
    }

    // MARK: The feed

    /// The statements that note the changes of saves for followers.
    func note(_ saves: [ChangeSet], from first: Int64) -> [Request] {
        let notes = saves.enumerated().map { place, set in
            let words = encoding.words(set)
            let names = set.entities.map { schema.layout.entities[$0.entity].name }
            return SaveNote(
                position: first + Int64(place), entities: names.joined(separator: "\n"),
                bytes: words.map { words in words.withUnsafeBytes { Array($0) } })
        }
        var requests: [Request] = []
        var (start, size) = (0, 0)
        for (place, note) in notes.enumerated() {
            size += note.bytes?.count ?? 0
            guard size >= Writer.noteLimit || place == notes.count - 1 else { continue }
            requests.append(request(notes[start...place]))
            (start, size) = (place + 1, 0)
        }
        return requests
    }

    /// The changes of a save, as followers read them.
    private struct SaveNote {
        let position: Int64
        /// The names of the entities, for a save that is too large to note its rows.
        let entities: String
        let bytes: [UInt8]?
    }

    /// About how many bytes of notes one statement may have.
    private static let noteLimit = 4 << 20

    private func request(_ notes: ArraySlice<SaveNote>) -> Request {
        var names = WireBuffer(.text, count: notes.count)
        var bytes = WireBuffer(.blob, count: notes.count)
        for note in notes {
            names.append(note.bytes == nil ? Array(note.entities.utf8) : nil)
            bytes.append(note.bytes)
        }
        return Request(
            """
            INSERT INTO \(schema.term(PostgreSQLSchema.changes)) \
            SELECT position, $2::bigint, clock_timestamp(), size, names, bytes \
            FROM unnest($1::bigint[], $3::bigint[], $4::text[], $5::bytea[]) AS saves(position, size, names, bytes)
            """,
            [
                WireValue(notes.map(\.position)), WireValue(membership.member.number),
                WireValue(notes.map { Int64($0.bytes?.count ?? 0) }), WireValue(names), WireValue(bytes),
            ])
    }

    /// The statements that forget saves that are too old, or too many. Members that have not read them reload.
    func forgetting(
        _ position: Int64, _ saves: [ChangeSet], _ notes: [Request], _ connection: Connection
    ) throws(DataSourceError) -> [Request] {
        notedSaves += saves.count
        for request in notes { notedBytes += Int64(request.parameters.last?.bytes?.count ?? 0) }
        guard notedSaves >= PostgreSQLSchema.saveLimit / 4 || notedBytes >= Writer.sizeLimit / 4 else { return [] }
        (notedSaves, notedBytes) = (0, 0)
        let changes = schema.term(PostgreSQLSchema.changes)
        let found = try connection.rows(
            """
            SELECT greatest((SELECT max(position) FROM (SELECT position, sum(size) OVER (ORDER BY position DESC) AS total \
            FROM \(changes)) sizes WHERE total > \(Writer.sizeLimit)), \
            (SELECT max(position) FROM \(changes) WHERE made < clock_timestamp() - interval '\(Writer.ageLimit)'), 0)
            """)
        let bound = max(found.integer(0, 0), position - Int64(PostgreSQLSchema.saveLimit))
        return [
            Request("DELETE FROM \(changes) WHERE position <= $1", [WireValue(bound)]),
            Request(
                "UPDATE \(schema.term(PostgreSQLSchema.feed)) SET lowest = greatest(lowest, $1::bigint + 1)",
                [WireValue(bound)]),
        ]
    }
}

extension DataSourceError {
    /// Whether the server has ended a transaction in favour of another one, so that it can be tried again.
    var isConflict: Bool {
        code == .storeBusy && (cause?.contains("40001") == true || cause?.contains("40P01") == true)
    }
}
#endif
