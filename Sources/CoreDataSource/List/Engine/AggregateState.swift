internal import Foundation
package import RowStore

/// The aggregates of the rows of a query, in groups. They follow changes without the rows.
package struct AggregateState: Sendable {
    /// The aggregates to calculate.
    package struct Plan: Sendable {
        let aggregations: [Aggregation]
        /// The column whose value the rows of a group share; nil for one group of all rows.
        let groupColumn: Int?
        private let groupOrder: ColumnOrder?

        private let layout: EntityLayout

        package init(_ aggregations: [Aggregation], groupColumn: Int? = nil, _ layout: EntityLayout) {
            (self.aggregations, self.groupColumn, self.layout) = (aggregations, groupColumn, layout)
            groupOrder = groupColumn.map(layout.order)
        }

        /// The value of the group column. Values that are equal as values of Swift are the same.
        func key(_ row: StoredRow) -> RowValue {
            guard let groupColumn, let groupOrder else { return .null }
            switch row.value(groupColumn, groupOrder.storage) {
            case .text(let text):
                if groupOrder.isDecimal { return ValueOrder.decimal.uniform(.text(text)) }
                let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
                return .text(isASCII ? text : text.precomposedStringWithCanonicalMapping)
            case .real(let number): return .real(number == 0 ? 0 : number)
            case let value: return value
            }
        }

        /// The error for an invalid decimal in a column.
        func damage(_ column: Int?) -> DataSourceError {
            if let column, !JoinedColumn.isJoined(column) { return DataSourceError(damagedColumn: column, layout) }
            return DataSourceError(
                .damagedValue,
                "An object related to a \(layout.name) has a stored decimal with an invalid value. Save the object again, or restore the store.",
                entityName: layout.name)
        }

        /// The columns that the aggregates need.
        var columns: [Int] { aggregations.compactMap(\.column) + (groupColumn.map { [$0] } ?? []) }

        var empty: Group { Group(rowCount: 0, parts: aggregations.map { FollowedAggregation($0) }) }
    }

    struct Group: Sendable {
        var rowCount: Int
        var parts: [FollowedAggregation]
    }

    package let plan: Plan
    /// By the value of the group column; with no group column, one group, which may be empty.
    private var groups: [RowValue: Group] = [:]
    /// The groups that changed since the changes were last taken.
    private(set) var changedKeys: Set<RowValue> = []
    /// The changed groups with an aggregate that needs all rows again.
    private var unknownKeys: Set<RowValue> = []

    package init(_ plan: Plan) {
        self.plan = plan
        if plan.groupColumn == nil { groups[.null] = plan.empty }
    }

    /// The values of the group column.
    package var keys: some Collection<RowValue> { groups.keys }

    /// Whether all rows must be read: the last row with a least or greatest value has left, for example.
    package var mustRead: Bool { !unknownKeys.isEmpty }

    /// The results of a group; nil if the group has no rows.
    ///
    /// - Throws: `numberOverflow`; `damagedValue`.
    package func results(_ key: RowValue) throws(DataSourceError) -> [RowValue]? {
        if let damaged = groups[key]?.parts.first(where: \.isDamaged) { throw plan.damage(damaged.column) }
        return try groups[key]?.parts.map { (part) throws(DataSourceError) in try part.result() }
    }

    mutating func takeChanges() -> Set<RowValue> {
        defer { changedKeys = [] }
        return changedKeys
    }

    // MARK: Changes

    /// Adds a row of the query.
    package mutating func add(_ row: StoredRow) {
        change(row) {
            $0.rowCount += 1
        } part: {
            $0.add(row)
        }
    }

    /// Removes a row of the query, in the version that was added.
    package mutating func remove(_ row: StoredRow) {
        change(row) {
            $0.rowCount -= 1
        } part: {
            $0.remove(row)
        }
    }

    private mutating func change(
        _ row: StoredRow, _ body: (inout Group) -> Void, part: (inout FollowedAggregation) -> Void
    ) {
        let key = plan.key(row)
        changedKeys.insert(key)
        var group = groups.removeValue(forKey: key) ?? plan.empty
        body(&group)
        for index in group.parts.indices { part(&group.parts[index]) }
        if group.rowCount <= 0, plan.groupColumn != nil {
            unknownKeys.remove(key)
            return
        }
        if group.parts.contains(where: \.isUnknown) { unknownKeys.insert(key) } else { unknownKeys.remove(key) }
        groups[key] = group
    }

    /// Applies a save.
    ///
    /// - Throws: Errors of the predicate. The state is not valid then.
    package mutating func apply(
        _ save: ChangeSet, to query: ListQuery, _ budget: QueryBudget
    ) throws(DataSourceError) {
        let layout = query.order.layout
        func matches(_ row: StoredRow) throws(DataSourceError) -> Bool {
            try query.predicate.evaluate(row, layout, budget)
        }
        let columns = Set(plan.columns)
        for changes in save.entities where query.family.contains(changes.entity) {
            for row in changes.inserted where try matches(row) { add(row) }
            for row in changes.deleted where try matches(row) { remove(row) }
            for row in changes.updated {
                let (old, new) = (StoredRow(key: row.key, row: row.previous), StoredRow(key: row.key, row: row.row))
                let (wasIncluded, isIncluded) = (try matches(old), try matches(new))
                if wasIncluded, isIncluded, !columns.contains(where: row.columns.contains) { continue }
                // Add first, so that a new extreme replaces the old one.
                if isIncluded { add(new) }
                if wasIncluded { remove(old) }
            }
        }
    }
}

/// An aggregate of values that come and go.
struct FollowedAggregation: Sendable {
    /// Counts and sums.
    private var total: Aggregation
    private var valueCount = 0
    /// The least or greatest value; nil without values. If no row has the value any more, no remaining value is beyond it.
    private var extreme: RowValue?
    /// The number of rows with the extreme value.
    private var holderCount = 0
    /// The number of values that are no numbers, although they are stored as decimals.
    private var damagedCount = 0
    /// Whether a value was removed that cannot be subtracted: an infinity or a damaged decimal.
    private var isStuck = false

    init(_ empty: Aggregation) { total = empty }

    var column: Int? { total.column }
    var isDamaged: Bool { total.isDamaged || damagedCount > 0 }

    private var isExtreme: Bool { total.operation == .min || total.operation == .max }

    /// Whether the result needs all rows again.
    var isUnknown: Bool { isStuck || isExtreme && holderCount == 0 && valueCount > 0 }

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
            holderCount += 1
        } else if order < 0 {
            (extreme, holderCount) = (value, 1)
        }
    }

    mutating func remove(_ row: StoredRow) {
        guard isExtreme else {
            isStuck = !total.remove(row) || isStuck
            return
        }
        guard let value = value(row) else { return }
        if isDamaged(value) {
            damagedCount -= 1
            return
        }
        valueCount -= 1
        if valueCount == 0 {
            (extreme, holderCount) = (nil, 0)
        } else if let extreme, order(value, extreme) == 0 {
            holderCount -= 1
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

    /// Negative if the first value is more extreme than the second.
    private func order(_ lhs: RowValue, _ rhs: RowValue) -> Int {
        let order = total.kind == .decimal ? ValueOrder.decimal.compare(lhs, rhs) ?? 0 : orderValues(lhs, rhs)
        return total.operation == .min ? order : -order
    }

    func result() throws(DataSourceError) -> RowValue {
        isExtreme ? extreme ?? .null : try total.result()
    }
}
