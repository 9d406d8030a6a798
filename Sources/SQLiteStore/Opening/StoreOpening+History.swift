internal import RowStore

/// Switching a kept history on and off.
extension StoreOpening {
    /// Begins, keeps or drops the history of an existing store, as the options say.
    func settleHistory(_ result: Result) throws(DataSourceError) -> Result {
        var metadata = result.metadata
        if options.history == .unchanged { return result }
        metadata.keepsHistory = try result.connection.transaction { () throws(DataSourceError) in
            try settleHistory(result.connection, result.metadata, isNew: false)
        }
        return Result(connection: result.connection, metadata: metadata, startup: result.startup)
    }

    /// Begins, keeps or drops the history of a store, as the options say. Must run in a transaction.
    ///
    /// - Parameter isNew: Whether the store is new, and replaces no other store. In any other store, the first record of a
    ///   new history tells consumers of earlier histories to read all objects.
    /// - Returns: Whether the store keeps a history.
    func settleHistory(
        _ connection: Connection, _ metadata: StoreMetadata, isNew: Bool
    ) throws(DataSourceError) -> Bool {
        let keeps = try HistoryTables.settle(connection, options.history, metadata, replacing: ended)
        if keeps { try HistoryTables.check(schema) }
        if keeps, !metadata.keepsHistory, !isNew {
            let note = replacesStore ? StoreOpening.resetNote : StoredRecord.begun
            try HistoryWriter.note(.reset, note, on: connection, schema.layout)
        }
        return keeps
    }

    /// The history of a store that will be replaced; nil if the store keeps none, or if its history cannot be read.
    func endedHistory(
        _ connection: Connection, _ reason: StoreStartup.Reason
    ) throws(DataSourceError) -> HistoryTables.EndedHistory? {
        do throws(DataSourceError) {
            guard StoreMetadata.metadata(in: try StoreProbe(connection).found())?.keepsHistory == true else {
                return nil
            }
            return try HistoryTables.EndedHistory(connection, reason: StoreOpening.sentence(reason))
        } catch  where error.code == .storeCorrupt {
            return nil
        }
    }

    static let resetNote = "The store was reset."

    private static func sentence(_ reason: StoreStartup.Reason) -> String {
        let summary = reason.summary
        return summary.isEmpty ? resetNote : "The store was reset, because \(summary)."
    }

    /// The history limits in the options, for a member that joins the store; nil if the options have none, or if the store
    /// keeps no history.
    func historyLimits(_ opened: Result) -> KeptHistory.Limits? {
        guard opened.metadata.keepsHistory, case .kept(let limits) = options.history.choice else { return nil }
        return limits
    }

    /// Checks that the store, which other members have open, keeps a history or keeps none, as the options say.
    ///
    /// - Throws: `storeInUse`, with the names of the other members, if the store would have to be changed.
    func requireSameHistory(
        _ metadata: StoreMetadata, _ others: () throws(DataSourceError) -> [StoreMember]
    ) throws(DataSourceError) {
        let isSame =
            switch options.history.choice {
            case .unchanged: true
            case .none: !metadata.keepsHistory
            case .kept: metadata.keepsHistory
            }
        if isSame { return }
        let change = metadata.keepsHistory ? "opened without its history" : "opened with a history"
        throw DataSourceError(files.main, openIn: try others(), cannotBe: change)
    }
}
