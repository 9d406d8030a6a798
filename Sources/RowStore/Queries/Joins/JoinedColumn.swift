/// A column that a query adds to its rows: a value that comes from the rows to which a relationship leads.
///
/// Everything that a query does with columns it does with these too: it compares them, sorts by them, returns them.
package struct JoinedColumn: Sendable, Hashable {
    package indirect enum Source: Sendable, Hashable {
        /// A column of the row whose related rows these are. It is among the columns of related rows only.
        case outer(column: Int)
        /// The key of that row.
        case outerKey
        /// A column of the row to which a to-one relationship leads; null if it leads nowhere.
        case value(RelatedRows, column: Int)
        /// The key of that row.
        case key(RelatedRows)
        /// Whether there is any related row: 1 or 0.
        case exists(RelatedRows)
        /// What is made of a column of all related rows, or their number, which needs no column.
        case aggregate(RelatedRows, FetchFunction, column: Int?)
    }

    package let source: Source
    package let kind: ValueKind
    /// Of an aggregate: the kind of number in which it is calculated.
    package let calculation: ValueKind

    package init(_ source: Source, _ kind: ValueKind, calculation: ValueKind? = nil) {
        self.source = source
        self.kind = kind
        self.calculation = calculation ?? kind
    }

    /// The related rows that it comes from; nil for a column of the row outside.
    package var related: RelatedRows? {
        switch source {
        case .outer, .outerKey: nil
        case .value(let related, _), .key(let related), .exists(let related), .aggregate(let related, _, _): related
        }
    }

    // MARK: Numbers

    /// The numbers of joined columns come after those that an entity's own columns can have, and say how values are kept.
    private static let firstNumber = 1 << 20

    package static func isJoined(_ column: Int) -> Bool { column >= firstNumber }

    /// The place of a joined column among those of its query.
    package static func index(_ column: Int) -> Int { (column - firstNumber) >> 3 }

    /// The number of the joined column at that place.
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
    /// How a row of the one side finds those of the other.
    package enum Link: Sendable, Hashable {
        /// A column of the source has the key of its destination.
        case destination(column: Int)
        /// A column of the destinations has the key of their source.
        case source(column: Int)
        /// Rows of their own have both keys.
        case pairs(layout: Int, own: Int, other: Int)
    }

    package let link: Link
    /// The entity by whose columns the predicate is.
    package let destination: Int
    /// The entities that the rows can be of.
    package let family: [Int]
    /// Which of them count.
    package var predicate: RowPredicate
    /// What the rows get from others.
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

    /// - Returns: Nil for a relationship that is stored nowhere.
    package init?(_ relationship: RelationshipLayout) {
        let link: Link
        switch relationship.storage {
        case .column(let column): link = .destination(column: column.key)
        case .inverseColumn(let column): link = .source(column: column.key)
        case .pairs(let pairs): link = .pairs(layout: pairs.layout, own: pairs.own.key, other: pairs.other.key)
        case .none: return nil
        }
        self.init(link, destination: relationship.destination, family: relationship.destinationFamily)
    }

    /// Whether what they are depends on more of the source than its links.
    package var isCorrelated: Bool {
        joined.contains { $0.related == nil }
    }

    /// Whose rows matter.
    package func collectEntities(_ entities: inout Set<Int>) {
        entities.formUnion(family)
        if case .pairs(let layout, _, _) = link { entities.insert(layout) }
        for column in joined { column.related?.collectEntities(&entities) }
    }
}

extension EntityLayout {
    /// How the values of a column are ordered, whether it is one of the entity or a joined one.
    package func order(of column: Int) -> ColumnOrder {
        JoinedColumn.isJoined(column) ? JoinedColumn.order(column) : orders[column]
    }
}

extension StoredRow {
    /// The columns that have a column, and its place there.
    @inline(__always)
    package func cell(_ column: Int) -> (row: RowSnapshot, column: Int) {
        JoinedColumn.isJoined(column) ? joinedCell(column) : (row, column)
    }

    private func joinedCell(_ column: Int) -> (row: RowSnapshot, column: Int) {
        let index = JoinedColumn.index(column)
        return (joined ?? RowSnapshot(columnCount: index + 1), index)
    }

    /// Whether all columns hold the same as in another version of the row.
    package func isIdentical(to other: StoredRow) -> Bool {
        row.words == other.row.words && joined?.words == other.joined?.words
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
