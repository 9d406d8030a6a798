#if PostgreSQL
internal import RowStore

/// The records of a kept history that a writer makes.
struct ServerHistory {
    fileprivate let id: String
    /// The limits of the history, as this member last read them.
    fileprivate var limits: KeptHistory.Limits
    fileprivate let encoding: HistoryEncoding
    /// Whether the store has the names of the layout's entities and columns.
    fileprivate var hasNames = false
    fileprivate var schedule = TrimmingSchedule()
    /// The rows that were added since old records were last dropped.
    fileprivate var addedRows = 0
    /// The statement that drops old records. ``lastDrop`` has the largest number of rows that the last run of the statement
    /// was allowed to drop, and the time of that run.
    private let dropping: String
    private var lastDrop = (limit: 0, time: Int64(0))

    init(_ state: HistoryReader.State, _ schema: PostgreSQLSchema) {
        (id, limits) = (state.id, state.limits)
        encoding = HistoryEncoding(schema.layout)
        dropping = schema.droppingRecords(atMost: "$1::bigint")
    }

    /// The request that drops old records in this transaction; nil if none is due yet.
    fileprivate mutating func dropRequest() -> Request? {
        let now = TrimmingSchedule.now
        guard schedule.isDue(at: now, limits) else { return nil }
        lastDrop = (max(ServerHistory.rowLimit, 2 * addedRows), now)
        return Request(dropping, [WireValue(Int64(lastDrop.limit))])
    }

    /// Called after a commit.
    ///
    /// - Parameters:
    ///   - requests: The last requests of the transaction.
    ///   - results: Their results.
    ///   - check: The result with the limits of the store in its columns from the third on.
    mutating func didCommit(_ requests: [Request], _ results: [QueryResult], _ check: QueryResult) {
        hasNames = true
        for (request, result) in zip(requests, results) where request.sql == dropping {
            schedule.didLook(at: lastDrop.time, isBehind: result.changedRows >= lastDrop.limit)
            addedRows = 0
        }
        guard check.rowCount == 1, let bytes = check.optionalInteger(0, 2), bytes > 0,
            let seconds = check.optionalInteger(0, 3), (1..<1 << 40).contains(seconds)
        else { return }
        follow(KeptHistory.Limits(seconds: seconds, bytes: bytes))
    }

    /// Takes over the limits of the store. If another member has lowered the limits, the next save drops old records.
    fileprivate mutating func follow(_ new: KeptHistory.Limits) {
        schedule.limitsChanged(from: limits, to: new)
        limits = new
    }

    /// Called for each new connection. If the old connection was lost, the server might have lost the commit that stored the
    /// names.
    mutating func didConnect() { hasNames = false }

    /// The largest size of a save whose values are recorded, in bytes. A larger save would need too much memory for its
    /// requests.
    fileprivate var largestSave: Int64 { min(limits.largestSave, 64 << 20) }
    /// The largest number of rows that a transaction drops, unless twice the number of added rows is larger.
    private static let rowLimit = 256
}

extension Writer {
    /// A condition as SQL, and the values of its parameters, which begin with number 4. The condition is true if
    /// another member has switched the history on or off since this member opened the store.
    var historySwitch: (sql: String, values: [WireValue]) {
        guard let history else { return (schema.keepsHistorySQL, []) }
        return (
            "NOT EXISTS (SELECT FROM \(schema.historyState) WHERE name = 'id' AND text = $4)", [WireValue(history.id)]
        )
    }

    /// Further columns with the byte limit and the time limit of the history, as SQL; empty without a history. Another member can
    /// have opened the store with other limits.
    var historyLimits: String {
        guard history != nil else { return "" }
        return ["bytes", "seconds"].map { ", (SELECT number FROM \(schema.historyState) WHERE name = '\($0)')" }
            .joined()
    }

    /// Reads the limits of the history again if a save might be too large for the known limits, because another member can
    /// have opened the store with other limits.
    func readHistoryLimits(before saves: [ChangeSet], _ connection: Connection) throws(DataSourceError) {
        let smallest = KeptHistory.Limits(seconds: 1, bytes: Int64(KeptHistory.Limits.leastBytes))
        guard history != nil, saves.contains(where: { Int64($0.byteCount) > smallest.largestSave }) else { return }
        // After another member has lowered the limits, this save drops old records.
        history?.follow(try HistoryReader(schema, connection).limits())
    }

