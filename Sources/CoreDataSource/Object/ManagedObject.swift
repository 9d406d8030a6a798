internal import RowStore

/// An object of the graph, as one context sees it.
///
/// ```swift
/// let id = try await contacts.perform { context in
///     let contact = try context.insert(ContactEntity.self)
///     contact.uid = "4"
///     return contact.objectID
/// }
/// let contact = try contacts.main.object(ContactEntity.self, id: id)
/// ```
///
/// An object belongs to the context that it came from and stays there: it is not `Sendable`, and the compiler does not let it
/// leave a hook or `perform`. Pass plain values and ``ManagedObjectID``s between contexts.
///
/// Subclasses are generated from the model. A subclass written by hand overrides ``entityName`` and
/// ``attributeKeyPaths``, and reads and writes its columns with ``attribute(at:)`` and ``setAttribute(_:at:)``.
///
/// **Isolation**: that of its context. Objects of the main context are read-only; setting one of their attributes is a
/// programmer error and traps.
nonisolated open class ManagedObject: CustomStringConvertible {
    final let home: ObjectHome
    @exclusivity(unchecked) final private(set) var key: Int64
    // Only this library's code runs while the row, the state or the group is read or written, on the queue of the context, so
    // accesses cannot overlap.
    @exclusivity(unchecked) final var row: RowSnapshot
    // In the order in which the properties leave the least space between them.
    @exclusivity(unchecked) final var state: ObjectState
    /// Whether a relationship was read or set while there was no context.
    final var hasFollowed = false
    /// Whether it is among the changed objects of its context. Only ``ChangedObjects`` sets it.
    @exclusivity(unchecked) final var isAmongChanged = false
    /// The row as it was last saved, while the object has edits of a saved row.
    final var saved: RowSnapshot?
    /// Its place in ``group``.
    @exclusivity(unchecked) final var groupPlace: Int32 = 0
    /// The last save that ``row`` takes into account.
    final var asOf: Int64
    /// The last sync that met this object.
    final var syncMark: Int32 = 0
    /// The constraint whose uniqueness has been checked for the object's present value; -1 for none.
    final var checkedConstraint: Int32 = -1
    /// The objects that it was last read with.
    @exclusivity(unchecked) final var group: FetchGroup?

    /// Only contexts make objects; an app calls their methods.
    public required init(_ seed: borrowing ManagedObjectSeed) {
        home = seed.home.takeUnretainedValue()
        key = seed.key
        row = seed.row.pointee
        state = seed.state
        asOf = seed.asOf
    }

    package final var layout: EntityLayout { home.layout }

    /// Gives a new object of a draft the key with which it was saved. Its context registers it again.
    final func rename(to key: Int64) { self.key = key }

    /// How the object may be edited in its context.
    final var editing: ObjectEditing { home.editing }

    /// Whether the context looks such objects up by values that need not be unique.
    final var isIndexedByValues: Bool { home.hasValueIndexes }

    /// Reports that a stored value is none of its attribute's type, and reads as another.
    func noteDamage(_ column: Int) { layout.noteDamage(column) }

    /// The name of the entity in the model.
    open class var entityName: String { "" }

    /// The attribute that each key path of the class leads to, including inherited ones.
    open class var attributeKeyPaths: [AnyKeyPath: String] { [:] }

    /// The relationship that each key path of the class leads to, including inherited ones.
    open class var relationshipKeyPaths: [AnyKeyPath: String] { [:] }

    /// The attribute or relationship that each key path of an optional object of the class leads to, including inherited ones:
    /// `\ThreadEntity?.?.title`. Predicates and orders of other classes use it along a to-one relationship to this class, as in
    /// `\.thread?.title`.
    open class var optionalKeyPaths: [AnyKeyPath: String] { [:] }

    /// The object's permanent name.
    public final var objectID: ManagedObjectID { ManagedObjectID(layout, key: key) }

    /// Whether the object was inserted and not saved yet.
    public final var isInserted: Bool { state == .inserted }

    /// Whether the object was saved before and has unsaved edits.
    public final var isUpdated: Bool { state == .edited }

    /// Whether the object has been deleted. Its values stay readable.
    public final var isDeleted: Bool { state == .deleted || state == .gone }

    /// Whether the object has anything to save.
    public final var hasChanges: Bool { state == .inserted || state == .edited || state == .deleted }

    /// The id, what was done to the object, and its values, for a log: `ContactEntity/12 (edited): name "Guan Yu", age 41`.
    ///
    /// Long strings are shortened, and data is shown as its length. Nil values are left out.
    open var description: String { layout.description(key, row, state) }

    /// The names of the attributes whose values differ from the saved ones; for a new object, all that are not nil.
    public final var changedAttributes: [String] {
        layout.columns.indices.filter { column in
            guard let saved else { return state == .inserted && !row.isNull(column) }
            return !row.isEqual(to: saved, column: column, storage: layout.columns[column].storage)
        }.map { layout.columns[$0].name }
    }
}

/// The state of an object between two saves.
enum ObjectState: UInt8 {
    /// Unchanged since the last save.
    case saved
    case inserted
    case edited
    /// Will be deleted by the next save; it had been saved before.
    case deleted
    /// Deleted, and that was saved; or inserted and taken back.
    case gone
}

/// What a context makes a ``ManagedObject`` from. Only contexts can make one, and nobody can keep it.
public struct ManagedObjectSeed: ~Copyable {
    // Whoever makes the object holds both. They are not held here too, because their references would be counted twice more for each
    // object.
    let home: Unmanaged<ObjectHome>
    let key: Int64
    let row: UnsafePointer<RowSnapshot>
    let state: ObjectState
    let asOf: Int64
}

extension ManagedObject {
    /// Makes an object of this class.
    @inline(__always)
    static func make(
        _ home: ObjectHome, key: Int64, row: RowSnapshot, _ state: ObjectState, asOf: Int64
    ) -> Self {
        withExtendedLifetime(home) {
            withUnsafePointer(to: row) {
                self.init(
                    ManagedObjectSeed(home: .passUnretained(home), key: key, row: $0, state: state, asOf: asOf))
            }
        }
    }
}

/// Two objects are equal if they are the same object of the same context. Compare the ids of objects of different contexts.
extension ManagedObject: Hashable {
    public static func == (one: ManagedObject, other: ManagedObject) -> Bool { one === other }

    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@available(*, unavailable, message: "An object stays in its context. Pass its objectID, or values, instead.")
extension ManagedObject: Sendable {}
