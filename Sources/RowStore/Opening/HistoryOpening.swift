/// How the history of a custom store is opened.
struct HistoryOpening: Sendable {
    let layout: ModelLayout
    let choice: KeptHistory.Choice
    /// The stored value of the history; nil if the store has no history.
    let stored: StoredHistory?
    /// The name of the container; nil for the name of the program.
    let name: String?
    let isReadOnly: Bool

    /// The limits of the history that the store keeps from now on; nil for no history.
    var limits: KeptHistory.Limits? {
        switch choice {
        case .unchanged: stored?.limits
        case .none: nil
        case .kept(let limits): limits
        }
    }
}

extension StartupPlan {
    /// Opens the history of a ``HistoryStore``, as the container's `Configuration.history` says.
    ///
    /// ```swift
    /// let plan = try options.plan(for: found, history: storedHistory)
    /// let (history, change) = try plan.openHistory(storedRecords)
    /// ```
    ///
    /// If rows are dropped, the old history ends, and a new one begins.
    ///
    /// **Complexity**: O(*n*) for *n* records.
    ///
    /// - Parameter records: All stored records, in any order.
    /// - Returns: The history; nil if the store keeps none. Also the change of the history that the store must write when the
    ///   store carries out the plan; nil if nothing changes.
    /// - Throws: `storeCorrupt` if a record is missing or damaged; `historyNotKept` if the plan was made by
    ///   ``StoreOptions/plan(for:)``. If the call throws, the store must stay unchanged.
    public func openHistory(
        _ records: [CodableRecord]
    ) throws(DataSourceError) -> (history: InMemoryHistory?, change: StoredHistoryChange?) {
        guard let opening = historyOpening else { throw DataSourceError.historyNotKept }
        let numbers = records.map(\.number)
        let removed = numbers.min().flatMap { first in numbers.max().map { first...$0 } }
        guard let limits = opening.limits else {
            if opening.stored == nil, records.isEmpty { return (nil, nil) }
            return (nil, StoredHistoryChange(removed: removed, added: [], stored: nil))
        }
        guard let stored = opening.stored else {
            var new = MemoryHistory(opening.layout, limits, name: opening.name)
            if reason != .firstLaunch { new.begin(StoredRecord.begun) }
            let history = InMemoryHistory(opening.layout, new, layouts: [:])
            return (history, StoredHistoryChange(removed: removed, added: history.records, stored: history.stored))
        }
        let isEnded = !keepsRows || !droppedEntities.isEmpty
        let decoded = try isEnded ? [] : opening.decode(records, stored)
        var kept = MemoryHistory(opening.layout, limits, name: opening.name, stored: stored, records: decoded)
        if isEnded { kept.end("The rows of the store, or of a data source, were dropped at a start.") }
        let history = InMemoryHistory(opening.layout, kept, layouts: isEnded ? [:] : stored.layouts)
        let new = history.stored
        guard isEnded || new != stored, !opening.isReadOnly else { return (history, nil) }
        return (
            history,
            StoredHistoryChange(removed: isEnded ? removed : nil, added: isEnded ? history.records : [], stored: new)
        )
    }
}

extension HistoryOpening {
    fileprivate func decode(
        _ records: [CodableRecord], _ stored: StoredHistory
    ) throws(DataSourceError) -> [StoredRecord] {
        let encoding = HistoryEncoding(layout)
        var names: [UInt64: HistoryNames] = [:]
        for (signature, text) in stored.layouts {
            if let signature = UInt64(signature, radix: 16) { names[signature] = HistoryNames(text: text) }
        }
        var decoded: [StoredRecord] = []
        for record in records.sorted(by: { $0.number < $1.number }) {
            let isNext = decoded.last.map { $0.number + 1 == record.number } ?? (record.number > 0)
            guard isNext, record.number < Int64.max, let record = record.decoded(encoding, names) else {
                throw DataSourceError(
                    .storeCorrupt,
                    "Record \(record.number) of the history is damaged, or the record before it is missing. Restore the store from a copy, or open it with Configuration.history = .none, which drops the history."
                )
            }
            decoded.append(record)
        }
        return decoded
    }
}
