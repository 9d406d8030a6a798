internal import RowStore

/// Does the work of one list, on or off the main actor.
struct ListWorker: Sendable {
    let root: RootTier
    let layout: ModelLayout
    let names: ListReason.Names
    /// The rows of a pinned main context; nil for the newest rows.
    var pinned: PinnedRows?
    let rowsByKey = RowsByKey()

    init(_ root: RootTier, _ layout: ModelLayout, _ names: ListReason.Names) {
        (self.root, self.layout, self.names) = (root, layout, names)
    }

    /// Whether all rows so far were read from a snapshot that has not ended.
    var isPinned: Bool { pinned.map { !$0.hasEnded } ?? false }

    var source: RowSource { pinned.map { .pinned($0) } ?? root.rows }

    func run(_ work: ListWork, isOnMain: Bool) -> ListWork.Outcome {
        var run = ListRun(worker: self, work: work, reason: work.reason)
        if !isOnMain { run.reason.ranOffMain = true }
        do throws(DataSourceError) { return try run.outcome(of: work.task) } catch { return .failed(error) }
    }
}

private struct ListRun {
    let worker: ListWorker
    let work: ListWork
    var reason: ListReason
    let start = ContinuousClock.now

    var state: ListState { work.state }

    mutating func outcome(of task: ListWork.Task) throws(DataSourceError) -> ListWork.Outcome {
        switch task {
        case .merge(let saves): try merge(saves)
        case .follow(let saves, let version): try follow(saves, version)
        case .reportChanged(let rows, let saves): try reportChanged(rows, saves)
        case .read: try read()
        case .readMore(let short): try readMore(short)
        case .appendTail(let short, let tail, let saves): try appendTail(short, tail, saves)
        }
    }

    private func merge(_ saves: [ChangeSet]) throws(DataSourceError) -> ListWork.Outcome {
        guard let last = saves.last else { return .unchanged(state) }
        var net = NetChanges()
        let budget = QueryBudget()
        for save in saves { try net.add(save, to: state.query, budget) }
        let owners = state.query.links.owners(in: saves)
        let listed = worker.rowsByKey.rows(owners, in: state, version: work.version)
        net.add(touched: owners, listed, saves, state.query.links)
        let step: ListStep = net.isEmpty ? .state(state, nil) : state.applying(net, asOf: last.saveNumber)
        if case .state = step { worker.rowsByKey.advance(from: work.version, by: net) }
        return net.isEmpty && !net.hasEqualKeys ? .unchanged(state) : merged(step, net)
    }

    private mutating func follow(_ saves: [ChangeSet], _ version: Int) throws(DataSourceError) -> ListWork.Outcome {
        let (query, related) = (state.query, RelatedKeys(saves, state.query.relatedColumns))
        let owners = try owners(of: related)
        let changed = query.changedKeys(in: saves).union(owners)
        let (rows, asOf, hasEqualKeys) = try query.rows(changed, worker.source, worker.layout)
        var net = worker.rowsByKey.advance(state, version: version, to: rows)
        if hasEqualKeys { net.recordEqualKeys() }
        net.record(saves, ofEntities: state.query.watched)
        net.recordDeletions(saves, ofEntities: state.query.family)
        var touched = query.touchedRows(in: saves).keys
        let before = worker.rowsByKey.recordRead(asOf: asOf)
        if related.canMissChanges(from: max(before, state.asOf), to: asOf) { touched.formUnion(owners) }
        let listed = worker.rowsByKey.rows(touched, in: state, version: version + 1)
        net.add(touched: touched, listed, saves, query.links)
        reason.didReadStore = true
        return merged(state.applying(net, asOf: saves.last?.saveNumber ?? state.asOf), net)
    }

    /// The keys of the list's rows whose relationships lead to changed rows.
    private func owners(
        of related: RelatedKeys, among rows: RowStorage? = nil
    ) throws(DataSourceError) -> Set<Int64> {
        let view = SourceView(source: worker.source, layout: worker.layout)
        return try related.owners(of: state.query, among: rows, in: view, QueryBudget())
    }

