internal import RowStore

/// The properties that all objects of one entity in one context share. Each object has only a reference to this value, its
/// home. So an object is small, and can be made quickly.
///
/// **Isolation**: the same as the context.
final class ObjectHome {
    let layout: EntityLayout
    /// The storage of each column. A column that is calculated from other objects is null in the row. Such a column has the
    /// storage `.blob` here, which its accessors reject, so that no accessor reads the null as a value.
    let storages: ContiguousArray<ColumnStorage>
    /// The index of the first column that each class of the lineage declares, beginning with the root class.
    let firstColumns: ContiguousArray<Int>
    /// Whether any column is calculated from other objects.
    let hasCalculatedColumns: Bool
    /// A calculated column that was read without a context, and therefore could not be calculated.
    var uncalculatedColumn: Int?
    /// A relationship that was read without a context, and therefore was empty.
    var unreadRelationship: Int?
    /// Nil after the container is deinitialized, and for objects without a context.
    weak let context: (any ObjectContext)?
    // Only the context sets the value, on its queue, and not while an object is edited. So accesses cannot overlap.
    @exclusivity(unchecked) var editing: ObjectEditing
    /// Whether the objects represent values of any type instead of rows of the entity.
    let storesAnyValue: Bool
    /// Whether the context looks up the objects by values that need not be unique.
    var hasValueIndexes = false
    /// For each to-one relationship, by index, the table of its destination objects. A relationship has a table only if the
    /// relationship was followed, its destination is a single entity, and the context is read-only.
    @exclusivity(unchecked) private var destinations: ContiguousArray<Destination?> = []

    private struct Destination {
        /// The column with the key of the destination.
        let column: Int
        /// A table in ``tables``, without reference counting for each look-up.
        let objects: Unmanaged<ObjectTable>
    }

    /// The tables to which ``destinations`` refers.
    private var tables: [ObjectTable] = []

    init(
        _ layout: EntityLayout, in context: (any ObjectContext)?, _ editing: ObjectEditing, storesAnyValue: Bool = false
    ) {
        self.layout = layout
        firstColumns = layout.firstColumns
        hasCalculatedColumns = !layout.calculatedPaths.isEmpty
        storages = hasCalculatedColumns ? ObjectHome.storages(layout) : layout.storages
        self.context = context
        self.editing = editing
        self.storesAnyValue = storesAnyValue
    }

    private static func storages(_ layout: EntityLayout) -> ContiguousArray<ColumnStorage> {
        var storages = layout.storages
        for column in layout.calculatedPaths.keys { storages[column] = .blob }
        return storages
    }

    /// An object for converting a stored value to the type of a property. Its row is set only during the conversion.
    private(set) lazy var scratch: ManagedObject = RowObject.make(layout, nil, storesAnyValue: true)

    /// Makes ``registeredDestination(of:at:)`` find the destination objects of a relationship.
    ///
    /// - Parameter objects: The registered objects of the destination. The home retains this table, and the objects in
    ///   the table retain their homes. To break such cycles, the context must empty the table when the context is
    ///   deinitialized.
    func setDestination(_ objects: ObjectTable, column: Int, at index: Int) {
        while destinations.count <= index { destinations.append(nil) }
        if !tables.contains(where: { $0 === objects }) { tables.append(objects) }
        destinations[index] = Destination(column: column, objects: .passUnretained(objects))
    }

    /// The registered destination of a to-one relationship; nil if only the context can find the object.
    @inline(__always)
    func registeredDestination(of object: ManagedObject, at index: Int) -> ManagedObject? {
        guard destinations.indices.contains(index), let destination = destinations[index],
            !object.row.isNull(destination.column),
            let found = destination.objects._withUnsafeGuaranteedRef({ $0[object.row.integer(destination.column)] }),
            !found.isDeleted
        else { return nil }
        return found
    }
}

/// The way in which an object can be edited.
enum ObjectEditing: UInt8 {
    /// The object is read-only, like an object of the main context.
    case readOnly
    /// The object can be edited in a batch, which saves or discards all edits.
    case inBatch
    /// The object can be edited in a draft, which can undo each edit.
    case inDraft
    /// The object does not belong to the data source whose hook `willSave` is running. An edit makes the save throw.
    case guarded
}
