internal import RowStore

/// One step of a list's work, done on the main actor or off it.
struct ListWork: Sendable {
    let state: ListState
    let reason: ListReason
    let names: ListReason.Names
    let task: Task

    enum Task: Sendable {
        /// Apply the saves, which are in their order and all newer than the state.
        case merge([ChangeSet])
        /// Apply saves that changed related rows.
        case follow([ChangeSet], RowsByKey, version: Int, RootContext, ModelLayout)
        /// Reload the rows.
        case read(RootContext, ModelLayout)
        /// Read the rows that follow the remaining ones.
        case readOn(ShortList, RootContext, ModelLayout)
        /// Combine the remaining rows with the rows that were read, and apply the saves between them.
        case join(ShortList, RowTail, [ChangeSet])
    }

    enum Outcome: Sendable {
        /// Nothing that is shown has changed.
        case unchanged(ListState)
        case changed(ListReport)
        /// The rows must be read.
        case mustRead
        /// More rows must be read.
        case isShort(ShortList)
        case hasRead(ShortList, RowTail)
        case failed(DataSourceError)
    }

    /// How many rows the work looks at; a very large number if it reads the store.
    var rowCount: Int {
        switch task {
        case .merge(let saves): saves.reduce(0) { $0 + $1.rowCount }
        case .join(_, let tail, let saves): saves.reduce(tail.rows.count) { $0 + $1.rowCount }
        case .follow, .read, .readOn: .max
        }
    }

    func run(isOnMain: Bool) -> Outcome {
        let start = ContinuousClock.now
        var reason = reason
        if !isOnMain { reason.ranOffMain = true }
        switch task {
        case .merge(let saves):
            guard let last = saves.last else { return .unchanged(state) }
            return trying { () throws(DataSourceError) in
                var net = NetChanges()
                let budget = QueryBudget()
                for save in saves { try net.add(save, to: state.query, budget) }
                if net.isEmpty { return .unchanged(state) }
                return outcome(state.applying(net, asOf: last.number), net, reason, since: start)
            }
        case .follow(let saves, let known, let version, let root, let layout):
            return trying { () throws(DataSourceError) in
                var net = known.advance(
                    state, version: version, to: try state.query.affectedRows(saves, root, layout))
                net.note(saves, ofEntities: state.query.watched)
                reason.didReadStore = true
                return outcome(state.applying(net, asOf: saves.last?.number ?? state.asOf), net, reason, since: start)
            }
        case .read(let root, let layout):
            return trying { () throws(DataSourceError) in
                let new = try ListState.read(state.query, root, layout)
                reason.didReadStore = true
                return outcome(.state(new, nil), NetChanges(from: state.rows, to: new.rows), reason, since: start)
            }
        case .readOn(var short, let root, let layout):
            return trying { () throws(DataSourceError) in
                let head = short.head
                let tail = try RowTail.read(head.query, after: head.lastHeld, most: head.missingCount, root, layout)
                reason.didReadStore = true
                reason.addTime(since: start)
                short.reason = reason
                return .hasRead(short, tail)
            }
        case .join(let short, let tail, let saves):
            var (net, newer) = (short.net, NetChanges())
            let budget = QueryBudget()
            return trying { () throws(DataSourceError) in
                for save in saves {
                    try net.add(save, to: state.query, budget)
                    try newer.add(save, to: state.query, budget)
                }
                return outcome(short.head.continued(by: tail, newer), net, reason, since: start)
            }
        }
    }

    private func trying(_ body: () throws(DataSourceError) -> Outcome) -> Outcome {
        do throws(DataSourceError) { return try body() } catch { return .failed(error) }
    }

    private func outcome(
        _ step: ListStep, _ net: NetChanges, _ reason: ListReason, since start: ContinuousClock.Instant
    ) -> Outcome {
        var reason = reason
        switch step {
        case .isStale: return .mustRead
        case .isShort(let head):
            reason.addTime(since: start)
            return .isShort(ShortList(head: head, net: net, reason: reason))
        case .state(let new, let places):
            reason.note(net, names)
            let report = ListReport(from: state, to: new, net, places, reason, since: start)
            let isNews = reason.kind == .initial || reason.kind == .reset || !report.difference.isEmpty
            return isNews ? .changed(report) : .unchanged(new)
        }
    }
}

