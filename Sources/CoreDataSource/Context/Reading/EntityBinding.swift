internal import RowStore

/// The rights of a context to the rows of an entity.
enum EntityRights {
    /// The context only reads the rows.
    case read
    /// The context edits the rows while other contexts write them. A draft has this right.
    case edit
    /// Only this context edits the rows. Before each batch, it applies all changes that were made outside the context.
    case own
}

/// The state of one entity in a context: its class, its objects, and the indexes of their values.
final class EntityBinding {
    let layout: EntityLayout
    /// The class of every registered object.
    private(set) var type: ManagedObject.Type
    /// The row of a new object: default values and nulls.
    let template: RowSnapshot
    let rules: ValidationRules
    let derivations: [Derivation]
    let rights: EntityRights
    /// Whether the context can edit objects of this entity.
    let isOwned: Bool

    /// The properties that the objects share. The context sets the properties.
    var home: ObjectHome
    let objects = ObjectTable()
    /// The bytes of the registered objects of an owned entity. An edited object counts with its last saved row.
    private(set) var registeredBytes = 0
    // Accesses to the tables below cannot overlap, because only this library's code uses them, on the queue of the context.
    @exclusivity(unchecked) private var uniqueIndexes: [UniqueIndex]
    /// For each constraint, the keys of objects whose values are not in the unique index yet.
    @exclusivity(unchecked) private var unindexed: [[Int64]]
    /// Whether every row is registered, so that reads skip the store. Only ``recordAllRowsRegistered()`` makes it true.
    private(set) var hasAllRows = false
    /// True after the context has checked in the store whether the entity has rows. False again after the objects are
    /// forgotten.
    var isEmptinessKnown = false
    /// The number of look-ups in this batch that had to read from the store.
    var misses = 0
    /// The space for strings and blobs in new rows, in words.
    var spareWords = 16

    /// The objects that were inserted in this batch, including objects that were deleted again.
    @exclusivity(unchecked) private(set) var inserted: [ManagedObject] = []
    /// The objects that were edited or deleted in this batch and had been saved before.
    private(set) var touched: [ManagedObject] = []
    /// The number of objects that the batch has inserted and not deleted again.
    private(set) var insertedCount = 0
    /// The number of saved objects that the batch has deleted.
    private(set) var deletedCount = 0
    /// The number of inserted objects that were passed to the early write.
    var earlyWriteCount = 0
    /// Whether the batch has deleted any object, including an object that it had inserted.
    private(set) var hasDeletions = false
    /// The indexes of columns without a uniqueness constraint.
    private(set) var valueIndexes: [ValueIndex] = [] {
        didSet { home.hasValueIndexes = followsValues }
    }
    /// The results of predicates that this batch uses repeatedly.
    @exclusivity(unchecked) private var repeatedPredicates = RepeatedPredicates()
    /// Whether new values of objects must be recorded in value indexes or for repeated predicates.
    var followsValues: Bool { !valueIndexes.isEmpty || !repeatedPredicates.isEmpty }
    /// For each column, the number of rows that were evaluated without an index. An index is built when this number is high
    /// enough.
    private var scannedRows: [Int: Int] = [:]
    /// Predicts the next object that is looked up by a unique value.
    @exclusivity(unchecked) private var order = LookupOrder()
    /// For each single-column constraint, the values that no stored row had when this batch looked them up. If the batch gives
    /// such a value to a row, look-ups find the row in the unique index first.
    private var absentValues: [Int: Set<RowValue>] = [:]
    /// Columns without an index whose look-up was recorded as a diagnostic.
    var diagnosedColumns = ColumnSet()

    init(_ layout: EntityLayout, type: ManagedObject.Type, rules: ValidationRules, rights: EntityRights) {
        self.layout = layout
        home = ObjectHome(layout, in: nil, .readOnly)
        self.type = type
        self.rules = rules
        self.rights = rights
        isOwned = rights != .read
        derivations = Derivation.all(of: layout)
        template = rules.template(layout)
        uniqueIndexes = Array(repeating: UniqueIndex(), count: layout.constraints.count)
        unindexed = Array(repeating: [], count: layout.constraints.count)
    }

