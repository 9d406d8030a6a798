internal import RowStore

/// A row that a list shows, or has shown until now.
struct ReportedRow {
    /// As the list has it, or had it last.
    let row: ListedRow
    /// What the list knows of it.
    let newest: NetChanges.Newest

    /// A row that the list shows.
    init(_ row: ListedRow) { (self.row, newest) = (row, .row(row)) }

    /// A row that has left a list, and may have changed since.
    init(unknown row: ListedRow) { (self.row, newest) = (row, .unknown) }

    /// - Parameter change: What has happened to a row that the list does not show any more; nil if nothing has, and a limit hides it.
    init(leaving row: ListedRow, _ change: NetChanges.Change?) {
        (self.row, newest) = (row, change?.newest ?? .row(row))
    }
}

/// The objects of main for rows of lists.
extension MainTier {
    func hasRelationships(_ entity: Int) -> Bool { !stack.layout.entities[entity].relationships.isEmpty }

    /// The objects of rows, in their order.
    ///
    /// Each is the object that main has. Main makes one from a row of the list only if the list is not behind, so that the row is
    /// the newest one that main knows; otherwise from the row that the store has now. All rows that are missing are read together.
    ///
    /// - Parameters:
    ///   - number: The save that the rows belong to.
    ///   - isBehind: Whether main has merged newer saves than the list.
    /// - Returns: The objects, and whether all rows could be read. An object whose row could not be read has the values that the
    ///   list shows.
    func objects(
        _ rows: [ReportedRow], asOf number: Int64, isBehind: Bool
    ) -> (objects: [ManagedObject], isComplete: Bool) {
        let known = rows.map { knownObject($0, asOf: number, isBehind: isBehind) }
        if known.allSatisfy({ $0 != nil }) { return (known.compactMap(\.self), true) }
        var missing: [Int: [Int64]] = [:]
        for (row, object) in zip(rows, known) where object == nil {
            missing[row.row.entity, default: []].append(row.row.key)
        }
        var unread: Set<Int> = []
        for (entity, keys) in missing {
            do throws(DataSourceError) { try register(keys, entity) } catch {
                unread.insert(entity)
                context.noteReadFailure(error)
            }
        }
        let objects = zip(rows, known).map { row, object in
            object ?? context.bindings[row.row.entity].objects[row.row.key]
                ?? detachedObjects.object(row.row, unread.contains(row.row.entity) ? .saved : .gone)
        }
        return (objects, unread.isEmpty)
    }

    /// The object of a row, if no row has to be read for it.
    private func knownObject(_ row: ReportedRow, asOf number: Int64, isBehind: Bool) -> ManagedObject? {
        let binding = context.bindings[row.row.entity]
        if !isBehind, case .row(let newest) = row.newest {
            return context.object(newest.stored, binding, asOf: number)
        }
        if let object = binding.objects[row.row.key] ?? deletedObjects[row.row.key] { return object }
        if !isBehind, case .deleted = row.newest { return detachedObjects.object(row.row, .gone) }
        return nil
    }

    /// Registers the objects of the rows that the store has now.
    private func register(_ keys: [Int64], _ entity: Int) throws(DataSourceError) {
        let binding = context.bindings[entity]
        try stack.root.rows.forEachRow(entity: entity, keys: keys, leavingValuesApart: true) { key, row, asOf in
            if let row { _ = context.object(StoredRow(key: key, row: row), binding, asOf: asOf) }
        }
    }
}