/// A list that has too few rows after changes, until more are read.
struct ShortList: Sendable {
    /// The remaining rows.
    let head: ListState
    /// The changes before it.
    let net: NetChanges
    var reason: ListReason
}

// MARK: - Reading

extension ListState {
    /// A list whose rows have not been read.
    static func unread(_ query: ListQuery) -> ListState {
        ListState(query, RowStorage(EmptyCollection()), isComplete: true, asOf: -1)
    }

    /// Reads the rows of a list, including saves that are not committed.
    static func read(
        _ query: ListQuery, _ root: RootContext, _ layout: ModelLayout
    ) throws(DataSourceError) -> ListState {
        let all = try RowTail.read(query, after: query.start, most: query.mostHeld, root, layout)
        return ListState(query, RowStorage(all.rows), isComplete: all.isLast, asOf: all.asOf)
    }
}

extension RowTail {
    /// Reads the first rows of a list after a place, including saves that are not committed.
    static func read(
        _ query: ListQuery, after place: ListedRow?, most: Int, _ root: RootContext, _ layout: ModelLayout
    ) throws(DataSourceError) -> RowTail {
        var rows = query.rows(after: place)
        if query.test == nil && most < .max { rows.limit = most }
        let (found, asOf) = try query.read(rows, root, layout)
        var listed = found
        if let place, query.order.isComputed { listed.removeAll { !query.order.precedes(place, $0) } }
        if let test = query.test {
            listed = []
            for row in found where try test.accepts(row, rows.budget) { listed.append(row) }
        }
        let isLast = listed.count < most
        return RowTail(isLast ? listed : Array(listed.prefix(most)), isLast: isLast, asOf: asOf)
    }
}

extension ListQuery {
    /// The present rows of those that saves may have changed; nil for rows that the list does not show.
    fileprivate func affectedRows(
        _ saves: [ChangeSet], _ root: RootContext, _ layout: ModelLayout
    ) throws(DataSourceError) -> [Int64: ListedRow?] {
        let budget = QueryBudget()
        let view = SourceView(source: root.rows, layout: layout)
        let keys = try RelatedChanges(saves, self, view, budget).keys(of: self)
        var rows: [Int64: ListedRow?] = [:]
        for key in keys { rows[key] = .some(nil) }
        var query = RowQuery(
            entity: entity, predicate: .isMember(.key, ValueList(keys.map { .integer($0) }, .natural)), budget: budget)
        query.joined = joined
        query.returnsJoined = true
        query.isOrdered = false
        if keys.isEmpty { return rows }
        for (entity, stored) in try root.rows.joinedRows(query, family, layout).rows {
            rows[stored.key] = .some(try listed(entity, stored, budget))
        }
        return rows
    }

    /// The query for a store, which cannot sort by a computed section, and so cannot use a place in that order either.
    fileprivate func rows(after place: ListedRow?) -> RowQuery {
        var all = RowQuery(entity: entity, predicate: predicate, sort: order.sort)
        all.joined = joined
        all.returnsJoined = true
        guard let place, !order.isComputed else { return all }
        return all.following(order.place(place))
    }

    /// The rows in the order of the list.
    fileprivate func read(
        _ rows: RowQuery, _ root: RootContext, _ layout: ModelLayout
    ) throws(DataSourceError) -> (rows: [ListedRow], asOf: Int64) {
        if !joined.isEmpty {
            let (found, asOf) = try root.rows.joinedRows(rows, family, layout)
            let listed = found.map { order.listed($0.entity, $0.stored) }
            return (order.isComputed ? listed.sorted(by: order.precedes) : listed, asOf)
        }
        if let entity = family.first, family.count == 1 {
            let (found, asOf) = try root.rows.rows(rows.of(entity: entity), layout.entities[entity])
            let listed = found.map { order.listed(entity, $0) }
            return (order.isComputed ? listed.sorted(by: order.precedes) : listed, asOf)
        }
        let (found, asOf) = try root.rows.firstRows(rows, ofEntities: family, layout)
        var listed: [ListedRow] = []
        for (entity, rows) in found { listed += rows.map { order.listed(entity, $0) } }
        listed.sort(by: order.precedes)
        return (listed, asOf)
    }
}
