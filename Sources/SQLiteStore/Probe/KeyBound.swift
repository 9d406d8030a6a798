internal import RowStore

/// The first key that no row ever had, from the store's metadata and from its rows.
package enum KeyBound {
    /// No store has used that many keys: at a million a second it takes 146,000 years.
    package static let limit: Int64 = 1 << 62

    /// The bound to continue from.
    ///
    /// A bound at or below the highest key would give keys twice. One above the limit is damage, and would leave too few keys.
    package static func checked(_ stored: Int64, highestKey: Int64) -> Int64 {
        let (next, isOverflow) = highestKey.addingReportingOverflow(1)
        let lowest = isOverflow ? Int64.max : next
        return stored > limit || stored < lowest ? lowest : stored
    }
}

extension Connection {
    /// Compares the store's bound with the highest keys of its tables, and corrects it. Each table takes one look at the end of
    /// its tree.
    func checkKeys(_ metadata: StoreMetadata, _ schema: StoreSchema) throws(DataSourceError) -> StoreMetadata {
        // Waits for a commit of a process that lost the lock in the middle of it. That process makes no other.
        try transaction { () throws(DataSourceError) in }
        guard case .integer(let stored) = try values(StoreMetadata.selectFirstFreeKeySQL).first?.first else {
            return metadata
        }
        var metadata = metadata
        metadata.firstFreeKey = KeyBound.checked(stored, highestKey: try highestKey(schema))
        if metadata.firstFreeKey != stored {
            _ = try values(StoreMetadata.setFirstFreeKeySQL, [.integer(metadata.firstFreeKey)])
        }
        return metadata
    }

    /// The highest key of the rows of all tables.
    func highestKey(_ schema: StoreSchema) throws(DataSourceError) -> Int64 {
        var highest: Int64 = 0
        for table in schema.tables.lazy.compactMap(\.self) { highest = max(highest, try highestKey(table)) }
        return highest
    }

    /// 0 for a table without rows, and for a damaged table, because the rest of the store can still be used.
    private func highestKey(_ table: EntityTable) throws(DataSourceError) -> Int64 {
        do throws(DataSourceError) {
            let rows = try values("SELECT max(\(EntityTable.quotedKey)) FROM \(table.name.quoted)")
            if case .integer(let key) = rows.first?.first { return key }
        } catch  where error.code == .storeCorrupt {}
        return 0
    }
}
