internal import ManagedModel

/// A column that a query adds to its rows: a value from the rows at the end of a relationship.
///
/// A query can use it like any other column: to compare, to sort and to return values.
package struct JoinedColumn: Sendable, Hashable {
    package indirect enum Source: Sendable, Hashable {
        /// A column of the owner of the related rows. It only occurs among the columns of related rows.
        case outer(column: Int)
        /// The key of that row.
        case outerKey
        /// A column of the destination of a to-one relationship; null if it leads nowhere.
        case value(RelatedRows, column: Int)
        /// The key of that row.
        case key(RelatedRows)
        /// Whether there is any related row: 1 or 0.
        case exists(RelatedRows)
        /// An aggregate of a column of all related rows, or their number, which needs no column.
        case aggregate(RelatedRows, FetchFunction, column: Int?)
    }

    package let source: Source
    package let kind: ValueKind
    /// The kind of number in which an aggregate is calculated.
    package let calculation: ValueKind

    package init(_ source: Source, _ kind: ValueKind, calculation: ValueKind? = nil) {
        self.source = source
        self.kind = kind
        self.calculation = calculation ?? kind
    }

    /// The related rows that it comes from; nil for a column of the outer row.
    package var related: RelatedRows? {
        switch source {
        case .outer, .outerKey: nil
        case .value(let related, _), .key(let related), .exists(let related), .aggregate(let related, _, _): related
        }
    }

    // MARK: Numbers

    /// The numbers of joined columns come after those of an entity's own columns, and include the storage.
    private static let firstNumber = 1 << 20

    package static func isJoined(_ column: Int) -> Bool { column >= firstNumber }

    /// The position of a joined column among those of its query.
    package static func index(_ column: Int) -> Int { (column - firstNumber) >> 3 }

    /// The number of the joined column at that position.
    package func number(at index: Int) -> Int {
        JoinedColumn.firstNumber + (index << 3 | (kind == .decimal ? 4 : 0) | Int(kind.storage.rawValue))
    }

    static func order(_ column: Int) -> ColumnOrder {
        let bits = column - firstNumber
        return ColumnOrder(storage: ColumnStorage(rawValue: UInt8(bits & 3)) ?? .blob, isDecimal: bits & 4 != 0)
    }
}

/// Rows to which a relationship leads, all or some of them.
package struct RelatedRows: Sendable, Hashable {
    /// How a row on one side finds those on the other.
    package enum Link: Sendable, Hashable {
        /// A column of the source has the key of its destination.
        case destination(column: Int)
        /// A column of the destinations has the key of their source.
        case source(column: Int)
        /// Rows of their own have both keys.
        case pairs(layout: Int, own: Int, other: Int)
    }

    package let link: Link
    /// The entity whose columns the predicate uses.
    package let destination: Int
    /// The entities that the rows can have.
    package let family: [Int]
    /// Whether the relationship leads to one row at most.
    package private(set) var isToOne = false
    /// Which of them match.
    package var predicate: RowPredicate
    /// Their joined columns.
    package var joined: [JoinedColumn]

    package init(
        _ link: Link, destination: Int, family: [Int], predicate: RowPredicate = .constant(true),
        joined: [JoinedColumn] = []
    ) {
        self.link = link
        self.destination = destination
        self.family = family
        self.predicate = predicate
        self.joined = joined
    }

    /// - Returns: Nil for a relationship that is not stored.
    package init?(_ relationship: RelationshipLayout) {
        let link: Link
        switch relationship.storage {
        case .column(let column): link = .destination(column: column.key)
        case .inverseColumn(let column): link = .source(column: column.key)
        case .pairs(let pairs): link = .pairs(layout: pairs.layout, own: pairs.own.key, other: pairs.other.key)
        case .none: return nil
        }
        self.init(link, destination: relationship.destination, family: relationship.destinationFamily)
        isToOne = !relationship.description.isToMany
    }

    /// Whether the related rows depend on more of the source than its links.
    package var isCorrelated: Bool {
        joined.contains { $0.related == nil }
    }

    /// The entities whose rows affect the result.
    package func collectEntities(_ entities: inout Set<Int>) {
        entities.formUnion(family)
        if case .pairs(let layout, _, _) = link { entities.insert(layout) }
        for column in joined { column.related?.collectEntities(&entities) }
    }
}

extension EntityLayout {
    /// The order of a column's values, for a column of the entity or a joined one.
    package func order(of column: Int) -> ColumnOrder {
        JoinedColumn.isJoined(column) ? JoinedColumn.order(column) : orders[column]
    }
}

extension StoredRow {
    /// The stored columns, and the position of each.
    @inline(__always)
    package func cell(_ column: Int) -> (row: RowSnapshot, column: Int) {
        JoinedColumn.isJoined(column) ? joinedCell(column) : (row, column)
    }

    private func joinedCell(_ column: Int) -> (row: RowSnapshot, column: Int) {
        let index = JoinedColumn.index(column)
        return (joined ?? RowSnapshot(columnCount: index + 1), index)
    }

    /// Whether all columns have the same values as in another version of the row.
    package func isIdentical(to other: StoredRow) -> Bool {
        guard row.hasSameWords(as: other.row) else { return false }
        guard let joined, let others = other.joined else { return joined == nil && other.joined == nil }
        return joined.hasSameWords(as: others)
    }

    package func isNull(_ column: Int) -> Bool {
        let (row, column) = cell(column)
        return row.isNull(column)
    }

    package func value(_ column: Int, _ storage: ColumnStorage) -> RowValue {
        let (row, column) = cell(column)
        return row.value(column, storage)
    }
}
