internal import Foundation
package import RowStore

/// The aggregates of a query's rows, in groups. Changes update the aggregates without reading the rows again.
package struct AggregateState: Sendable {
    /// The aggregates to calculate.
    package struct Plan: Sendable {
        let aggregations: [Aggregation]
        /// The column by whose values the rows are grouped; nil for one group of all rows.
        let groupColumn: Int?
        private let groupOrder: ColumnOrder?
        /// The to-many relationship by whose objects the rows are grouped; nil if a row contains its group.
        let links: GroupLinks?

        private let layout: EntityLayout
        /// The row that is kept in place of each row if the plan has no columns.
        private let emptyRow = StoredRow(key: 0, row: RowSnapshot(columnCount: 1))

        package init(_ aggregations: [Aggregation], groupColumn: Int? = nil, _ layout: EntityLayout) {
            (self.aggregations, self.groupColumn, self.layout) = (aggregations, groupColumn, layout)
            groupOrder = groupColumn.map(layout.order)
            links = nil
        }

        init(_ aggregations: [Aggregation], groupedBy group: GroupSource, _ layout: EntityLayout) {
            (self.aggregations, groupColumn, self.layout) = (aggregations, group.column, layout)
            groupOrder = group.column.map(layout.order)
            links = group.links
        }

        /// Whether the query makes groups. If true, there are no groups until rows are added.
        var isGrouped: Bool { groupColumn != nil || links != nil }

        /// Returns the value of the group column. Values that are equal in Swift have the same representation.
        func key(_ row: StoredRow) -> GroupIdentity { .value(value(row)) }

        private func value(_ row: StoredRow) -> RowValue {
            guard let groupColumn, let groupOrder else { return .null }
            switch row.value(groupColumn, groupOrder.storage) {
            case .text(let text):
                if groupOrder.isDecimal { return ValueOrder.decimal.equalityKey(.text(text)) }
                let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
                return .text(isASCII ? text : text.precomposedStringWithCanonicalMapping)
            case .real(let number): return .real(number == 0 ? 0 : number)
            case let value: return value
            }
        }

        /// Returns a row with the columns of the plan only, in memory of its own.
        func trimmed(_ stored: StoredRow) -> StoredRow {
            if columns.isEmpty { return emptyRow }
            var row = RowSnapshot(columnCount: stored.row.columnCount)
            // A column that is set twice would take memory twice.
            for column in columns where row.isNull(column) {
                row.setValue(stored.row.value(column, layout.order(of: column).storage), column)
            }
            return StoredRow(key: stored.key, row: row)
        }

        /// The error for an invalid decimal in a column.
        func damage(_ column: Int?) -> DataSourceError {
            if let column, !JoinedColumn.isJoined(column) { return DataSourceError(damagedColumn: column, layout) }
            return DataSourceError(
                .damagedValue,
                "An object related to a \(layout.name) has a stored decimal with an invalid value. Save the object again, or restore the store.",
                entityName: layout.name)
        }

        /// The columns that the aggregates and the groups need.
        var columns: [Int] { aggregations.compactMap(\.column) + (groupColumn.map { [$0] } ?? []) }

        var empty: Group { Group(rowCount: 0, parts: aggregations.map { IncrementalAggregation($0) }) }
    }

    struct Group: Sendable {
        var rowCount: Int
        var parts: [IncrementalAggregation]
    }

    package let plan: Plan
    /// The groups. A query that makes no groups has one entry, which may be empty. Its key is ``allRows``.
    private var groups: [GroupIdentity: Group] = [:]
    /// The groups that have changed since the last call of ``takeChanges()``.
    private(set) var changedKeys: Set<GroupIdentity> = []
    /// The groups with an aggregate whose result is known only after all rows are read again.
    private var unknownKeys: Set<GroupIdentity> = []
    /// The rows that are in groups of related objects, by their identity. They are kept, because a save does not contain the
    /// unchanged links and values of such a row.
    private var members: [LinkEnd: Member] = [:]

    /// The key of the group of a query that makes no groups.
    static let allRows = GroupIdentity.value(.null)

    /// A row that is in groups of related objects.
    private struct Member {
        /// The row with the columns of the plan.
        let row: StoredRow
        /// The related objects.
        let ends: [LinkEnd]
    }

    package init(_ plan: Plan) {
        self.plan = plan
        if !plan.isGrouped { groups[Self.allRows] = plan.empty }
    }

    /// The keys of all groups.
    var keys: some Collection<GroupIdentity> { groups.keys }

    /// Whether all rows must be read again, for example because the last row with a minimum or maximum has left.
    package var mustRead: Bool { !unknownKeys.isEmpty }

    /// Returns the results of a group; nil if the group has no rows.
    ///
    /// - Throws: `numberOverflow`; `damagedValue`.
    func results(_ key: GroupIdentity) throws(DataSourceError) -> [RowValue]? {
        if let damaged = groups[key]?.parts.first(where: \.isDamaged) { throw plan.damage(damaged.column) }
        return try groups[key]?.parts.map { (part) throws(DataSourceError) in try part.result() }
    }

    mutating func takeChanges() -> Set<GroupIdentity> {
        defer { changedKeys = [] }
        return changedKeys
    }

    // MARK: Changes

    /// Adds a row of the query.
    package mutating func add(_ row: StoredRow) { add(row, to: plan.key(row)) }

    private mutating func add(_ row: StoredRow, to key: GroupIdentity) {
        change(key) {
            $0.rowCount += 1
        } part: {
            $0.add(row)
        }
    }

    /// Removes a row of the query. The row must have the values with which it was added.
    package mutating func remove(_ row: StoredRow) { remove(row, from: plan.key(row)) }

    private mutating func remove(_ row: StoredRow, from key: GroupIdentity) {
        change(key) {
            $0.rowCount -= 1
        } part: {
            $0.remove(row)
        }
    }

    /// Adds a row to the groups of its related objects.
    ///
    /// - Parameter isKept: Whether to keep the row. Later changes of a kept row are applied without reading all rows again.
    mutating func add(_ row: EntityRow, toGroupsOf ends: [LinkEnd], isKept: Bool) {
        if isKept { return setMember(row, ends) }
        for end in ends { add(row.stored, to: .end(end)) }
    }

    private mutating func setMember(_ row: EntityRow, _ ends: [LinkEnd]) {
        let identity = LinkEnd(entity: row.entity, key: row.stored.key)
        let new = Member(row: plan.trimmed(row.stored), ends: ends)
        let old = members.updateValue(new, forKey: identity)
        // Add before removing, so that a new extreme replaces the old extreme.
        for end in ends { add(new.row, to: .end(end)) }
        if let old { remove(old) }
    }

    private mutating func remove(_ member: Member) {
        for end in member.ends { remove(member.row, from: .end(end)) }
    }

    private mutating func change(
        _ key: GroupIdentity, _ body: (inout Group) -> Void, part: (inout IncrementalAggregation) -> Void
    ) {
        changedKeys.insert(key)
        var group = groups.removeValue(forKey: key) ?? plan.empty
        body(&group)
        for index in group.parts.indices { part(&group.parts[index]) }
        if group.rowCount <= 0, plan.isGrouped {
            unknownKeys.remove(key)
            return
        }
        if group.parts.contains(where: \.isUnknown) { unknownKeys.insert(key) } else { unknownKeys.remove(key) }
        groups[key] = group
    }

    /// Applies a save.
    ///
    /// - Throws: Errors of the predicate. After an error, the state is not valid.
    package mutating func apply(
        _ save: ChangeSet, to query: ListQuery, _ budget: QueryBudget
    ) throws(DataSourceError) {
        let plan = plan
        try plan.forEachChange(in: save, of: query, budget) { _, old, new in
            // Add before removing, so that a new extreme replaces the old extreme.
            if let new { add(new) }
            if let old { remove(old) }
        }
    }

    /// Applies saves to groups of related objects. Reads the changed rows and their links.
    ///
    /// The read may already include later saves. When these saves are applied, their rows are read again.
    ///
    /// - Throws: Errors of the predicate and of the store. After an error, the state is not valid.
    mutating func follow(
        _ saves: [ChangeSet], of query: ListQuery, groupedBy links: GroupLinks, _ source: RowSource,
        _ layout: ModelLayout
    ) throws(DataSourceError) {
        let budget = QueryBudget()
        var changed: Set<LinkEnd> = []
        for key in ChangedLinks(ofRelationship: links).owners(in: saves) {
            for entity in query.family { changed.insert(LinkEnd(entity: entity, key: key)) }
        }
        for save in saves {
            try plan.forEachChange(in: save, of: query, budget) { entity, old, new in
                if let key = (new ?? old)?.key { changed.insert(LinkEnd(entity: entity, key: key)) }
            }
        }
        if changed.isEmpty { return }
        let found = try source.withOneState { source throws(DataSourceError) in
            let view = SourceView(source: source, layout: layout)
            return try query.rows(changed, plan.columns, groupedBy: links, in: view, budget)
        }
        var gone = changed
        for (row, ends) in found {
            gone.remove(LinkEnd(entity: row.entity, key: row.stored.key))
            setMember(row, ends)
        }
        for row in gone { if let old = members.removeValue(forKey: row) { remove(old) } }
    }
}

