public import ManagedModel

/// The layout of one entity's rows: the columns, and how each column is stored.
///
/// The inherited columns come first, in the same order as in the parent. So a column has the same index in every sub-entity.
/// The column of an attribute has the name of the attribute. A to-one relationship `group` has a column `group` with the key of
/// the other row. If necessary, the relationship also has the columns `group.entity`, with the index of the other row's entity,
/// and `group.position`.
public final class EntityLayout: Sendable {
    /// The entity's index in ``ModelLayout/entities``.
    public let index: Int
    /// The entity's name. The links of a many-to-many relationship have a name such as `_Contact_groups`.
    public let name: String
    /// Whether the entity is abstract. An abstract entity has no rows.
    public let isAbstract: Bool
    /// The columns, in the order of the row's values.
    public let columns: [ColumnLayout]
    /// The order of each column's values. A separate array, because the orders are used very often.
    package let orders: ContiguousArray<ColumnOrder>
    /// The name of the entity in an older version of the model; nil if the name has not changed.
    package let formerName: String?
    /// The storage of each column. A separate array, because every access to an attribute checks the storage.
    package let storages: ContiguousArray<ColumnStorage>
    /// The indexes of the columns that the store keeps. These are all columns except the transient ones.
    package let storedColumns: [Int]
    /// The indexes of the columns whose large values can stay in the store when a row is read.
    package let deferredColumns: [Int]
    /// Groups of columns whose values together must be unique in the entity, with the inherited groups first. A row with a null
    /// in one of the columns never collides.
    public let constraints: [[Int]]
    /// The indexes of the concrete entities in this entity's family, which contains the entity and its sub-entities.
    package let concreteFamily: [Int]
    /// For each constraint, the index of the entity that first declared the constraint. The values must be unique in the
    /// whole family of that entity.
    package let constraintOwners: [Int]

    /// All columns that are part of a uniqueness constraint.
    package let uniqueColumns: ColumnSet

    /// The indexes that the model declares for the entity, and those of its ancestors. An index ends before its first element that
    /// has no stored column.
    package let indexes: [[IndexedColumn]]

    /// The first columns of indexes and uniqueness constraints. A store finds values in these columns without reading every
    /// row.
    package let indexedColumns: ColumnSet

    /// The entity's relationships. Inherited relationships come first. The relationships that one entity declares have the
    /// order of the model.
    package let relationships: [RelationshipLayout]

    /// The paths of the derived attributes that are calculated when they are read, by column. A path has the same form as in a
    /// query, such as `["articles", "@count"]`. The columns of these attributes are null in every row.
    package let calculatedPaths: [Int: [String]]

    /// The relationship whose links are stored in these rows; nil for the rows of an entity.
    package let links: RelationshipName?

    /// The columns with keys of other rows. These are the columns of to-one relationships, or both ends of a link.
    package let linkColumns: [Int]

    /// For each entity from the root entity to this one, the index of the first column that the entity declares.
    package let firstColumns: ContiguousArray<Int>

    let damage: DamagedValues
    private let indexesByName: [String: Int]
    private let relationshipsByName: [String: Int]
    /// For each column, the index of the constraint with only this column; -1 if there is no such constraint.
    private let constraintsByColumn: [Int]

