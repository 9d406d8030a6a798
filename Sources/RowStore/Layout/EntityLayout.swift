public import ManagedModel

/// The layout of one entity's rows: the model's columns, and the storage of each.
///
/// Columns of a parent come first and in the same order, so an index has the same meaning in every sub-entity. The column of an
/// attribute has its name. A to-one relationship `group` has a column `group` with the key of the other row and, if necessary,
/// `group.entity` with the index of the other row's entity, and `group.position`.
public final class EntityLayout: Sendable {
    /// The entity's place in ``ModelLayout/entities``.
    public let index: Int
    /// The entity's name; for the links of a many-to-many relationship `_Contact_groups`.
    public let name: String
    /// Whether it has no rows of its own.
    public let isAbstract: Bool
    /// The columns, in the order of the row's values.
    public let columns: [ColumnLayout]
    /// The order of each column's values; kept separately because it is used very often.
    package let orders: ContiguousArray<ColumnOrder>
    /// How each column is stored; kept separately, because every access of an attribute compares it.
    package let storages: ContiguousArray<ColumnStorage>
    /// Indexes of the columns that the store keeps: all but transient ones.
    package let storedColumns: [Int]
    /// Indexes of the columns whose large values may stay in the store when a row is read.
    package let columnsApart: [Int]
    /// Groups of columns that must be unique together among the rows of the entity, inherited ones first. Rows with a null in
    /// one of these columns never collide.
    public let constraints: [[Int]]
    /// Positions of the concrete entities of this one's family: itself unless it is abstract, and its sub-entities.
    package let concreteFamily: [Int]
    /// The position of the entity that first declared each constraint: uniqueness applies in its whole family.
    package let constraintOwners: [Int]

    /// Columns that take part in a uniqueness constraint.
    package let uniqueColumns: ColumnSet

    /// Columns with which an index or a uniqueness constraint begins, so that a store finds their values without reading every
    /// row.
    package let indexedColumns: ColumnSet

    /// Its relationships: inherited ones first, each entity's in the order of the model.
    package let relationships: [RelationshipLayout]

    /// The paths along relationships from which derived attributes are calculated when they are read, by column, as a query has
    /// them: `["articles", "@count"]`. Their columns are null in every row.
    package let calculatedPaths: [Int: [String]]

    /// The relationship whose links these rows are; nil for the rows of an entity.
    package let links: RelationshipName?

    /// The columns with keys of other rows: of to-one relationships, and both ends of a link.
    package let linkColumns: [Int]

    let damage: DamagedValues
    private let indexesByName: [String: Int]
    private let relationshipsByName: [String: Int]
    /// The constraint of each column alone, or -1 if it has none.
    private let constraintsByColumn: [Int]

    init(
        index: Int, entity: EntityDescription, columns: [ColumnLayout], constraints: [[Int]], constraintOwners: [Int],
        concreteFamily: [Int], relationships: [RelationshipLayout], links: RelationshipName? = nil,
        indexedColumns: Set<Int>, damage: DamagedValues
    ) {
        self.index = index
        self.name = entity.name
        self.isAbstract = entity.isAbstract
        self.columns = columns
        orders = ContiguousArray(columns.lazy.map { ColumnOrder($0) })
        storages = ContiguousArray(columns.lazy.map(\.storage))
        self.storedColumns = columns.indices.filter { columns[$0].isStored }
        columnsApart = columns.indices.filter { columns[$0].mayLieApart }
        self.constraints = constraints
        self.constraintOwners = constraintOwners
        self.concreteFamily = concreteFamily
        self.relationships = relationships
        self.links = links
        linkColumns =
            links == nil
            ? relationships.compactMap { if case .column(let column) = $0.storage { column.key } else { nil } }
            : [0, 1]
        let relationshipsByName = Dictionary(relationships.enumerated().map { ($1.name, $0) }) { first, _ in first }
        self.relationshipsByName = relationshipsByName
        calculatedPaths = columns.indices.reduce(into: [:]) { paths, column in
            guard case .path(let path) = columns[column].derivation, relationshipsByName[path[0]] != nil else { return }
            paths[column] = path
        }
        self.damage = damage
        uniqueColumns = constraints.joined().reduce(into: ColumnSet()) { $0.insert($1) }
        self.indexedColumns = indexedColumns.reduce(into: ColumnSet()) { $0.insert($1) }
        constraintsByColumn = columns.indices.map { constraints.firstIndex(of: [$0]) ?? -1 }
        self.indexesByName = Dictionary(columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    /// Traps if a row has other columns than the entity, as one of a store of somebody's own may have.
    @inline(__always)
    package func check(_ row: RowSnapshot) {
        precondition(
            row.columnCount == columns.count,
            "The store returned a row of \(row.columnCount) columns for \(name), which has \(columns.count). Make rows with the layout of their entity: EntityLayout.row(_:)."
        )
    }

    /// The index of the column with that name, or nil.
    public func column(named name: String) -> Int? {
        indexesByName[name]
    }

    /// The position in ``relationships`` of the one with that name, or nil.
    package func relationship(named name: String) -> Int? {
        relationshipsByName[name]
    }

    /// The position in ``constraints`` of the one with exactly this column, or nil.
    package func constraint(onColumn column: Int) -> Int? {
        let constraint = constraintsByColumn[column]
        return constraint < 0 ? nil : constraint
    }
}

/// One column of a row: its name, what it holds, and the rules of its attribute.
public struct ColumnLayout: Sendable {
    /// The name of the property or, for a part of a link, a name such as `group.position`.
    public let name: String
    /// What its values are.
    public let storage: ColumnStorage
    /// Whether a store keeps its values. If not, the attribute is transient, and reads as null.
    public let isStored: Bool
    /// The attribute; nil for the columns of a relationship.
    public let attribute: AttributeDescription?
    /// Whether it has decimal numbers, stored as strings and ordered by value.
    package let isDecimal: Bool

    /// How its attribute is derived; nil if it is not.
    package var derivation: DerivationExpression? {
        attribute?.derivationExpression.flatMap { DerivationExpression($0) }
    }

    package init(_ column: ColumnDescription) {
        name = column.name
        storage = column.attribute.map { ColumnStorage($0.type) } ?? .integer
        isStored = column.isStored
        attribute = column.attribute
        isDecimal = column.attribute?.type == .decimal
    }

    /// A column of a link.
    init(linkColumn name: String) {
        self.name = name
        storage = .integer
        isStored = true
        attribute = nil
        isDecimal = false
    }
}

/// The order of a column's values.
package struct ColumnOrder: Sendable {
    package let storage: ColumnStorage
    /// Whether the column has decimal numbers, stored as strings and ordered by value.
    package let isDecimal: Bool

    init(_ column: ColumnLayout) {
        storage = column.storage
        isDecimal = column.isDecimal
    }

    init(_ kind: ValueKind) {
        self.init(storage: kind.storage, isDecimal: kind == .decimal)
    }

    init(storage: ColumnStorage, isDecimal: Bool) {
        self.storage = storage
        self.isDecimal = isDecimal
    }
}