extension AggregateState.Plan {
    /// Calls the body for each change of a row that affects the aggregates. The arguments are the row's entity, the old row
    /// and the new row. An old or new row that does not match the query is nil.
    fileprivate func forEachChange(
        in save: ChangeSet, of query: ListQuery, _ budget: QueryBudget,
        _ body: (_ entity: Int, _ old: StoredRow?, _ new: StoredRow?) -> Void
    ) throws(DataSourceError) {
        let layout = query.order.layout
        func matches(_ row: StoredRow) throws(DataSourceError) -> Bool {
            try query.predicate.evaluate(row, layout, budget)
        }
        let columns = Set(columns)
        for changes in save.entities where query.family.contains(changes.entity) {
            let entity = changes.entity
            for row in changes.inserted where try matches(row) { body(entity, nil, row) }
            for row in changes.deleted where try matches(row) { body(entity, row, nil) }
            for row in changes.updated {
                let (old, new) = (StoredRow(key: row.key, row: row.previous), StoredRow(key: row.key, row: row.row))
                let (wasIncluded, isIncluded) = (try matches(old), try matches(new))
                if wasIncluded, isIncluded, !columns.contains(where: row.columns.contains) { continue }
                if wasIncluded || isIncluded { body(entity, wasIncluded ? old : nil, isIncluded ? new : nil) }
            }
        }
    }
}

