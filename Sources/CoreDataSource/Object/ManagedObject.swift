internal import RowStore

/// An object of the graph in one context.
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
/// An object belongs to the context that it came from and stays there. It is not `Sendable`, and the compiler does not let it
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
    // Only this library's code reads and writes the row, the state and the group, on the queue of the context, so accesses
    // cannot overlap.
    @exclusivity(unchecked) final var row: RowSnapshot
    // The order of the properties leaves the least padding between them.
    @exclusivity(unchecked) final private(set) var state: ObjectState
    /// Whether a relationship was read or set while there was no context.
    final var hasFollowed = false
    /// Whether the object is among the changed objects of its context. Only ``ChangedObjects`` sets the flag.
    @exclusivity(unchecked) final var isAmongChanged = false
    /// The row as it was last saved; nil unless the object has edits of a saved row.
    final private(set) var saved: RowSnapshot?
    /// The index of the object in ``group``.
    @exclusivity(unchecked) final var groupIndex: Int32 = 0
    /// The number of the last save that ``row`` includes.
    final var asOf: Int64
    /// The number of the last sync that met this object.
    final var syncMark: Int32 = 0
    /// The index of the constraint whose uniqueness was checked for the present values; -1 for none.
    final var checkedConstraint: Int32 = -1
    /// The objects that this object was last read with.
    @exclusivity(unchecked) final var group: FetchGroup?

    /// Makes an object. Only contexts call this initializer; an app calls ``EditingContext/insert(_:)``.
    public required init(_ seed: borrowing ManagedObjectSeed) {
        home = seed.home.takeUnretainedValue()
        key = seed.key
        row = seed.row.pointee
        state = seed.state
        asOf = seed.asOf
    }

    package final var layout: EntityLayout { home.layout }

    // MARK: States
    //
    // The registry of an entity calls these functions. A draft also calls them, to undo edits.

    /// A save has written the row.
    final func markSaved(asOf number: Int64) {
        (state, saved, asOf) = (.saved, nil, number)
    }

    /// The next save deletes the row.
    final func markDeleted() { state = .deleted }

    /// The row no longer exists.
    final func markGone() { state = .gone }

    /// The object has a row again, or a new row.
    final func revive(_ row: RowSnapshot, asOf number: Int64) {
        (state, self.row, asOf) = (.saved, row, number)
    }

    /// Discards all changes since the last save.
    final func endEdits() {
        switch state {
        case .inserted: state = .gone
        case .edited, .deleted: (row, saved, state) = (savedRow, nil, .saved)
        case .saved, .gone: break
        }
    }

    /// Replaces the edits of the object. The new state may have none.
    final func put(_ state: ObjectState, _ row: RowSnapshot, saved: RowSnapshot?) {
        (self.state, self.row, self.saved) = (state, row, saved)
    }

    /// Gives a new object of a draft the key that the save assigned. The context must register the object again.
    final func rename(to key: Int64) { self.key = key }

    /// How the object may be edited in its context.
    final var editing: ObjectEditing { home.editing }

    /// Whether the context looks up objects of this entity by values that need not be unique.
    final var isIndexedByValues: Bool { home.hasValueIndexes }

    /// Reports a stored value that does not have its attribute's type, so that another value is read.
    func recordDamage(_ column: Int) { layout.recordDamage(column) }

    /// The name of the entity in the model.
    open class var entityName: String { "" }

    /// The attribute that each key path of the class leads to, including inherited ones.
    open class var attributeKeyPaths: [AnyKeyPath: String] { [:] }

    /// The relationship that each key path of the class leads to, including inherited ones.
    open class var relationshipKeyPaths: [AnyKeyPath: String] { [:] }

    /// The attribute or relationship that each key path of an optional object of the class leads to, including inherited ones.
    ///
    /// The key path is `\ThreadEntity?.?.title`. Predicates and orders of other classes use it after a to-one relationship to
    /// this class, as in `\.thread?.title`.
    open class var optionalKeyPaths: [AnyKeyPath: String] { [:] }

    /// How the class describes its entity; nil for a class that is not declared with `@StoredEntity`.
    open class var declaredEntity: DeclaredEntity? { nil }

    /// Gives a new object the initial values that are calculated for each object, such as `UUID()`. `@StoredEntity` overrides it.
    ///
    /// It is called once, when the object is inserted; objects that come from the store keep their values.
    open func setInitialValues() {}

    /// The permanent id of the object.
    public final var objectID: ManagedObjectID { ManagedObjectID(layout, key: key) }

    /// Whether the object was inserted and is not saved yet.
    public final var isInserted: Bool { state == .inserted }

    /// Whether the object was saved before and has unsaved edits.
    public final var isUpdated: Bool { state == .edited }

    /// Whether the object has been deleted. Its values stay readable.
    public final var isDeleted: Bool { state == .deleted || state == .gone }

    /// Whether the object has changes to save.
    public final var hasChanges: Bool { state == .inserted || state == .edited || state == .deleted }

    /// The id, the kind of change and the values, for a log: `ContactEntity/12 (edited): name "Guan Yu", age 41`.
    ///
    /// Long strings are shortened, and data is shown as its length. Nil values are left out.
    open var description: String { layout.description(key, row, state) }

    /// The names of the attributes whose values differ from the saved values; of a new object, all attributes that are not nil.
    ///
    /// **Complexity**: one comparison for each attribute.
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
    /// Saved before; the next save deletes it.
    case deleted
    /// Deleted by a save; or inserted, with the insertion discarded.
    case gone
}

