internal import RowStore

extension PrivateContext {
    /// Deletes every object that this context owns.
    ///
    /// - Parameter source: The data source of the context.
    func deleteAllOwned(from source: SaveSource) throws {
        let owned = bindings.filter { $0.isOwned && !$0.layout.isAbstract && $0.layout.links == nil }.map(\.layout)
        guard let first = owned.first else { return }
        var all = FetchPlan(RowQuery(entity: first.index))
        all.family = owned.map(\.index)
        // Related objects must be looked at one by one.
        if owned.allSatisfy(\.relationships.isEmpty) {
            switch try deleteRows(all, checkCancellation) {
            case .rows: return
            case .tooManyRows:
                _ = try makeInStore(all, nil, from: source)
                return
            case .objects: break
            }
        }
        for layout in owned {
            let plan = FetchPlan(RowQuery(entity: layout.index))
            if layout.relationships.isEmpty, try deleteRows(plan, checkCancellation) == .rows { continue }
            let objects = try reading { () throws(DataSourceError) in try unsortedObjects(plan) }
            for (index, object) in objects.enumerated() {
                try checkCancellation(index)
                delete(object)
            }
        }
    }
}