extension ListQuery {
    /// Returns the wanted rows that match, each with its related objects. Rows without related objects are left out.
    fileprivate func rows(
        _ wanted: Set<LinkEnd>, _ columns: [Int], groupedBy links: GroupLinks, in view: SourceView,
        _ budget: QueryBudget
    ) throws(DataSourceError) -> [(row: EntityRow, ends: [LinkEnd])] {
        var rows: [EntityRow] = []
        for (entity, wanted) in Dictionary(grouping: wanted, by: \.entity) {
            let keys = ValueList(wanted.map { .integer($0.key) }, .natural)
            var query = RowQuery(
                entity: entity, predicate: .and([.isMember(.key, keys), predicate]), columns: columns, budget: budget)
            query.isOrdered = false
            rows += try view.rows(query).map { (entity, $0) }
        }
        var found: [(row: EntityRow, ends: [LinkEnd])] = []
        try links.forEach(rows, in: view, budget) { found.append(($0, $1)) }
        return found
    }
}

/// An aggregate that is updated when values are added and removed.
struct IncrementalAggregation: Sendable {
    /// The aggregate of all values, for counts and sums.
    private var total: Aggregation
    private var valueCount = 0
    /// The minimum or maximum; nil without values. The value is kept after the last row with this value was removed, because it
    /// is still a bound of the remaining values.
    private var extreme: RowValue?
    /// The number of rows whose value is the extreme.
    private var extremeCount = 0
    /// The number of damaged decimals: stored strings that cannot be read as a decimal.
    private var damagedCount = 0
    /// Whether a removed value could not be subtracted, because it was an infinity or a damaged decimal.
    private var needsRecalculation = false

    init(_ empty: Aggregation) { total = empty }

    var column: Int? { total.column }
    var isDamaged: Bool { total.isDamaged || damagedCount > 0 }

    private var isExtreme: Bool { total.operation == .min || total.operation == .max }

    /// Whether all rows must be read again to find the result.
    var isUnknown: Bool { needsRecalculation || isExtreme && extremeCount == 0 && valueCount > 0 }

    mutating func add(_ row: StoredRow) {
        guard isExtreme else { return total.add(row) }
        guard let value = value(row) else { return }
        if isDamaged(value) {
            damagedCount += 1
            return
        }
        valueCount += 1
        let order = extreme.map { self.order(value, $0) } ?? -1
        if order == 0 {
            extremeCount += 1
        } else if order < 0 {
            (extreme, extremeCount) = (value, 1)
        }
    }

    mutating func remove(_ row: StoredRow) {
        guard isExtreme else {
            needsRecalculation = !total.remove(row) || needsRecalculation
            return
        }
        guard let value = value(row) else { return }
        if isDamaged(value) {
            damagedCount -= 1
            return
        }
        valueCount -= 1
        if valueCount == 0 {
            (extreme, extremeCount) = (nil, 0)
        } else if let extreme, order(value, extreme) == 0 {
            extremeCount -= 1
        }
    }

    private func value(_ row: StoredRow) -> RowValue? {
        guard let column else { return nil }
        let value = row.value(column, total.kind.storage)
        return value == .null ? nil : value
    }

    private func isDamaged(_ value: RowValue) -> Bool {
        guard total.kind == .decimal, case .text(let text) = value else { return false }
        return Decimal(rowText: text) == nil
    }

    /// Compares two values: negative if the first value is more extreme than the second.
    private func order(_ lhs: RowValue, _ rhs: RowValue) -> Int {
        let order = total.kind == .decimal ? ValueOrder.decimal.compare(lhs, rhs) ?? 0 : compareValues(lhs, rhs)
        return total.operation == .min ? order : -order
    }

    func result() throws(DataSourceError) -> RowValue {
        isExtreme ? extreme ?? .null : try total.result()
    }
}
