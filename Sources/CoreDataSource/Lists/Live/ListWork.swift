internal import RowStore

/// One step of a list, to be done on the main actor or off it.
struct ListWork: Sendable {
    let state: ListState
    let reason: ListReason
    let names: ListReason.Names
    let task: Task

    enum Task: Sendable {
        /// Take the saves into account, which are in their order and all newer than the state.
        case merge([ChangeSet])
        /// Read the rows anew.
        case read(RootContext, ModelLayout)
    }

    enum Outcome: Sendable {
        /// Nothing that is shown is different.
        case unchanged(ListState)
        case changed(ListReport)
        /// The rows have to be read.
        case mustRead
        case failed(DataSourceError)
    }

    func run(isOnMain: Bool) -> Outcome {
        let start = ContinuousClock.now
        switch task {
        case .merge(let saves):
            var net = NetChanges()
            for save in saves { net.add(save, to: state.query) }
            guard let last = saves.last else { return .unchanged(state) }
            if net.isEmpty { return .unchanged(state) }
            guard case .state(let new) = state.applying(net, asOf: last.number) else { return .mustRead }
            return outcome(new, net, start, isOnMain: isOnMain)
        case .read(let root, let layout):
            do throws(DataSourceError) {
                let new = try ListState.read(state.query, root, layout)
                return outcome(new, NetChanges(from: state.rows, to: new.rows), start, isOnMain: isOnMain)
            } catch {
                return .failed(error)
            }
        }
    }

    private func outcome(
        _ new: ListState, _ net: NetChanges, _ start: ContinuousClock.Instant, isOnMain: Bool
    ) -> Outcome {
        var reason = reason
        reason.note(net, names)
        reason.isPreparedElsewhere = !isOnMain
        if case .read = task { reason.isRead = true }
        let report = ListReport(from: state, to: new, net, reason, since: start)
        let isNews = reason.kind == .initial || reason.kind == .reset || !report.difference.isEmpty
        return isNews ? .changed(report) : .unchanged(new)
    }
}

extension ListState {
    /// A list before its rows were read.
    static func unread(_ query: ListQuery) -> ListState {
        ListState(query, RowStorage(EmptyCollection()), isComplete: true, asOf: -1)
    }

    /// Reads the rows of a list; they include what is saved but not committed.
    static func read(
        _ query: ListQuery, _ root: RootContext, _ layout: ModelLayout
    ) throws(DataSourceError) -> ListState {
        var all = RowQuery(entity: query.entity, predicate: query.predicate, sort: query.order.sort)
        let most = query.isHeldWhole ? Int.max : (query.limit ?? 0) + query.reserve
        if let entity = query.family.first, query.family.count == 1 {
            all.entity = entity
            all.limit = most == .max ? nil : most
            let (rows, asOf) = try root.rows(all, layout.entities[entity])
            let listed = rows.lazy.map { ListedRow(entity: entity, stored: $0) }
            return ListState(query, query.storage(listed), isComplete: rows.count < most, asOf: asOf)
        }
        let (found, asOf) = try root.rows(all, ofEntities: query.family, layout)
        var listed: [ListedRow] = []
        for (entity, rows) in found { listed += rows.map { ListedRow(entity: entity, stored: $0) } }
        listed.sort(by: query.order.precedes)
        let held = RowStorage(listed).prefix(most)
        return ListState(query, held, isComplete: listed.count < most, asOf: asOf)
    }
}

extension ListQuery {
    /// The rows as the list has them; a store cannot sort by a section that is computed.
    fileprivate func storage(_ rows: some Sequence<ListedRow>) -> RowStorage {
        guard case .computed = order.section else { return RowStorage(rows) }
        return RowStorage(rows.sorted(by: order.precedes))
    }
}