/// The values from which a context makes a ``ManagedObject``. Only contexts can make a seed, and nobody can keep it.
public struct ManagedObjectSeed: ~Copyable {
    // The maker of the object keeps the home and the row alive. References here would be counted twice more for each object.
    let home: Unmanaged<ObjectHome>
    let key: Int64
    let row: UnsafePointer<RowSnapshot>
    let state: ObjectState
    let asOf: Int64
}

extension ManagedObject {
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

/// Two objects are equal if they are identical. Compare objects of different contexts by their ids.
extension ManagedObject: Hashable {
    public static func == (lhs: ManagedObject, rhs: ManagedObject) -> Bool { lhs === rhs }

    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@available(*, unavailable, message: "An object stays in its context. Pass its objectID, or values, instead.")
extension ManagedObject: Sendable {}

/// Deferred values (``RowQuery/defersValues``), which a fetch leaves in the store. The first use of one reads the whole row.
extension ManagedObject {
    /// Whether any value of the row is deferred.
    final var hasDeferredValues: Bool { layout.hasDeferredValues(row) }

    /// Whether the bytes of a column are in the row. Reads deferred bytes first. False also if the object is gone, and its
    /// value with it.
    @inline(__always)
    final func hasBytes(_ column: Int) -> Bool { !row.isDeferred(column) || deferredReads(column) }

    @inline(never)
    private func deferredReads(_ column: Int) -> Bool {
        // A number in a result may look like a deferred value.
        if home.storesAnyValue { return true }
        home.context?.bringValues(of: self, column)
        return !row.isDeferred(column) && !row.isNull(column)
    }

    /// Whether the object has read deferred values that a newer row lacks, and the rows are equal otherwise.
    ///
    /// The deferred values are then still valid: a save that changes them brings a whole row, and any other change makes all
    /// objects read their rows again.
    final func hasDeferredValues(of newer: RowSnapshot) -> Bool {
        guard layout.hasDeferredValues(newer) else { return false }
        return layout.columns.indices.allSatisfy { column in
            if layout.deferredColumns.contains(column) {
                if row.isDeferred(column) { return false }
                if newer.isDeferred(column) { return row.blobByteCount(column) == newer.blobByteCount(column) }
            }
            return row.isEqual(to: newer, column: column, storage: layout.columns[column].storage)
        }
    }

    /// The row with all values. Deferred values that cannot be read are null.
    final var wholeRow: RowSnapshot { row(with: layout.deferredColumns) }

    /// The row with the values of the given columns. Values of other columns may stay deferred.
    final func row(with columns: [Int]) -> RowSnapshot {
        if layout.deferredColumns.isEmpty { return row }
        for column in columns where layout.deferredColumns.contains(column) && !hasBytes(column) {
            return layout.withoutDeferredValues(row)
        }
        return row
    }
}

extension ManagedObject {
    /// The size of the row in memory, in bytes. For tests.
    package final var rowByteCount: Int { row.byteCount }
}

/// All edits. Setting an equal value changes nothing, but traps like any other edit of a read-only object: whether an edit is a
/// mistake must not depend on the value.
extension ManagedObject {
    final func setNull(_ column: Int) {
        checkIsEditable(column)
        if row.isNull(column) || !beginEdit(column) { return }
        row.setNull(column)
        didEdit(column)
    }

