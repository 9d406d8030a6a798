internal import RowStore

extension PrivateContext {
    /// Deletes every object that this context owns.
    func deleteAllOwned() throws {
        for binding in bindings where binding.isOwned && !binding.layout.isAbstract && binding.layout.links == nil {
            let plan = FetchPlan(RowQuery(entity: binding.layout.index))
            // Related objects must be looked at one by one.
            if binding.layout.relationships.isEmpty, try deleteRows(plan, checkCancellation) { continue }
            let objects = try reading { () throws(DataSourceError) in try unsortedObjects(plan) }
            for (index, object) in objects.enumerated() {
                try checkCancellation(index)
                delete(object)
            }
        }
    }
}