    init(
        index: Int, entity: EntityDescription, columns: [ColumnLayout], constraints: [[Int]], constraintOwners: [Int],
        concreteFamily: [Int], relationships: [RelationshipLayout], links: RelationshipName? = nil,
        indexes: [[IndexedColumn]] = [], indexedColumns: Set<Int>, firstColumns: [Int] = [0], damage: DamagedValues
    ) {
        self.index = index
        self.name = entity.name
        formerName = entity.renamingIdentifier
        self.isAbstract = entity.isAbstract
        self.columns = columns
        orders = ContiguousArray(columns.lazy.map { ColumnOrder($0) })
        storages = ContiguousArray(columns.lazy.map(\.storage))
        self.storedColumns = columns.indices.filter { columns[$0].isStored }
        deferredColumns = columns.indices.filter { columns[$0].mayBeDeferred }
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
        self.firstColumns = ContiguousArray(firstColumns)
        self.damage = damage
        uniqueColumns = constraints.joined().reduce(into: ColumnSet()) { $0.insert($1) }
        self.indexes = indexes
        self.indexedColumns = indexedColumns.reduce(into: ColumnSet()) { $0.insert($1) }
        constraintsByColumn = columns.indices.map { constraints.firstIndex(of: [$0]) ?? -1 }
        self.indexesByName = Dictionary(columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    /// Traps if the row has more or fewer columns than the entity. A custom store could return such a row.
    @inline(__always)
    package func check(_ row: RowSnapshot) {
        precondition(
            row.columnCount == columns.count,
            "The store returned a row of \(row.columnCount) columns for \(name), but the number of columns is \(columns.count). Make rows with the layout of their entity: EntityLayout.row(_:)."
        )
    }

    /// Returns the index of a column in ``columns``; nil if no column has the name.
    ///
    /// ```swift
    /// let nameColumn = layout.column(named: "name")
    /// ```
    public func column(named name: String) -> Int? {
        indexesByName[name]
    }

    package func relationship(named name: String) -> Int? {
        relationshipsByName[name]
    }

    /// Returns the index of the constraint with exactly this column; nil if there is none.
    package func constraint(onColumn column: Int) -> Int? {
        let constraint = constraintsByColumn[column]
        return constraint < 0 ? nil : constraint
    }
}

/// One column of a row, with its name, its storage and its attribute.
public struct ColumnLayout: Sendable {
    /// The name of the property. For a part of a link, a name such as `group.position`.
    public let name: String
    /// How the values are stored.
    public let storage: ColumnStorage
    /// Whether a store keeps the values. If false, the property is transient and reads as null.
    public let isStored: Bool
    /// The attribute; nil for the columns of a relationship.
    public let attribute: AttributeDescription?
    /// Whether the values are decimal numbers. They are stored as strings and ordered by value.
    package let isDecimal: Bool

    /// The derivation of the attribute; nil if the attribute is not derived.
    package var derivation: DerivationExpression? {
        attribute?.derivationExpression.flatMap { DerivationExpression($0) }
    }

    /// Whether each string of the column is its own folded form, because a save derives the string with `canonical:`. False
    /// for a derived attribute with a default value, because an object has the default value until the object is saved.
    package var isFolded: Bool {
        guard storage == .text, isStored, attribute?.defaultValue == nil,
            case .transformed(_, .canonical) = derivation
        else { return false }
        return true
    }

    package init(_ column: ColumnDescription) {
        name = column.name
        storage = column.attribute.map { ColumnStorage($0.type) } ?? .integer
        isStored = column.isStored
        attribute = column.attribute
        isDecimal = column.attribute?.type == .decimal
    }

    /// Makes a column of a link.
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
    /// Whether the values are decimal numbers. They are stored as strings and ordered by value.
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

extension EntityLayout {
    /// Returns whether the row has deferred values, which are large values that stay in the store.
    @inline(__always)
    package func hasDeferredValues(_ row: RowSnapshot) -> Bool {
        !deferredColumns.isEmpty && deferredColumns.contains { row.isDeferred($0) }
    }

    /// Returns the row with nulls instead of deferred values.
    package func withoutDeferredValues(_ row: RowSnapshot) -> RowSnapshot {
        var row = row
        for column in deferredColumns where row.isDeferred(column) { row.setNull(column) }
        return row
    }
}

extension ColumnLayout {
    /// Whether the store may defer large values of the column, so that rows are read without these values.
    package var mayBeDeferred: Bool {
        guard isStored, let attribute, attribute.allowsExternalBinaryDataStorage else { return false }
        return attribute.type == .binary || attribute.type == .transformable
    }
}

/// Conversion between rows and values.
extension EntityLayout {
    /// Returns the values of a row, in the order of ``columns``.
    ///
    /// ```swift
    /// for (column, value) in zip(layout.columns, layout.values(of: row))
    /// where column.isStored {
    ///     print(column.name, value)
    /// }
    /// ```
    ///
    /// - Parameter row: A row of this entity. Passing a row of another entity is a programmer error and traps.
    public func values(of row: RowSnapshot) -> [RowValue] {
        precondition(row.columnCount == columns.count, "A row of \(row.columnCount) columns is not a row of \(name).")
        return columns.indices.map { row.value($0, columns[$0].storage) }
    }

    /// Makes a row from values. Checks that each value fits its column, and so finds damaged values in a store.
    ///
    /// ```swift
    /// let row = try layout.row([.text("guan-yu"), .text("Guan Yu"), .integer(35)])
    /// ```
    ///
    /// - Parameter values: One value for each of ``columns``, in the same order.
    /// - Throws: `storeCorrupt` if the number of values is wrong, or if a value does not fit the ``ColumnLayout/storage`` of
    ///   its column; `valueTooLarge`.
    public func row(_ values: [RowValue]) throws(DataSourceError) -> RowSnapshot {
        guard values.count == columns.count else {
            throw DataSourceError(
                .storeCorrupt,
                "A stored object of \(name) has the wrong number of values: \(values.count) instead of \(columns.count). Restore the store from a copy, or delete the store and start over.",
                entityName: name)
        }
        var row = RowSnapshot(columnCount: columns.count)
        for (index, value) in values.enumerated() {
            let column = columns[index]
            guard value.fits(column.storage) else {
                throw DataSourceError(
                    .storeCorrupt,
                    "An object of \(name) has a stored \(column.name) of the wrong type. Restore the store from a copy, or correct that value.",
                    entityName: name, attributeName: column.name)
            }
            guard value.byteCount <= RowSnapshot.longestValue else {
                throw DataSourceError(
                    .valueTooLarge,
                    "An object of \(name) has a \(column.name) of \(value.byteCount) bytes, but a value can have at most "
                        + "\(RowSnapshot.longestValue) bytes. Keep large data in separate files.",
                    entityName: name, attributeName: column.name)
            }
            row.setValue(value, index)
        }
        return row
    }
}

/// An element of an index.
package struct IndexedColumn: Sendable, Hashable {
    package let column: Int
    package let isAscending: Bool

    package init(column: Int, isAscending: Bool = true) {
        (self.column, self.isAscending) = (column, isAscending)
    }
}

extension RowValue {
    /// The length of a string or blob, in bytes; 0 for all other values, which always fit.
    fileprivate var byteCount: Int {
        switch self {
        case .null, .integer, .real: 0
        case .text(let text): text.utf8.count
        case .blob(let bytes): bytes.count
        }
    }
}

extension DataSourceError {
    /// Makes the error for two rows of an entity with the same unique values.
    ///
    /// - Parameter constraint: The columns of the constraint; nil if the rows have the same key.
    package init(uniqueness constraint: [Int]?, _ layout: EntityLayout) {
        let names = constraint.map { $0.map { layout.columns[$0].name } } ?? []
        self.init(
            .uniquenessViolated,
            names.isEmpty
                ? "A row of the store already has the key of a new object of \(layout.name). "
                    + "Add the object again, which gives the object another key."
                : "Two objects of \(layout.name) would have the same \(names.joined(separator: ", ")). "
                    + "Change the existing object, or delete that object in the same save.",
            entityName: layout.name, attributeName: names.count == 1 ? names[0] : nil)
    }
}