    /// Uses a class for the entity if the model names no class.
    func adopt(_ type: ManagedObject.Type) {
        guard self.type == ManagedObject.self, type != self.type else { return }
        forgetObjects()
        self.type = type
    }

    /// The approximate size of an object without its row, in bytes: the object itself and its entries in tables.
    static let objectBytes = 256

    // MARK: Objects

    /// Registers an object. The bytes of an inserted object are counted only after its save.
    @inline(__always)
    func register(_ object: ManagedObject) {
        objects.insert(object)
        guard isOwned else { return }
        indexLater(object)
        if object.state == .saved { registeredBytes += object.row.byteCount + EntityBinding.objectBytes }
    }

    func refresh(_ object: ManagedObject, _ row: RowSnapshot, asOf number: SaveNumber) {
        let bytes = object.row.byteCount
        object.refresh(row, asOf: number)
        if isOwned { registeredBytes += object.row.byteCount - bytes }
    }

    /// Gives a registered object without edits the row that another context has saved.
    func replaceRow(of object: ManagedObject, by row: RowSnapshot) {
        if isOwned { registeredBytes += row.byteCount - object.row.byteCount }
        object.row = row
    }

    /// Marks a registered object, so that the next save deletes it.
    func delete(_ object: ManagedObject) {
        switch object.state {
        case .inserted:
            object.markGone()
            objects.remove(object.key)
            recordDelete(wasInserted: true)
        case .saved, .edited:
            if object.state == .saved { recordTouch(object) }
            object.markDeleted()
            recordDelete(wasInserted: false)
        case .deleted, .gone: break
        }
        recordMatch(of: object)
    }

    /// Updates the state and the counts after the save of a changed object.
    func didSave(_ object: ManagedObject, asOf number: SaveNumber) {
        switch object.state {
        case .inserted, .edited:
            if isOwned {
                let before = object.saved.map { $0.byteCount + EntityBinding.objectBytes } ?? 0
                registeredBytes += object.row.byteCount + EntityBinding.objectBytes - before
            }
            object.markSaved(asOf: number)
        case .deleted: forget(object)
        case .saved, .gone: break
        }
    }

    /// Removes a registered object whose row no longer exists. The object must have no unsaved edits.
    func forget(_ object: ManagedObject) {
        if isOwned { registeredBytes -= object.savedRow.byteCount + EntityBinding.objectBytes }
        object.markGone()
        objects.remove(object.key)
    }

    /// Discards the changes of an object since the last save.
    func endEdits(of object: ManagedObject) {
        if object.state == .inserted { objects.remove(object.key) }
        object.endEdits()
    }

    /// Registers a deleted object again, because the deletion was rolled back.
    func revive(_ object: ManagedObject, _ row: RowSnapshot, asOf number: SaveNumber) {
        object.revive(row, asOf: number)
        objects.insert(object)
    }

    // MARK: Edits

    func recordInsert(_ object: ManagedObject) {
        inserted.append(object)
        insertedCount += 1
        recordMatch(of: object)
    }

    /// Records that an object without edits is about to be edited or deleted.
    func recordTouch(_ object: ManagedObject) {
        touched.append(object)
        for index in valueIndexes { index.recordSaved(object) }
        recordMatch(of: object)
    }

    /// Records that an object may now match different predicates.
    func recordMatch(of object: ManagedObject) {
        if repeatedPredicates.isEmpty { return }
        repeatedPredicates.record(object, limit: 1024 + 2 * objects.count)
        if repeatedPredicates.isEmpty { home.hasValueIndexes = followsValues }
    }

    /// Returns the objects that match a predicate that this batch has used before; nil for a new predicate.
    func repeated(_ predicate: RowPredicate, coversRegisteredObjects: Bool) -> MatchingObjects? {
        defer { home.hasValueIndexes = followsValues }
        return repeatedPredicates.answer(to: predicate, self, coversRegisteredObjects: coversRegisteredObjects)
    }