    final func setWord(_ word: UInt64, _ column: Int) {
        checkIsEditable(column)
        if !row.isNull(column) && row.word(column) == word || !beginEdit(column) { return }
        row.setWord(word, column)
        didEdit(column)
    }

    /// Sets a real. Negative zero becomes zero, as in SQLite. NaN cannot be stored, so the save throws.
    final func setReal(_ value: Double, _ column: Int) {
        if value.isNaN {
            checkIsEditable(column)
            if beginEdit(column) {
                home.context?.refuseNaN(self, column)
                if editing == .inDraft { draft.didChange(self) }
            }
            return
        }
        setWord(value == 0 ? 0 : value.bitPattern, column)
    }

    final func setBytes(_ bytes: UnsafeRawBufferPointer, _ column: Int) {
        checkIsEditable(column)
        if row.holds(bytes, column: column) || !beginEdit(column) { return }
        row.setBytes(bytes, column)
        didEdit(column)
    }

    final func setValue(_ value: RowValue, _ column: Int) {
        checkIsEditable(column)
        if row.holds(value, column: column) || !beginEdit(column) { return }
        row.setValue(value, column)
        didEdit(column)
    }

    /// Traps if the object is read-only.
    @inline(__always)
    private func checkIsEditable(_ column: Int) {
        switch editing {
        case .inBatch: break
        case .inDraft: draft.checkInBatch()
        case .not:
            preconditionFailure(
                "\(layout.name).\(layout.columns[column].name) was set on an object of the main context or of container.read, which is read-only. Edit the object in a hook or in perform { } of its data source, or edit a copy of the object in a draft."
            )
        }
    }

    /// Prepares the object for a new value of a column.
    ///
    /// - Returns: False for a deleted object: it keeps its values, and the save throws.
    private func beginEdit(_ column: Int) -> Bool {
        switch state {
        case .inserted, .edited, .saved: break
        case .deleted, .gone:
            home.context?.refuseEditOfDeleted(self, column)
            return false
        }
        if editing == .inDraft { draft.willChange(self) }
        if state == .saved {
            home.context?.willEdit(self)
            saved = row
            state = .edited
        }
        return true
    }

    /// The context of an object of a draft. Traps if the draft has ended.
    final var draft: any ObjectContext {
        guard let draft = home.context else {
            preconditionFailure(
                "An object of \(layout.name) was edited after its draft had ended. Keep a reference to the draft while you edit its objects, and make a new draft after discard()."
            )
        }
        return draft
    }

    private func didEdit(_ column: Int) {
        if layout.uniqueColumns.contains(column) {
            checkedConstraint = -1
            home.context?.indexUniqueValue(of: self, column)
        }
        if isIndexedByValues { home.context?.indexValue(of: self, column) }
        if editing == .inDraft { draft.didChange(self) }
    }

    /// The row as it was last saved; the present row if the object has no edits.
    final var savedRow: RowSnapshot { saved ?? row }

    /// Gives an edited object its last saved row. The object stays among the changed objects of its context until the batch
    /// ends.
    final func restoreSavedRow() {
        if state == .edited, let saved { row = saved }
    }

    /// Replaces the row by a newer row, or by a row of the same save without deferred values.
    final func refresh(_ newer: RowSnapshot, asOf number: Int64) {
        guard number > asOf || number == asOf && hasDeferredValues && !layout.hasDeferredValues(newer) else { return }
        if hasDeferredValues(of: newer) { return }
        row = newer
        asOf = number
    }

    /// Whether any value differs from the saved value. Edits that restore the saved value do not count.
    final var hasEdits: Bool {
        saved.map { !row.columnsChanged(since: $0, layout).isEmpty } ?? false
    }
}

extension RowSnapshot {
    /// The columns in which the row differs from a saved row.
    func columnsChanged(since saved: RowSnapshot, _ layout: EntityLayout) -> ColumnSet {
        var columns = ColumnSet()
        for column in layout.columns.indices
        where !isEqual(to: saved, column: column, storage: layout.columns[column].storage) {
            columns.insert(column)
        }
        return columns
    }
}