    private func reportChanged(_ rows: TouchedRows, _ saves: [ChangeSet]) throws(DataSourceError) -> ListWork.Outcome {
        var net = NetChanges()
        let keys = try rows.keys.union(owners(of: rows.related))
        let listed = worker.rowsByKey.rows(keys, in: state, version: work.version)
        net.add(touched: keys, listed, saves, state.query.links)
        // Advance `rowsByKey` even if the state does not change. Otherwise, the next merge would index all rows.
        defer { worker.rowsByKey.advance(from: work.version, by: net) }
        if net.isEmpty { return .unchanged(state) }
        net.record(saves, ofEntities: state.query.watched)
        return reported(.state(state, nil), net)
    }

    private mutating func read() throws(DataSourceError) -> ListWork.Outcome {
        let new = try ListState.read(state.query, worker.source, worker.layout)
        reason.didReadStore = true
        if !state.isRead { return .changed(ListReport(first: new, reason, since: start)) }
        var touched = work.touched.keys
        let before = worker.rowsByKey.recordRead(asOf: new.asOf)
        if work.touched.related.canMissChanges(from: max(before, state.asOf), to: new.asOf) {
            try touched.formUnion(owners(of: work.touched.related, among: new.rows))
        }
        var (net, indexes) = NetChanges.comparing(state.rows, with: new.rows, of: new.query, touched: touched)
        if reason.kind == .reset { net.recordAllDeleted() }
        return reported(.state(new, indexes), net)
    }

    private mutating func readMore(_ short: ShortList) throws(DataSourceError) -> ListWork.Outcome {
        let head = short.head
        let tail = try RowTail.read(
            head.query, after: head.lastKeptRow, maxCount: head.missingCount, worker.source, worker.layout)
        reason.didReadStore = true
        reason.addTime(since: start)
        return .hasRead(ShortList(head: head, net: short.net, reason: reason), tail)
    }

    private func appendTail(
        _ short: ShortList, _ tail: RowTail, _ saves: [ChangeSet]
    ) throws(DataSourceError) -> ListWork.Outcome {
        var (net, newer) = (short.net, NetChanges())
        let budget = QueryBudget()
        for save in saves {
            try net.add(save, to: state.query, budget)
            try newer.add(save, to: state.query, budget)
        }
        let owners = state.query.links.owners(in: saves)
        let listed = worker.rowsByKey.rows(owners, in: state, version: work.version)
        net.add(touched: owners, listed, saves, state.query.links)
        return merged(short.head.continued(by: tail, newer), net)
    }

    /// Returns the outcome of applied changes. If rows have equal keys, the changes are not complete, so all rows must be read
    /// again.
    private func merged(_ step: ListStep, _ net: NetChanges) -> ListWork.Outcome {
        net.hasEqualKeys ? .mustRead : reported(step, net)
    }

    private func reported(_ step: ListStep, _ net: NetChanges) -> ListWork.Outcome {
        var reason = reason
        switch step {
        case .isStale: return .mustRead
        case .isShort(let head):
            reason.addTime(since: start)
            return .isShort(ShortList(head: head, net: net, reason: reason))
        case .state(let new, let indexes):
            reason.record(net, worker.names)
            let report = ListReport(from: state, to: new, net, indexes, reason, since: start)
            let isChange = reason.kind == .initial || reason.kind == .reset || !report.difference.isEmpty
            return isChange ? .changed(report) : .unchanged(new)
        }
    }
}

extension ListState {
    /// A list whose rows were not read yet.
    static func unread(_ query: ListQuery) -> ListState {
        ListState(query, RowStorage(EmptyCollection()), isComplete: true, asOf: .neverRead)
    }

    /// Reads the rows of a list, including uncommitted saves.
    static func read(
        _ query: ListQuery, _ source: RowSource, _ layout: ModelLayout
    ) throws(DataSourceError) -> ListState {
        let all = try RowTail.read(query, after: query.start, maxCount: query.maxKeptRows, source, layout)
        return ListState(query, RowStorage(all.rows), isComplete: all.isLast, asOf: all.asOf)
    }
}