    private func recordDelete(wasInserted: Bool) {
        if wasInserted { insertedCount -= 1 } else { deletedCount += 1 }
        hasDeletions = true
    }

    /// Records that all rows are registered. Has no effect without the right `own`: only the owner is notified of new rows.
    func recordAllRowsRegistered() { hasAllRows = rights == .own }

    /// Records that a row was inserted without being registered.
    func recordUnregisteredRow() { hasAllRows = false }

    /// Forgets the edits, after all edits were saved or discarded.
    func endBatch() {
        inserted.removeAll(keepingCapacity: inserted.count < 1024)
        touched.removeAll(keepingCapacity: touched.count < 1024)
        (insertedCount, deletedCount, misses, earlyWriteCount) = (0, 0, 0, 0)
        hasDeletions = false
        if !absentValues.isEmpty { absentValues = [:] }
        for index in valueIndexes { index.endBatch() }
        if repeatedPredicates.isUnused { return }
        repeatedPredicates = RepeatedPredicates()
        home.hasValueIndexes = followsValues
    }

    /// Forgets which values were absent from the store, because other contexts may have inserted them.
    func forgetAbsence() {
        if !absentValues.isEmpty { absentValues = [:] }
        for index in valueIndexes { index.forgetStore() }
    }

    /// Removes the objects that only this binding references. Value indexes reference objects, so the indexes are removed
    /// first.
    func removeUnreferenced() {
        forgetUniqueValues()
        valueIndexes.removeAll()
        objects.removeUnreferenced()
        for object in objects.objects {
            indexLater(object)
        }
    }

    // MARK: Values

    /// Returns the index of a column. The first call builds the index.
    func valueIndex(_ column: Int) -> ValueIndex {
        if let index = knownIndex(column) { return index }
        let index = ValueIndex(column, self)
        valueIndexes.append(index)
        return index
    }

    /// Returns the index of a column; nil if building the index is not worth its cost yet: see ``scannedRows``.
    func valueIndex(_ column: Int, insteadOf count: Int) -> ValueIndex? {
        if let index = knownIndex(column) { return index }
        let scanned = scannedRows[column, default: 0]
        if scanned >= objects.count { return valueIndex(column) }
        scannedRows[column] = scanned + count
        return nil
    }

    func knownIndex(_ column: Int) -> ValueIndex? { valueIndexes.first { $0.column == column } }

    /// Adds the current values of an object to the index of one column, or to all indexes.
    func recordValues(of object: ManagedObject, _ column: Int? = nil) {
        for index in valueIndexes where column == nil || index.column == column { index.insert(object) }
        recordMatch(of: object)
    }

    // MARK: Unique values

    func isAbsent(_ value: RowValue, _ constraint: Int) -> Bool { absentValues[constraint]?.contains(value) ?? false }

    func recordAbsent(_ values: Set<RowValue>, _ constraint: Int) {
        absentValues[constraint, default: []].formUnion(values)
    }

    /// Returns the registered object with the given value in the only column of a uniqueness constraint.
    func find(_ constraint: Int, column: Int, _ value: RowValue) -> ManagedObject? {
        if let key = order.nextKey, let object = objects[key], !object.isDeleted,
            object.row.holds(value, column: column)
        {
            order.record(key)
            return object
        }
        var hash = UniqueHash()
        hash.combine(value)
        indexPendingValues(constraint)
        let found = uniqueIndexes[constraint].first(hash, in: objects) {
            !$0.isDeleted && $0.row.holds(value, column: column)
        }
        if let found { order.record(found.key) }
        return found
    }

