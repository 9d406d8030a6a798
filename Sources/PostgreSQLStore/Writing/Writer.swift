#if PostgreSQL
    internal import RowStore

    /// Writes change sets, one transaction for a group, over a connection of its own.
    ///
    /// The statements of a transaction come in this order: the rows; then the mark of this member's transaction, by which a lost
    /// answer is settled; then the position, whose row stays locked to the end, so that positions are in the order of the commits;
    /// and under that lock, in a statement of its own, the epochs of the leases. A takeover locks the same row first.
    final class Writer {
        private let opening: StoreOpening
        private let schema: PostgreSQLSchema
        private let entry: Registry.Entry
        private let member: StoreMember
        private let encoding: ChangeEncoding
        private let counters: PostgreSQLCounters
        /// Nil while the server cannot be reached.
        private var connection: Connection?
        /// The number of this member's newest transaction.
        private var transactionNumber: Int64 = 0
        /// A transaction of which nobody knows whether it was committed, and the server's process that had it.
        private var unsettled: Unsettled?
        /// The saves of a transaction that was said to be unknown, and turned out to be committed.
        private var landed: Set<Int64> = []
        /// Whether a transaction was given up as unknown, so that everybody has to read anew once it is settled.
        private var hasNews = false
        /// What was noted since old saves were last forgotten. A member looks with its first save: it may make few.
        private var notedSaves = Writer.saveLimit / 4

        private struct Unsettled {
            let number: Int64
            /// The server's process that had it.
            let serverProcess: Int32
            let saves: Set<Int64>
        }

        /// The most saves and bytes that are kept for members who are behind.
        private static let saveLimit = 4096
        private static let sizeLimit: Int64 = 16 << 20
        private static let ageLimit = "10 minutes"
        /// How often a transaction is tried that the server has ended for the sake of another one.
        private static let attempts = 8
        /// How long the outcome of a transaction is asked for whose answer was lost.
        private static let settlingPatience = Duration.seconds(30)

        init(_ opening: StoreOpening, _ opened: StoreOpening.Result, _ counters: PostgreSQLCounters) {
            self.opening = opening
            schema = opened.schema
            entry = opened.entry
            member = opened.member
            connection = opened.connection
            encoding = ChangeEncoding(opened.schema.layout)
            self.counters = counters
        }

        func close() {
            if let connection, connection.isUsable { try? leave(connection) }
            connection?.close()
            connection = nil
        }

        private func leave(_ connection: Connection) throws(DataSourceError) {
            try connection.transaction { () throws(DataSourceError) in
                _ = try connection.rows(
                    "UPDATE \(schema.term(PostgreSQLSchema.leases)) SET holder = NULL WHERE holder = $1",
                    [WireValue(member.number)])
                try connection.run("UPDATE \(schema.term(PostgreSQLSchema.feed)) SET leases = leases + 1")
                try Members(connection, schema).remove(member.number)
                try connection.run(notifySQL)
            }
        }

        /// The connection; made anew where it was lost.
        private func connected() throws(DataSourceError) -> Connection {
            if let connection, connection.isUsable { return connection }
            let made = try Connection(opening.options.target)
            try opening.settleWriter(made)
            connection = made
            return made
        }

        private var notifySQL: String { "SELECT pg_notify(\(schema.channel.quotedText), '')" }

        // MARK: Saves

        func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome {
            try settle(patience: .zero)
            // What was tried again after all is there already.
            let group = group.map { landed.contains($0.number) ? ChangeSet(landed: $0) : $0 }
            guard group.contains(where: { !$0.isEmpty }) else { return outcome([:]) }
            var refused: [Int: DataSourceError] = [:]
            do throws(DataSourceError) {
                try transaction { (connection) throws(DataSourceError) in
                    try write(group, connection)
                    return group.indices.filter { !group[$0].isEmpty }.map { group[$0] }
                }
            } catch {
                guard error.isOfOneSave else { throw error }
                refused = try group.count == 1 ? [0: error] : commitOneByOne(group)
            }
            return outcome(refused)
        }

        private func outcome(_ refused: [Int: DataSourceError]) -> CommitOutcome {
            defer { (hasNews, landed) = (false, []) }
            return CommitOutcome(refused: refused, foundOutsideWrites: hasNews)
        }

        private func write(_ group: [ChangeSet], _ connection: Connection) throws(DataSourceError) {
            var rows = RowWriter(connection, schema)
            for set in group { try rows.write(set) }
            try rows.finish()
        }

        /// Writes what can be written of a group of which something cannot.
        ///
        /// - Returns: Why the others were refused, by their places.
        private func commitOneByOne(_ group: [ChangeSet]) throws(DataSourceError) -> [Int: DataSourceError] {
            var refusals = Refusals()
            try transaction { (connection) throws(DataSourceError) in
                refusals = Refusals()
                // Nobody takes a lease over while that row is locked.
                try connection.run("SELECT 1 FROM \(schema.term(PostgreSQLSchema.feed)) FOR UPDATE")
                let epochs = try epochs(connection)
                for (place, set) in group.enumerated() where !refusals.refusesDependent(set, at: place) {
                    try connection.run("SAVEPOINT one_save")
                    do throws(DataSourceError) {
                        try check(set, epochs)
                        try write([set], connection)
                        try connection.run("RELEASE one_save")
                    } catch {
                        guard error.isOfOneSave, connection.isUsable else { throw error }
                        try connection.run("ROLLBACK TO one_save")
                        refusals.refuse(set, at: place, error)
                    }
                }
                return group.indices.filter { refusals.errors[$0] == nil && !group[$0].isEmpty }.map { group[$0] }
            }
            return refusals.errors
        }

        /// Runs the body in a transaction, again if the server has ended it for the sake of another one.
        ///
        /// - Parameter body: Writes rows, and returns the saves that were written.
        private func transaction(
            _ body: (Connection) throws(DataSourceError) -> [ChangeSet]
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

        private func transactionOnce(
            _ body: (Connection) throws(DataSourceError) -> [ChangeSet]
        ) throws(DataSourceError) {
            let connection = try connected()
            transactionNumber += 1
            let number = transactionNumber
            var saves: [ChangeSet] = []
            var isCommitting = false
            do throws(DataSourceError) {
                try connection.run("BEGIN")
                saves = try body(connection)
                let position = try takePosition(saves.count, number, connection)
                let epochs = try epochs(connection)
                for set in saves { try check(set, epochs) }
                var requests = note(saves, from: position)
                requests += try forgetting(position + Int64(saves.count) - 1, saves.count, connection)
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
                    if try settle(patience: Writer.settlingPatience) { return }
                    throw error
                }
                if connection.isUsable { try? connection.run("ROLLBACK") } else { self.connection = nil }
                if error.isLoss { rejoin() }
                throw error
            }
        }

        /// Those who come may have forgotten a member that was silent for long.
        private func rejoin() {
            if let connection, connection.isUsable { try? Members(connection, schema).add(member) }
        }

        // MARK: Position and leases

        /// - Returns: The position of the first of so many saves.
        private func takePosition(
            _ count: Int, _ number: Int64, _ connection: Connection
        ) throws(DataSourceError) -> Int64 {
            let results = try connection.pipeline([
                Request(
                    """
                    UPDATE \(schema.term(PostgreSQLSchema.members)) SET saved = $2 WHERE number = $1 AND refused < $2
                    """, [WireValue(member.number), WireValue(number)]),
                Request(
                    "UPDATE \(schema.term(PostgreSQLSchema.feed)) SET position = position + $1 RETURNING position",
                    [WireValue(Int64(count))]),
            ])
            guard results[0].changedRows == 1 else { throw DataSourceError(goneMemberOf: opening.options.name) }
            guard results[1].rowCount == 1 else { throw DataSourceError(damagedSharing: opening.options.name) }
            return results[1].integer(0, 0) - Int64(count) + 1
        }

        /// The epochs of the leases that this member has, by entity.
        private func epochs(_ connection: Connection) throws(DataSourceError) -> [Int: Int64] {
            let found = try connection.rows(
                "SELECT entity, epoch FROM \(schema.term(PostgreSQLSchema.leases)) WHERE holder = $1",
                [WireValue(member.number)])
            var epochs: [Int: Int64] = [:]
            for row in 0..<found.rowCount {
                if let entity = schema.layout.entity(named: found.text(row, 0)) {
                    epochs[entity.index] = found.integer(row, 1)
                }
            }
            return epochs
        }

        /// - Throws: `leaseLost` if somebody else has got a lease that the save was made under.
        private func check(_ changes: ChangeSet, _ epochs: [Int: Int64]) throws(DataSourceError) {
            guard let lost = changes.leases.first(where: { epochs[$0.entity] != $0.epoch }) else { return }
            let name = schema.layout.entities[lost.entity].name
            throw DataSourceError(
                .leaseLost,
                "This process was stopped, or did not answer, for so long that another process has taken \(name) over. Saves "
                    + "that were not in the store yet are refused. Save again.", entityName: name)
        }

        // MARK: The feed

        /// The statements that note what saves have changed.
        private func note(_ saves: [ChangeSet], from first: Int64) -> [Request] {
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
        private func forgetting(
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
                    "UPDATE \(schema.term(PostgreSQLSchema.feed)) SET lowest = greatest(lowest, $1 + 1)",
                    [WireValue(bound)]),
            ]
        }

        // MARK: Lost answers

        /// Finds out what became of a transaction whose answer was lost.
        ///
        /// The server's process that had it is ended, and then the transaction is refused on a new connection. That waits for the
        /// old one, so that one of both wins, and only then is it said that nothing was written.
        ///
        /// - Parameter patience: How long the server is asked; zero for a later save, which is then not written.
        /// - Returns: Whether it was committed; false if there is nothing to settle.
        /// - Throws: `outcomeUnknown` if the server cannot be asked in time. The next save asks again.
        @discardableResult
        private func settle(patience: Duration) throws(DataSourceError) -> Bool {
            guard let open = unsettled else { return false }
            let end = ContinuousClock.now + patience
            var pause = Duration.milliseconds(20)
            while true {
                do throws(DataSourceError) {
                    let isWritten = try refuse(open)
                    unsettled = nil
                    if isWritten, patience == .zero { landed = open.saves }
                    return isWritten
                } catch {
                    if let connection, !connection.isUsable { self.connection = nil }
                    guard ContinuousClock.now + pause < end, error.isLoss || error.code == .storeBusy else {
                        if patience == .zero { throw error }
                        hasNews = true
                        throw DataSourceError(
                            .outcomeUnknown,
                            "The connection to the server was lost while a save was committed, and the server could not be asked "
                                + "since. The save may be there or not. The next save finds out.",
                            cause: error.description)
                    }
                }
                opening.options.wait(pause)
                pause = min(pause * 2, .seconds(1))
            }
        }

        private func refuse(_ open: Unsettled) throws(DataSourceError) -> Bool {
            let connection = try connected()
            if open.serverProcess != connection.serverProcess {
                // One's own processes can be ended. Another one may have got the number meanwhile, but not with that lock.
                _ = try connection.rows(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1::bigint::integer \
                    AND usename = current_user AND datname = current_database() AND state LIKE 'idle in transaction%'
                    """, [WireValue(Int64(open.serverProcess))])
            }
            let settled = try connection.rows(
                """
                UPDATE \(schema.term(PostgreSQLSchema.members)) SET refused = greatest(refused, $2) WHERE number = $1 \
                RETURNING saved >= $2
                """, [WireValue(member.number), WireValue(open.number)])
            guard settled.rowCount == 1 else { throw DataSourceError(goneMemberOf: opening.options.name) }
            return settled.isTrue(0, 0)
        }

        /// The error for those who work on a generation that is gone; nil if the registry still names it.
        private func resetElsewhere() throws(DataSourceError) -> DataSourceError? {
            let found = try Registry(connection: connected()).entry(opening.options.name)
            return found == entry ? nil : DataSourceError(resetElsewhere: opening.options.name)
        }

        // MARK: Keys and leases

        /// Keys that no other member gives.
        func reserveKeys(_ count: Int64) throws(DataSourceError) -> Range<Int64> {
            let connection = try connected()
            let highest = schema.tables.compactMap { $0?.name }.map { name in
                "(SELECT max(\(PostgreSQLTable.keyName.quoted)) FROM \(name))"
            }
            // Greater than what another program has inserted, too.
            let bound = (["next"] + highest.map { "least(\($0), $2 - 1) + 1" }).joined(separator: ", ")
            let reserved = try connection.rows(
                """
                UPDATE \(schema.term(PostgreSQLSchema.keys)) SET next = least(greatest(\(bound)), $2 - $1) + $1 RETURNING next
                """, [WireValue(count), WireValue(Int64.max)])
            guard reserved.rowCount == 1 else { throw DataSourceError(damagedSharing: opening.options.name) }
            let end = reserved.integer(0, 0)
            return end - count..<end
        }

        /// Changes the desk of leases in one transaction, and calls the others.
        func changeLeases(_ change: (inout LeaseDesk, LeaseFacts) -> Void) throws(DataSourceError) -> LeaseTable {
            let connection = try connected()
            do throws(DataSourceError) {
                return try connection.transaction { () throws(DataSourceError) in
                    try connection.run("SELECT 1 FROM \(schema.term(PostgreSQLSchema.feed)) FOR UPDATE")
                    let facts = try LeaseFacts(connection, schema)
                    var desk = facts.desk
                    change(&desk, facts)
                    if desk == facts.desk { return facts.table(desk, schema.layout, asSeenBy: member.number) }
                    try facts.write(desk, connection, schema)
                    try connection.run(notifySQL)
                    return facts.table(desk, schema.layout, asSeenBy: member.number, isChanged: true)
                }
            } catch {
                if !connection.isUsable { self.connection = nil }
                throw error
            }
        }

        // MARK: Resetting

        /// Puts an empty generation in the place of the one that is open.
        func reset() throws(DataSourceError) -> (StoreStartup, StoreOpening.Result) {
            try settle(patience: .zero)
            let connection = try connected()
            let registry = Registry(connection: connection)
            return try registry.holdingGate { () throws(DataSourceError) in
                guard let found = try registry.entry(opening.options.name), found == entry else {
                    throw DataSourceError(resetElsewhere: opening.options.name)
                }
                var startup = StoreStartup(reason: .requested)
                startup.rowsDropped = try opening.count(connection, found)
                let new = try opening.replace(registry, found, .requested, besides: member.number)
                return (startup, try opening.rejoin(connection, new, member))
            }
        }
    }

    extension DataSourceError {
        /// Whether the server has ended a transaction for the sake of another one. It can be tried again.
        fileprivate var isConflict: Bool {
            code == .storeBusy && (cause?.contains("40001") == true || cause?.contains("40P01") == true)
        }

        init(resetElsewhere name: String) {
            self.init(
                .storeReset,
                "Another process has reset the store \(name) while this one did not answer. Open it again.")
        }

        init(goneMemberOf name: String) {
            self.init(
                .storeUnavailable,
                "The store \(name) does not know this process any more, or has refused its save after a lost answer. It is tried again."
            )
        }
    }

    extension ChangeSet {
        /// One that was written already, so that nothing is left to write.
        fileprivate init(landed other: ChangeSet) {
            self = other
            entities = []
        }
    }
#endif
