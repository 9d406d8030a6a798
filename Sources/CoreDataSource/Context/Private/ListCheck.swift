internal import RowStore

/// A row before or after the edits of an answer.
struct EditedRow {
    let layout: EntityLayout
    let key: Int64
    let row: RowSnapshot
    var isInserted = false
    /// Whether the edits changed only links of the object, and these links are stored in other rows.
    var hasOnlyLinks = false

    var end: LinkEnd { LinkEnd(entity: layout.index, key: key) }
}

extension EditedRow {
    init(_ object: ManagedObject, _ row: RowSnapshot, hasOnlyLinks: Bool = false) {
        self.init(
            layout: object.layout, key: object.key, row: row, isInserted: object.isInserted, hasOnlyLinks: hasOnlyLinks)
    }
}

/// Compares the rows that an answer edits with complete lists.
struct ListCheck {
    private var after: EditedRows
    private var before: EditedRows
    /// Whether an edit is allowed if the list keeps the same objects. True for the last request of a load, because a server
    /// may confirm the list again and again.
    private let keepsMembership: Bool
    /// Returns the objects whose rows match the predicate of a list. Called only if the predicate follows relationships.
    private let fetch: ([EditedRow], CompleteList) throws -> Set<LinkEnd>
    private(set) var comparisonCount = 0

    init(
        _ after: [EditedRow], _ before: [EditedRow], keepsMembership: Bool,
        _ fetch: @escaping ([EditedRow], CompleteList) throws -> Set<LinkEnd>
    ) {
        self.after = EditedRows(after)
        self.before = EditedRows(before)
        self.keepsMembership = keepsMembership
        self.fetch = fetch
    }

    /// Whether any inserted or edited row matches the predicate of an answer's list, but is missing in the list.
    ///
    /// - Parameters:
    ///   - answer: The answer with the list.
    ///   - deletions: The saves of the same list in which hooks have deleted objects, for the last request of a load; otherwise empty.
    ///     Such an object does not count as missing, because the hook may delete the object again and again.
    mutating func adds(
        to list: CompleteList, of answer: RunningRequests.Saved, unlessIn deletions: [RunningRequests.Saved]
    ) throws -> Bool {
        let missing = after.candidates(of: list).filter { answer.lacks($0, in: list) }
        let found = try matches(missing, list)
        // Look only at the rows that match: there can be many rows, and many saves.
        for row in missing where found.contains(row.end) {
            comparisonCount += deletions.count
            if !deletions.contains(where: { $0.rows.mayBeDeletedByHooks(row.row, row.layout) }) { return true }
        }
        return false
    }

    /// Whether any row matches the predicate of a list, before or after the edits. With ``keepsMembership``, only rows that
    /// enter or leave the list count.
    mutating func changes(_ list: CompleteList) throws -> Bool {
        var candidates = after.candidates(of: list)
        if list.isPart { candidates.removeAll(where: \.isInserted) }
        if !list.query.joined.isEmpty {
            // It is unknown which rows matched before the edits. So only an inserted row is known to be new in the list.
            if keepsMembership { candidates.removeAll { !$0.isInserted } }
            return try !matches(candidates, list).isEmpty
        }
        let old = try matches(before.candidates(of: list), list)
        var new = try matches(candidates, list)
        // Like an inserted object, an object that the edits bring into the list may be on another page.
        if list.isPart { new.formIntersection(old) }
        return keepsMembership ? new != old : !new.isEmpty || !old.isEmpty
    }

    private mutating func matches(_ rows: [EditedRow], _ list: CompleteList) throws -> Set<LinkEnd> {
        comparisonCount += rows.count
        if !list.query.joined.isEmpty { return try fetch(rows, list) }
        let budget = QueryBudget(isCancellable: false)
        var found: Set<LinkEnd> = []
        for row in rows where try list.query.predicate.evaluate(row.row, key: row.key, row.layout, budget) {
            found.insert(row.end)
        }
        return found
    }
}

extension RunningRequests.Saved {
    /// Whether the complete list of this answer lacks an edited row. The caller also checks that the row matches the predicate of the
    /// list.
    fileprivate func lacks(_ row: EditedRow, in list: CompleteList) -> Bool {
        if rows.stored.keys.contains(row.end) || list.earlier.contains(row.end) { return false }
        // A link brings no object into a list whose predicate follows no relationships.
        return !row.hasOnlyLinks || !list.query.joined.isEmpty
    }
}

/// Edited rows, with indexes of the columns in which predicates require values.
private struct EditedRows {
    private struct Column: Hashable {
        let entity: Int
        let column: Int
    }

    private let rows: [Int: [EditedRow]]
    private var indexes: [Column: [RowValue: [EditedRow]]] = [:]

    init(_ rows: [EditedRow]) { self.rows = Dictionary(grouping: rows, by: \.layout.index) }

    /// Returns all rows that match the predicate of a list, and possibly other rows.
    mutating func candidates(of list: CompleteList) -> [EditedRow] {
        list.family.flatMap { entity -> [EditedRow] in
            guard let rows = rows[entity] else { return [] }
            let layout = rows[0].layout
            guard let (column, values) = list.query.predicate.wantedValues(layout) else { return rows }
            let place = Column(entity: entity, column: column)
            let storage = layout.columns[column].storage
            let index = indexes[place] ?? Dictionary(grouping: rows) { $0.row.value(column, storage) }
            indexes[place] = index
            return values.flatMap { index[$0] ?? [] }
        }
    }
}

extension CompleteList {
    /// - Parameter scope: A scope. The store has its whole list, or its first pages.
    /// - Returns: The list; nil if the model lacks the entity of the scope.
    init?(_ scope: StoredScope, in model: ModelLayout) {
        guard let layout = model.entity(named: scope.entity) else { return nil }
        let predicate = scope.format.isEmpty ? nil : try? FetchPredicate<ManagedObject>(format: scope.format)
        let request = ObjectRequest(ManagedObject.self, where: predicate)
        // Another version of the app may use a predicate that this version cannot read. In this case, treat every object of
        // the entity as in scope.
        let query = (try? FetchPlan(request, entity: layout, in: model))?.query ?? RowQuery(entity: layout.index)
        self.init(family: layout.concreteFamily, query: query, isPart: !scope.isComplete, earlier: [])
    }
}
