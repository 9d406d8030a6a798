internal import ManagedModel

/// A column that a query adds to its rows. Its value comes from the rows that a relationship leads to.
///
/// A query can compare, sort by and return joined columns, like other columns.
package struct JoinedColumn: Sendable, Hashable {
    package indirect enum Source: Sendable, Hashable {
        /// A column of the outer row, which is the row that the relationship starts from. Only joined columns of related rows
        /// have this source.
        case outer(column: Int)
        /// The key of the outer row.
        case outerKey
        /// A column of the destination of a to-one relationship; null if there is no destination.
        case value(RelatedRows, column: Int)
        /// The key of the destination of a to-one relationship; null if there is no destination.
        case key(RelatedRows)
        /// Whether there is a related row: 1 if there is, 0 if not.
        case exists(RelatedRows)
        /// An aggregate of a column of all related rows. Without a column, the number of related rows.
        case aggregate(RelatedRows, FetchFunction, column: Int?)
    }

    package let source: Source
    package let kind: ValueKind
    /// The kind of the numbers from which an aggregate is calculated.
    package let calculation: ValueKind

    package init(_ source: Source, _ kind: ValueKind, calculation: ValueKind? = nil) {
        self.source = source
        self.kind = kind
        self.calculation = calculation ?? kind
    }

    /// The related rows that the column uses; nil for a column of the outer row.
    package var related: RelatedRows? {
        switch source {
        case .outer, .outerKey: nil
        case .value(let related, _), .key(let related), .exists(let related), .aggregate(let related, _, _): related
        }
    }

    // MARK: Numbers

    /// The first number of a joined column. Joined columns have higher numbers than an entity's own columns. The number of a
    /// joined column also encodes its storage.
    private static let firstNumber = 1 << 20

    package static func isJoined(_ column: Int) -> Bool { column >= firstNumber }

    /// Returns the index of a joined column among the joined columns of its query.
    package static func index(_ column: Int) -> Int { (column - firstNumber) >> 3 }

    /// Returns the number of this column as the joined column with the given index in its query.
    package func number(at index: Int) -> Int {
        JoinedColumn.firstNumber + (index << 3 | (kind == .decimal ? 4 : 0) | Int(kind.storage.rawValue))
    }

    static func order(_ column: Int) -> ColumnOrder {
        let bits = column - firstNumber
        return ColumnOrder(storage: ColumnStorage(rawValue: UInt8(bits & 3)) ?? .blob, isDecimal: bits & 4 != 0)
    }
}

/// All or some of the rows that a relationship leads to.
package struct RelatedRows: Sendable, Hashable {
    /// How a relationship leads from a row to its related rows.
    package enum Link: Sendable, Hashable {
        /// A column of the source row has the key of the destination row.
        case destination(column: Int)
        /// A column of each destination row has the key of the source row.
        case source(column: Int)
        /// Each link is a separate row that has both keys.
        case pairs(layout: Int, own: Int, other: Int)
    }

    package let link: Link
    /// The entity whose columns are used in the predicate.
    package let destination: Int
    /// The entities of the related rows.
    package let family: [Int]
    /// Whether the relationship leads to at most one row.
    package private(set) var isToOne = false
    /// The predicate that the related rows must match.
    package var predicate: RowPredicate
    /// The joined columns of the related rows.
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

    /// - Returns: Nil for a transient to-many relationship, because it has no stored links.
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

    /// Whether the related rows depend on columns of the outer row other than the columns of the link.
    package var isCorrelated: Bool {
        joined.contains { $0.related == nil }
    }

    /// Adds the entities whose rows affect the result.
    package func collectEntities(_ entities: inout Set<Int>) {
        entities.formUnion(family)
        if case .pairs(let layout, _, _) = link { entities.insert(layout) }
        for column in joined { column.related?.collectEntities(&entities) }
    }
}

extension EntityLayout {
    /// Returns the order of the values in a column or joined column.
    package func order(of column: Int) -> ColumnOrder {
        JoinedColumn.isJoined(column) ? JoinedColumn.order(column) : orders[column]
    }
}

extension StoredRow {
    /// Returns the snapshot that has the column's value, and the index of the column in that snapshot.
    @inline(__always)
    package func cell(_ column: Int) -> (row: RowSnapshot, column: Int) {
        JoinedColumn.isJoined(column) ? joinedCell(column) : (row, column)
    }

    private func joinedCell(_ column: Int) -> (row: RowSnapshot, column: Int) {
        let index = JoinedColumn.index(column)
        return (joined ?? RowSnapshot(columnCount: index + 1), index)
    }

    /// Returns whether both versions of the row have the same values in all columns.
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
