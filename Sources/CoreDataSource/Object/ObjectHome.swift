internal import RowStore

/// The properties that all objects of one entity in one context share. Each object has one reference to its home, so that an
/// object is small and is made fast.
///
/// **Isolation**: that of the context.
final class ObjectHome {
    let layout: EntityLayout
    /// The storage of each column. A column that is calculated from other objects has the storage `.blob`, which none of its
    /// accessors accepts, so that no accessor takes its null for a value.
    let storages: ContiguousArray<ColumnStorage>
    /// The index of the first column that each class of the lineage declares, from the root down.
    let firstColumns: ContiguousArray<Int>
    /// Whether any column is calculated from other objects.
    let hasCalculatedColumns: Bool
    /// A calculated column that was read without a context, so that it had no objects to calculate from.
    var uncalculatedColumn: Int?
    /// Nil after the container is deinitialized, and for objects that belong to no context.
    weak let context: (any ObjectContext)?
    let editing: ObjectEditing
    /// Whether the objects stand for values of any type, not for rows of the entity.
    let storesAnyValue: Bool
    /// Whether the context looks the objects up by values that need not be unique.
    var hasValueIndexes = false
    /// For each to-one relationship, by its index, the table of the objects that it leads to. Only relationships that were
    /// followed, that lead to one entity, and only in a context that cannot edit.
    @exclusivity(unchecked) private var destinations: ContiguousArray<Destination?> = []

    private struct Destination {
        /// The column with the key of the destination.
        let column: Int
        /// One of ``tables``, without reference counting for each look-up.
        let objects: Unmanaged<ObjectTable>
    }

    /// The tables of ``destinations``.
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

    /// An object that has a value only while the value is read as the type of a property.
    private(set) lazy var scratch: ManagedObject = RowObject.make(layout, nil, storesAnyValue: true)

    /// Makes ``registeredDestination(of:at:)`` find the objects that a relationship leads to.
    ///
    /// - Parameter objects: The registered objects of the destination. They refer to their homes, so the context must empty the
    ///   table when it is deinitialized.
    func setDestination(_ objects: ObjectTable, column: Int, at index: Int) {
        while destinations.count <= index { destinations.append(nil) }
        if !tables.contains(where: { $0 === objects }) { tables.append(objects) }
        destinations[index] = Destination(column: column, objects: .passUnretained(objects))
    }

    /// The registered object that a to-one relationship leads to; nil if only the context can find the object.
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

/// How an object may be edited.
enum ObjectEditing: UInt8 {
    /// Read-only, as objects of main are.
    case not
    /// Editable in a batch, which saves or discards all edits.
    case inBatch
    /// Editable in a draft, which can undo each edit.
    case inDraft
}