    /// Returns a registered object with the given values in the columns of a uniqueness constraint.
    func find(_ constraint: Int, _ values: [RowValue], except other: ManagedObject? = nil) -> ManagedObject? {
        var hash = UniqueHash()
        for value in values { hash.combine(value) }
        let columns = layout.constraints[constraint]
        indexPendingValues(constraint)
        return uniqueIndexes[constraint].first(hash, in: objects) { object in
            guard object !== other, !object.isDeleted else { return false }
            return columns.indices.allSatisfy { object.row.holds(values[$0], column: columns[$0]) }
        }
    }

    /// Records that an object has new values in the columns of a constraint. The next look-up adds them to the index.
    ///
    /// New values wait, because often no look-up follows, and because equal default values would collide in the index.
    func indexLater(_ object: ManagedObject, _ constraint: Int) {
        if unindexed[constraint].last == object.key { return }
        unindexed[constraint].append(object.key)
        // An object can be recorded many times, so limit the number of waiting entries.
        if unindexed[constraint].count > 1024 + 2 * objects.count { indexPendingValues(constraint) }
    }

    /// Records that an object may have new values in the columns of every uniqueness constraint.
    func indexLater(_ object: ManagedObject) {
        for constraint in layout.constraints.indices { indexLater(object, constraint) }
    }

    private func indexPendingValues(_ constraint: Int) {
        if unindexed[constraint].isEmpty { return }
        for key in unindexed[constraint] {
            if let object = objects[key] { index(object, constraint) }
        }
        unindexed[constraint].removeAll(keepingCapacity: true)
    }

    private func forgetUniqueValues() {
        for constraint in uniqueIndexes.indices {
            uniqueIndexes[constraint].removeAll()
            unindexed[constraint].removeAll()
        }
    }

    /// Adds the object's current values in the columns of a uniqueness constraint to the index.
    func index(_ object: ManagedObject, _ constraint: Int) {
        var hash = UniqueHash()
        for column in layout.constraints[constraint] {
            if object.row.isNull(column) { return }
            hash.combine(object.row, column: column, storage: layout.columns[column].storage)
        }
        uniqueIndexes[constraint].insert(hash, object.key)
    }

    /// The number of entries that were visited while values were added to the unique indexes. For tests.
    var uniqueIndexProbeCount: Int { uniqueIndexes.reduce(0) { $0 + $1.probeCount } }

    /// Whether an index has far more entries than there are objects: each change of a value adds an entry.
    var isIndexStale: Bool {
        let most = objects.count * 4 + 1024
        return uniqueIndexes.contains { $0.count > most } || valueIndexes.contains { $0.count > most }
    }

    /// Removes all objects without edits. Objects with edits stay, so that a row never has two edited objects.
    func forgetObjects() {
        let edited = [inserted, touched].joined().filter(\.hasChanges)
        objects.removeAll()
        registeredBytes = 0
        forgetUniqueValues()
        valueIndexes.removeAll()
        for object in edited where objects[object.key] == nil {
            objects.insert(object)
            if !object.isInserted { registeredBytes += object.savedRow.byteCount + EntityBinding.objectBytes }
            indexLater(object)
        }
        scannedRows.removeAll()
        hasAllRows = false
        isEmptinessKnown = false
        absentValues = [:]
    }

    /// Whether this batch has inserted, edited or deleted any object.
    var hasEdits: Bool { !inserted.isEmpty || !touched.isEmpty }

    /// Whether this batch has edited or deleted the stored row with a key.
    func isTouched(_ key: Int64) -> Bool {
        guard !touched.isEmpty, let object = objects[key] else { return false }
        return object.state == .edited || object.state == .deleted
    }

    /// Replaces the lists of edited objects, after objects of a draft have gained or lost edits.
    func setEdits(_ objects: [ManagedObject]) {
        endBatch()
        for object in objects {
            switch object.state {
            case .inserted: recordInsert(object)
            case .edited: recordTouch(object)
            case .deleted:
                recordTouch(object)
                recordDelete(wasInserted: false)
            case .saved, .gone: break
            }
        }
    }

    func index(_ object: ManagedObject) {
        for constraint in layout.constraints.indices { index(object, constraint) }
        recordValues(of: object)
    }
}