extension RowTail {
    /// Reads the rows of a list that follow a position, including uncommitted saves.
    static func read(
        _ query: ListQuery, after start: ListedRow?, maxCount: Int, _ source: RowSource, _ layout: ModelLayout
    ) throws(DataSourceError) -> RowTail {
        var rows = query.rows(after: start)
        if query.objectPredicate == nil && maxCount < .max { rows.limit = maxCount }
        let (found, asOf) = try query.read(rows, source, layout)
        var listed = found
        if let start, query.order.isComputed { listed.removeAll { !query.order.precedes(start, $0) } }
        if let objectPredicate = query.objectPredicate {
            listed = []
            for row in found where try objectPredicate.accepts(row, rows.budget) { listed.append(row) }
        }
        let isLast = listed.count < maxCount
        return RowTail(isLast ? listed : Array(listed.prefix(maxCount)), isLast: isLast, asOf: asOf)
    }
}

extension ListQuery {
    /// Reads the current rows with some keys, and returns the number of the newest save that the rows include. A row is nil if
    /// the list does not show it. If rows of two entities have the same key, only one of them is returned.
    func rows(
        _ keys: Set<Int64>, _ source: RowSource, _ layout: ModelLayout
    ) throws(DataSourceError) -> (rows: [Int64: ListedRow?], asOf: SaveNumber, hasEqualKeys: Bool) {
        var rows: [Int64: ListedRow?] = [:]
        for key in keys { rows[key] = .some(nil) }
        let isKept = RowPredicate.isMember(.key, ValueList(keys.map { .integer($0) }, .natural))
        var query = RowQuery(entity: entity, predicate: keys.isEmpty ? .constant(false) : isKept, budget: QueryBudget())
        query.joined = joined
        query.returnsJoined = true
        query.isOrdered = false
        let (found, asOf) = try source.joinedRows(query, family, layout)
        var hasEqualKeys = false
        for (entity, stored) in found {
            let row = try listed(entity, stored, query.budget)
            if let other = rows.updateValue(row, forKey: stored.key), other != nil { hasEqualKeys = true }
        }
        return (rows, asOf, hasEqualKeys)
    }

    /// Returns the query for the store. If a section is computed, the store cannot sort by the section, so the query cannot
    /// begin at a position.
    fileprivate func rows(after start: ListedRow?) -> RowQuery {
        var all = RowQuery(entity: entity, predicate: predicate, sort: order.sort)
        all.joined = joined
        all.returnsJoined = true
        all.defersValues = !deferredColumns.isEmpty
        guard let start, !order.isComputed else { return all }
        return all.following(order.cursor(start))
    }

    /// Reads rows, and returns them in the order of the list.
    fileprivate func read(
        _ rows: RowQuery, _ source: RowSource, _ layout: ModelLayout
    ) throws(DataSourceError) -> (rows: [ListedRow], asOf: SaveNumber) {
        if !joined.isEmpty {
            let (found, asOf) = try source.joinedRows(rows, family, layout)
            let listed = try found.map { (row) throws(DataSourceError) in try order.listed(row.entity, row.stored) }
            return (order.isComputed ? listed.sorted(by: order.precedes) : listed, asOf)
        }
        if let entity = family.first, family.count == 1 {
            let (found, asOf) = try source.rows(rows.of(entity: entity), layout.entities[entity])
            let listed = try found.map { (row) throws(DataSourceError) in try order.listed(entity, row) }
            return (order.isComputed ? listed.sorted(by: order.precedes) : listed, asOf)
        }
        let (found, asOf) = try source.firstRows(rows, ofEntities: family, layout)
        var listed: [ListedRow] = []
        for (entity, rows) in found { for row in rows { listed.append(try order.listed(entity, row)) } }
        listed.sort(by: order.precedes)
        return (listed, asOf)
    }
}
