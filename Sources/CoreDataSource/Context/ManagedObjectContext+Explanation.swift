internal import RowStore

extension ManagedObjectContext {
    /// How the store would find the objects of a request, and what is slow about it.
    ///
    /// - Throws: What ``fetch(_:)`` throws.
    public func explain<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> FetchExplanation {
        try reading(request) { () throws(DataSourceError) in try explanation(request) }
    }

    private func explanation<Object: ManagedObject>(
        _ request: FetchRequest<Object>
    ) throws(DataSourceError) -> FetchExplanation {
        var plan = try plan(request)
        plan.query.leavesValuesApart = leavesValuesApart && plan.tests == nil
        let layout = bindings[plan.query.entity].layout
        var explanation = FetchExplanation(sql: [], steps: [], warnings: [])
        for entity in plan.family {
            let query = plan.query.of(entity: entity)
            let found = try stack.root.store.read(.statement) { reader throws(DataSourceError) in
                try reader.explain(query)
            }
            if !found.statement.isEmpty { explanation.sql.append(found.statement) }
            explanation.steps += found.steps
            explanation.warnings += warnings(found.steps, plan, bindings[entity].layout)
            explainValuesApart(bindings[entity].layout, &explanation)
        }
        if editing == .inBatch, stack.root.store.isRemote, let wanted = plan.query.predicate.wantedValues(layout),
            wanted.values.count == 1
        {
            explanation.warnings.append(DataSourceDiagnostic(roundTripsFor: wanted.column, layout).message)
        }
        explainRelationships(request, plan.family, &explanation)
        if let reason = request.predicate?.needsObjects {
            explanation.warnings.append(
                "A part of the predicate is evaluated on every object that the rest of it finds (\(reason)). Limit and offset are applied after that."
            )
        }
        return explanation
    }

    private func warnings(_ steps: [String], _ plan: FetchPlan, _ layout: EntityLayout) -> [String] {
        var warnings: [String] = []
        let entity = layout.name
        let isScan = steps.contains { step in
            step.hasPrefix("SCAN") && !step.contains("VIRTUAL TABLE") && !step.contains("CONSTANT ROW")
                && step != QueryExplanation.inMemory
        }
        if isScan && plan.query.predicate != .constant(true) {
            let unindexed = plan.query.predicate.wantedValues(layout).flatMap {
                layout.indexedColumns.contains($0.column) ? nil : DataSourceDiagnostic(unindexed: $0.column, layout)
            }
            warnings.append(
                unindexed?.message
                    ?? "Every row of \(entity) is read. Compare an indexed attribute with ==, <, > or IN, or add a fetch index to the model."
            )
        }
        if !plan.query.sort.isEmpty && steps.contains(where: { $0.contains("TEMP B-TREE") }) {
            warnings.append(
                "All matching rows of \(entity) are sorted before the first is returned. Add a fetch index on the attributes of the order."
            )
        }
        return warnings
    }
}
