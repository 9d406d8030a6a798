internal import RowStore

/// One object of the graph, as one context sees it.
///
/// An object belongs to the context that it came from and stays there: it is not `Sendable`, and the compiler refuses to
/// let it out of a hook or of `perform`. Plain values and ``ManagedObjectID``s go between contexts.
///
/// Subclasses are generated from the model. A subclass written by hand overrides ``entityName`` and
/// ``attributeKeyPaths``, and reads and writes its columns with ``attribute(at:)`` and ``setAttribute(_:at:)``.
///
/// **Isolation**: that of its context. Objects of the main context are for reading; setting one of their attributes is a
/// programmer error and traps.
open class ManagedObject: CustomStringConvertible {
    private final let home: ObjectHome
    final let key: Int64
    // Only this library's code runs while the row is read or written, on the queue of the context, so accesses cannot overlap.
    @exclusivity(unchecked) final var row: RowSnapshot
    /// The row as it was last saved, while the object has edits of a saved row.
    final var saved: RowSnapshot?
    final var state: ObjectState
    /// The last save that ``row`` takes into account.
    final var asOf: Int64
    /// The sync that last met this object.
    final var syncMark: Int32 = 0
    /// The constraint whose uniqueness has been checked for the value that the object holds now; -1 for none.
    final var checkedConstraint: Int32 = -1
    /// Its place in ``group``.
    final var groupPlace: Int32 = 0
    /// Whether a relationship was asked or set while it had no context.
    final var hasFollowed = false
    /// The objects that it was last read with.
    final var group: FetchGroup?

    /// Contexts make objects; an app asks them to.
    public required init(_ seed: borrowing ManagedObjectSeed) {
        home = seed.home
        key = seed.key
        row = seed.row
        state = seed.state
        asOf = seed.asOf
    }

    /// The context that the object belongs to; nil once the container is gone, and for the object that ``ListRow`` makes for
    /// one read.
    public final var context: ManagedObjectContext? { home.context }

    final var layout: EntityLayout { home.layout }

    /// How the object may be edited in its context.
    final var editing: ObjectEditing { home.editing }

    /// Whether the context looks such objects up by values that need not be unique.
    final var isIndexedByValues: Bool { home.hasValueIndexes }

    /// Reports that a stored value is none of its attribute's type, and reads as another.
    func noteDamage(_ column: Int) { layout.noteDamage(column) }

    /// The name of the entity in the model.
    open class var entityName: String { "" }

    /// The attribute that each key path of the class leads to, inherited ones included.
    open class var attributeKeyPaths: [AnyKeyPath: String] { [:] }

    /// The relationship that each key path of the class leads to, inherited ones included.
    open class var relationshipKeyPaths: [AnyKeyPath: String] { [:] }

    /// The attribute or relationship that each key path of an optional object of the class leads to, inherited ones included:
    /// `\ThreadEntity?.?.title`. For predicates and orders of other classes along a to-one relationship that leads here, as
    /// `\.thread?.title`.
    open class var optionalKeyPaths: [AnyKeyPath: String] { [:] }

    /// The object's permanent name.
    public final var objectID: ManagedObjectID { ManagedObjectID(layout, key: key) }

    /// Whether the object was inserted and not yet saved.
    public final var isInserted: Bool { state == .inserted }

    /// Whether the object was saved before and has edits that are not saved yet.
    public final var isUpdated: Bool { state == .edited }

    /// Whether the object has been deleted. Its values stay readable.
    public final var isDeleted: Bool { state == .deleted || state == .gone }

    /// Whether the object has anything to save.
    public final var hasChanges: Bool { state == .inserted || state == .edited || state == .deleted }

    /// The id, what was done to the object, and its values, for a log: `ContactEntity/12 (edited): name "Guan Yu", age 41`.
    ///
    /// Long strings are shortened, and of data only the length is given. Nil values are left out.
    open var description: String { layout.description(key, row, state) }

    /// The names of the attributes whose values differ from the saved ones; all that are not nil, for a new object.
    public final var changedAttributes: [String] {
        layout.columns.indices.filter { column in
            guard let saved else { return state == .inserted && !row.isNull(column) }
            return !row.isEqual(to: saved, column: column, storage: layout.columns[column].storage)
        }.map { layout.columns[$0].name }
    }
}

/// Where an object is between two saves.
enum ObjectState: UInt8 {
    /// As it was saved.
    case saved
    case inserted
    case edited
    /// To be deleted by the next save; it had been saved before.
    case deleted
    /// Deleted and saved so, or inserted and taken back.
    case gone
}

/// What a context makes a ``ManagedObject`` from. Only contexts can make one, and nobody can keep it.
public struct ManagedObjectSeed: ~Copyable {
    let home: ObjectHome
    let key: Int64
    let row: RowSnapshot
    let state: ObjectState
    let asOf: Int64
}

/// Two objects are equal if they are one: the same object of the same context. Compare the ids of objects of different
/// contexts.
extension ManagedObject: Hashable {
    public static func == (one: ManagedObject, other: ManagedObject) -> Bool { one === other }

    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@available(*, unavailable)
extension ManagedObject: Sendable {}
