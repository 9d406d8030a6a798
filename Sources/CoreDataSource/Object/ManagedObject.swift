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
/// An object always belongs to the context that returned it. An object is not `Sendable`, and the compiler does not let it
/// leave a hook or `perform`. Pass plain values and ``ManagedObjectID``s between contexts.
///
/// Subclasses are generated from the model. If you write a subclass by hand, override ``entityName`` and ``attributeKeyPaths``,
/// and access columns with ``attribute(at:)`` and ``setAttribute(_:at:)``.
///
/// **Isolation**: the same as the context of the object. An object of the main context is read-only: setting one of its
/// attributes is a programmer error and traps.
nonisolated open class ManagedObject: CustomStringConvertible {
    final let home: ObjectHome
    @exclusivity(unchecked) final private(set) var key: Int64
    // Only this library accesses the row, the state and the group, on the queue of the context. So accesses cannot overlap.
    @exclusivity(unchecked) final var row: RowSnapshot
    // This order of the properties needs the least padding.
    @exclusivity(unchecked) final private(set) var state: ObjectState
    /// Whether a relationship of this object was read or set while the object had no context.
    final var hasUsedRelationshipWithoutContext = false
    /// Whether the object is in the changed objects of its context. Only ``ChangedObjects`` sets the flag.
    @exclusivity(unchecked) final var isAmongChanged = false
    /// The last saved row; nil unless the object has edits of a saved row.
    final private(set) var saved: RowSnapshot?
    /// The index of the object in ``group``.
    @exclusivity(unchecked) final var groupIndex: Int32 = 0
    /// The number of the newest save that ``row`` includes.
    final var asOf: SaveNumber
    /// The mark of the last sync in which the hook returned this object for a value.
    final var syncMark: Int32 = 0
    /// The index of a uniqueness constraint that the current values are known to meet; -1 if there is none.
    final var checkedConstraint: Int32 = -1
    /// The objects that were read together with this object.
    @exclusivity(unchecked) final var group: FetchGroup?

    /// Makes an object. Only contexts call this initializer. To insert an object, call ``EditingContext/insert(_:)``.
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
    // The registry of an entity calls these functions. A draft also calls them to undo edits.

    /// Records that a save has written the row.
    final func markSaved(asOf number: SaveNumber) {
        (state, saved, asOf) = (.saved, nil, number)
    }

    /// Records that the next save deletes the row.
    final func markDeleted() { state = .deleted }

    /// Records that the row no longer exists.
    final func markGone() { state = .gone }

    /// Records that the object has a row again, or has a new row.
    final func revive(_ row: RowSnapshot, asOf number: SaveNumber) {
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

    /// Replaces the edits of the object. The new state can be a state without edits.
    final func replaceState(_ state: ObjectState, _ row: RowSnapshot, saved: RowSnapshot?) {
        (self.state, self.row, self.saved) = (state, row, saved)
    }

    /// Gives a new object of a draft the key under which it was saved. The context must register the object again.
    final func rename(to key: Int64) { self.key = key }

    /// How the object can be edited in its context.
    final var editing: ObjectEditing { home.editing }

    /// Whether the context finds objects of this entity by values that need not be unique.
    final var isIndexedByValues: Bool { home.hasValueIndexes }

    /// Reports a stored value that does not have the type of its attribute. The caller then uses another value instead.
    func recordDamage(_ column: Int) { layout.recordDamage(column) }

    /// The name of the entity in the model.
    open class var entityName: String { "" }

    /// The name of the attribute for each key path of the class, including inherited attributes.
    open class var attributeKeyPaths: [AnyKeyPath: String] { [:] }

    /// The name of the relationship for each key path of the class, including inherited relationships.
    open class var relationshipKeyPaths: [AnyKeyPath: String] { [:] }

    /// The name of the attribute or relationship for each key path that begins with an optional object of the class.
    ///
    /// Such a key path is `\ThreadEntity?.?.title`. Predicates and orders of other classes use it after a to-one relationship
    /// to this class, for example in `\.thread?.title`. Inherited properties are included.
    open class var optionalKeyPaths: [AnyKeyPath: String] { [:] }

    /// The names of the entity's attributes and relationships, including inherited ones; nil if the class does not know them.
    ///
    /// ``FetchPredicate/init(format:_:)`` checks the names in a format against this set. Classes with `@StoredEntity` and
    /// classes that the plugin generates know the names. If you write a class by hand, you need not override this property: the
    /// fetch then checks the names.
    open class var propertyNames: Set<String>? {
        guard DeclaredEntity.own(of: self) != nil else { return nil }
        return Set(attributeKeyPaths.values).union(relationshipKeyPaths.values)
    }

    /// The class's description of its entity; nil for a class that is not declared with `@StoredEntity`.
    open class var declaredEntity: DeclaredEntity? { nil }

    /// Sets the initial values that are calculated for each new object, such as `UUID()`. `@StoredEntity` overrides this
    /// method.
    ///
    /// Called once, when the object is inserted. A migration calls it on other objects, to find values of new attributes.
    open func setInitialValues() {}

    /// The permanent ID of the object.
    public final var objectID: ManagedObjectID { ManagedObjectID(layout, key: key) }

    /// Whether the object was inserted and has not been saved yet.
    public final var isInserted: Bool { state == .inserted }

    /// Whether the object was saved before and has unsaved edits.
    public final var isUpdated: Bool { state == .edited }

    /// Whether the object was deleted. The values of a deleted object can still be read.
    public final var isDeleted: Bool { state == .deleted || state == .gone }

    /// Whether the object has changes to save.
    public final var hasChanges: Bool { state == .inserted || state == .edited || state == .deleted }

    /// The ID, the kind of change and the values, for a log: `ContactEntity/12 (edited): name "Guan Yu", age 41`.
    ///
    /// Long strings are shortened, and data is shown as its length. Nil values are left out.
    open var description: String { layout.description(key, row, state) }

    /// The names of the attributes, and of the relationships stored in the object's row, that differ from the last
    /// save. A position in an ordered relationship has a name such as `group.position`. For a new object, the names of
    /// all values that are not nil.
    ///
    /// **Complexity**: one comparison for each attribute and stored relationship.
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
    /// The object was saved before. The next save deletes it.
    case deleted
    /// A save deleted the object, or the insertion of the object was discarded.
    case gone
}

/// The argument with which a context makes a ``ManagedObject``. Only contexts can make a seed, and a seed cannot be kept.
public struct ManagedObjectSeed: ~Copyable {
    // The caller that makes the object retains the home and the row. Strong references here would cost two retains per object.
    let home: Unmanaged<ObjectHome>
    let key: Int64
    let row: UnsafePointer<RowSnapshot>
    let state: ObjectState
    let asOf: SaveNumber
}

extension ManagedObject {
    @inline(__always)
    static func make(
        _ home: ObjectHome, key: Int64, row: RowSnapshot, _ state: ObjectState, asOf: SaveNumber
    ) -> Self {
        withExtendedLifetime(home) {
            withUnsafePointer(to: row) {
                self.init(
                    ManagedObjectSeed(home: .passUnretained(home), key: key, row: $0, state: state, asOf: asOf))
            }
        }
    }
}

/// Two objects are equal if they are identical. Compare objects of different contexts by their IDs.
extension ManagedObject: Hashable {
    public static func == (lhs: ManagedObject, rhs: ManagedObject) -> Bool { lhs === rhs }

    public final func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

@available(*, unavailable, message: "An object stays in its context. Pass its objectID, or values, instead.")
extension ManagedObject: Sendable {}

/// Deferred values (``RowQuery/defersValues``). A fetch leaves these values in the store. The first use of a deferred
/// value reads the whole row.
extension ManagedObject {
    /// Whether any value of the row is deferred.
    final var hasDeferredValues: Bool { layout.hasDeferredValues(row) }

    /// Whether the row has the bytes of a column. Deferred bytes are read first. False if this read fails, or if the
    /// object no longer exists.
    @inline(__always)
    final func hasBytes(_ column: Int) -> Bool { !row.isDeferred(column) || deferredReads(column) }

    @inline(never)
    private func deferredReads(_ column: Int) -> Bool {
        // An object for values of any type has no deferred values, but one of its numbers can look like a deferred value.
        if home.storesAnyValue { return true }
        home.context?.loadDeferredValues(of: self, column)
        return !row.isDeferred(column) && !row.isNull(column)
    }

    /// Whether the object has read deferred values that a newer row lacks, and all other values are equal.
    ///
    /// The deferred values are still valid in this case: a save that changes them provides a whole row, and any other change
    /// makes all objects read their rows again.
    final func holdsDeferredValues(missingIn newer: RowSnapshot) -> Bool {
        guard layout.hasDeferredValues(newer) else { return false }
        return layout.columns.indices.allSatisfy { column in
            if layout.deferredColumns.contains(column) {
                if row.isDeferred(column) { return false }
                if newer.isDeferred(column) { return row.blobByteCount(column) == newer.blobByteCount(column) }
            }
            return row.isEqual(to: newer, column: column, storage: layout.columns[column].storage)
        }
    }

    /// The row with all values. If a deferred value cannot be read, all deferred values are null.
    final var wholeRow: RowSnapshot { row(with: layout.deferredColumns) }

    /// The row with the values of the given columns. Values in other columns can be deferred.
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

/// The functions for all edits. Setting an equal value changes nothing. On a read-only object, setting an equal value
/// also traps, so that the mistake is found whatever the value is.
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

    /// Traps if the object is read-only, or if its draft has ended. An edit of a guarded object makes the save throw.
    @inline(__always)
    private func checkIsEditable(_ column: Int) {
        switch editing {
        case .inBatch: break
        case .inDraft: draft.checkInBatch()
        case .guarded: home.context?.refuse(DataSourceError(guarding: layout, attribute: layout.columns[column].name))
        case .readOnly:
            preconditionFailure(
                "\(layout.name).\(layout.columns[column].name) was set on an object of the main context or of container.read, which is read-only. Edit the object in a hook or in perform { } of its data source, or edit a copy of the object in a draft."
            )
        }
    }

    /// Prepares the object for a new value of a column.
    ///
    /// - Returns: False for a deleted or guarded object: the object keeps its values, and the save throws.
    private func beginEdit(_ column: Int) -> Bool {
        switch state {
        case .inserted, .edited, .saved: break
        case .deleted, .gone:
            home.context?.refuseEditOfDeleted(self, column)
            return false
        }
        if editing != .inBatch {
            if editing == .guarded { return false }
            draft.willChange(self)
        }
        if state == .saved {
            home.context?.willEdit(self)
            saved = row
            state = .edited
        }
        return true
    }

    /// The context of a draft's object. Traps if the draft has ended.
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

    /// The last saved row; the current row if the object has no edits.
    final var savedRow: RowSnapshot { saved ?? row }

    /// Gives an edited object its last saved row. The object stays in its context's changed objects until the batch ends.
    final func restoreSavedRow() {
        if state == .edited, let saved { row = saved }
    }

    /// Replaces the row with a newer row. A row with deferred values is also replaced with a row of the same save that has no
    /// deferred values. Keeps the row if the new row differs only because it defers values that this row has.
    final func refresh(_ newer: RowSnapshot, asOf number: SaveNumber) {
        guard number > asOf || number == asOf && hasDeferredValues && !layout.hasDeferredValues(newer) else { return }
        if holdsDeferredValues(missingIn: newer) { return }
        row = newer
        asOf = number
    }

    /// Whether a value differs from the saved value. An edit that restores the saved value does not count.
    final var hasEdits: Bool {
        saved.map { !row.columnsChanged(since: $0, layout).isEmpty } ?? false
    }
}

extension RowSnapshot {
    /// Returns the columns whose values differ from those of a saved row.
    func columnsChanged(since saved: RowSnapshot, _ layout: EntityLayout) -> ColumnSet {
        var columns = ColumnSet()
        for column in layout.columns.indices
        where !isEqual(to: saved, column: column, storage: layout.columns[column].storage) {
            columns.insert(column)
        }
        return columns
    }
}
