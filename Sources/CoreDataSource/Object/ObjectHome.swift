internal import RowStore

/// What all objects of one entity in one context have in common. Each of them holds one reference to it, so that an object is small
/// and is made fast.
///
/// **Isolation**: that of the context.
final class ObjectHome {
    let layout: EntityLayout
    /// How each column is stored. Those that are calculated from other objects have the storage of none of their values, so that
    /// no accessor takes their null for a value.
    let storages: ContiguousArray<ColumnStorage>
    /// Whether there are such columns.
    let hasCalculatedColumns: Bool
    /// Such a column that was read where there is no context, and so nothing to calculate it from.
    var uncalculatedColumn: Int?
    /// Nil once the container is gone, and for objects that belong to no context.
    weak let context: (any ObjectContext)?
    /// How objects may be edited.
    let editing: ObjectEditing
    /// Whether the objects stand for values of any type, not for rows of the entity.
    let holdsAnyValue: Bool
    /// Whether the context looks the objects up by values that need not be unique.
    var hasValueIndexes = false
    /// Where objects are found that to-one relationships lead to, by the relationship's number. Only relationships that were
    /// followed, in a context that cannot edit, to one entity.
    @exclusivity(unchecked) private var destinations: ContiguousArray<Destination?> = []

    private struct Destination {
        /// The column with the key.
        let column: Int
        /// One of ``tables``, not counted as referenced each time that an object is looked for.
        let objects: Unmanaged<ObjectTable>
    }

    /// The tables of ``destinations``.
    private var tables: [ObjectTable] = []

    init(
        _ layout: EntityLayout, in context: (any ObjectContext)?, _ editing: ObjectEditing, holdsAnyValue: Bool = false
    ) {
        self.layout = layout
        hasCalculatedColumns = !layout.calculatedPaths.isEmpty
        storages = hasCalculatedColumns ? ObjectHome.storages(layout) : layout.storages
        self.context = context
        self.editing = editing
        self.holdsAnyValue = holdsAnyValue
    }

    private static func storages(_ layout: EntityLayout) -> ContiguousArray<ColumnStorage> {
        var storages = layout.storages
        for column in layout.calculatedPaths.keys { storages[column] = .blob }
        return storages
    }

    /// An object that holds a value for the moment in which it is read as the type of a property.
    private(set) lazy var scratch: ManagedObject = RowObject.make(layout, nil, holdsAnyValue: true)

    /// From now on, ``registeredDestination(of:at:)`` looks for objects of a relationship.
    ///
    /// - Parameter objects: The registered objects of the destination. They refer to their homes, so the context has to empty the
    ///   table when it goes.
    func setDestination(_ objects: ObjectTable, column: Int, at index: Int) {
        while destinations.count <= index { destinations.append(nil) }
        if !tables.contains(where: { $0 === objects }) { tables.append(objects) }
        destinations[index] = Destination(column: column, objects: .passUnretained(objects))
    }

    /// The object that a to-one relationship leads to, if it is registered; nil if the context has to find out.
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
    /// It is for reading, as objects of main are.
    case not
    /// In a batch, which saves or takes back all edits.
    case inBatch
    /// In a draft, which can undo each edit.
    case inDraft
}