    /// The requests that record saves in the history, with temporary negative numbers.
    func recordInHistory(_ saves: [ChangeSet], from first: Int64) -> [Request] {
        guard var history else { return [] }
        defer { self.history = history }
        var requests: [Request] = []
        var start: Int64 = 0
        for (index, set) in saves.enumerated() {
            record(set, number: first - Int64(index), &start, history, &requests)
        }
        history.schedule.add(bytes: start, records: saves.count)
        history.addedRows += requests.count
        return requests
    }

    private func record(
        _ set: ChangeSet, number: Int64, _ start: inout Int64, _ history: ServerHistory, _ requests: inout [Request]
    ) {
        let facts = set.facts ?? SaveFacts(.local, dataSourceName: nil, author: nil)
        let entities = history.encoding.entityNames(set).joined(separator: "\n")
        let member = membership.member
        func text(_ text: String?) -> WireValue { text.map { WireValue($0.filter { $0 != "\0" }) } ?? .null }
        func add(_ part: Int64, isLast: Bool, note: String?, _ words: ContiguousArray<UInt64>?, _ start: inout Int64) {
            let bytes = words.map { words in words.withUnsafeBytes { Array($0) } }
            let isFirst = part == 0
            let texts = [facts.dataSourceName, facts.author, member.name, entities, note]
            let textBytes = isFirst ? StoredRecord.byteCount(ofTexts: texts) : 0
            let size = Int64(StoredRecord.rowOverhead + (bytes?.count ?? 0) + textBytes)
            let head = [
                WireValue(number), WireValue(part), WireValue(start), WireValue(size), WireValue(Int64(isLast ? 1 : 0)),
            ]
            requests.append(
                Request(
                    """
                    INSERT INTO \(schema.history) VALUES ($1, $2, $3, $4, $5::bigint = 1, \(PostgreSQLSchema.historyTime), \
                    $6, $7, $8, $9, $10, $11, $12, $13, $14)
                    """,
                    head + [
                        text(isFirst ? facts.kindText : nil), text(isFirst ? facts.dataSourceName : nil),
                        text(isFirst ? facts.author : nil), WireValue(member.number),
                        WireValue(Int64(member.processID)), text(isFirst ? member.name : nil),
                        text(isFirst ? entities : nil), text(note), WireValue(bytes: bytes),
                    ]))
            start += size
        }
        if Int64(history.encoding.byteCount(set)) > history.largestSave {
            return add(0, isLast: true, note: StoredRecord.tooLarge, nil, &start)
        }
        var part: Int64 = 0
        history.encoding.forEachPart(of: set) { words, isLast in
            add(part, isLast: isLast, note: nil, words, &start)
            part += 1
        }
    }

    /// The requests that write the names of the layout, give the records of a transaction their numbers, and drop old
    /// records. The transaction must have locked the feed.
    func placeInHistory(_ count: Int, from first: Int64) -> [Request] {
        guard var history else { return [] }
        var requests: [Request] = []
        if !history.hasNames {
            // The transaction has locked the feed, so no other member is inserting the same names.
            requests.append(
                Request(
                    "INSERT INTO \(schema.historyState) VALUES ($1, NULL, $2) ON CONFLICT DO NOTHING",
                    [
                        WireValue(HistoryEncoding.namesKey(history.encoding.signature)),
                        WireValue(history.encoding.names.text),
                    ]))
        }
        guard count > 0 else { return requests }
        let end = schema.historyEnd
        requests.append(
            Request(
                """
                UPDATE \(schema.history) SET number = base.number + 1 + ($2::bigint - \(schema.history).number), \
                start = base.bytes + start FROM (SELECT \(end.number) AS number, \(end.bytes) AS bytes) base \
                WHERE \(schema.history).number BETWEEN $2::bigint - $1::bigint + 1 AND $2::bigint
                """, [WireValue(Int64(count)), WireValue(first)]))
        if let request = history.dropRequest() { requests.append(request) }
        self.history = history
        return requests
    }
}
#endif
