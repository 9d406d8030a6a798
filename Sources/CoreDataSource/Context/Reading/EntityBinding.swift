internal import RowStore

/// What a context may do with the rows of an entity, and so what it may believe about them.
enum EntityRights {
    /// It only reads them.
    case read
    /// It edits them, as a draft does, while others write them.
    case edit
    /// It alone writes them, and takes in every change by others before its next batch.
    case own
}

/// What a context knows about one entity: its class, its objects, and the indexes of their values.
final class EntityBinding {
    let layout: EntityLayout
    /// The class of every registered object.
    private(set) var type: ManagedObject.Type
    /// The row of a new object: default values and nulls.
    let template: RowSnapshot
    let rules: ValidationRules
    let derivations: [Derivation]
    let rights: EntityRights
    /// Whether the context may edit objects of this entity.
    let isOwned: Bool

    /// What the objects know of their context, which sets it.
    var home: ObjectHome
    let objects = ObjectTable()
    /// The bytes that registered objects of an owned entity take, each with the row with which it was last saved.
    private(set) var registeredBytes = 0
    // Only this library's code runs during an access to the tables below, on the queue of the context, so accesses cannot overlap.
    @exclusivity(unchecked) private var uniqueIndexes: [UniqueIndex]
    /// The keys of objects whose values are not in the unique indexes yet, by the constraint.
    @exclusivity(unchecked) private var unindexed: [[Int64]]
    /// Whether every row of the entity is registered, so that the store need not be asked. Only ``noteHoldsAllRows()`` sets it.
    private(set) var holdsAllRows = false
    /// Whether the store was asked if it has any rows, since the cache was last emptied.
    var isEmptinessKnown = false
    /// Look-ups since the last save that had to read the store.
    var misses = 0
    /// Space for strings and blobs that new rows get, in words.
    var spareWords = 16

    /// The objects that were inserted in this batch, those that were deleted again included.
    @exclusivity(unchecked) private(set) var inserted: [ManagedObject] = []
    /// The objects that were edited or deleted in this batch and had been saved before.
    private(set) var touched: [ManagedObject] = []
    /// How many objects the batch has inserted and not deleted again.
    private(set) var insertedCount = 0
    /// How many saved objects the batch has deleted.
    private(set) var deletedCount = 0
    /// How many of the inserted objects were handed to the store before the save.
    var earlyCount = 0
    /// Whether the batch has deleted an object, be it one that it had inserted.
    private(set) var hasDeletions = false
    /// The columns by which objects are looked up that need not be unique.
    private(set) var valueIndexes: [ValueIndex] = [] {
        didSet { home.hasValueIndexes = followsValues }
    }
    /// What matches predicates that this batch has asked before.
    private var repeatedPredicates = RepeatedPredicates()
    /// Whether new values of objects have to be noted.
    var followsValues: Bool { !valueIndexes.isEmpty || !repeatedPredicates.isEmpty }
    /// How many rows were tested for their value in a column, to find out when an index is worth its cost.
    private var scannedRows: [Int: Int] = [:]
    /// The order in which objects are looked up by unique values.
    @exclusivity(unchecked) private var order = LookupOrder()
    /// By constraint of one column: the values that no stored row had when this batch looked for them. A row to which the batch
    /// gives such a value is found in the unique index first.
    private var absentValues: [Int: Set<RowValue>] = [:]
    /// Columns without an index whose look-up was reported to the diagnostics.
    var notedColumns = ColumnSet()

    init(_ layout: EntityLayout, type: ManagedObject.Type, rules: ValidationRules, rights: EntityRights) {
        self.layout = layout
        home = ObjectHome(layout, in: nil, .not)
        self.type = type
        self.rules = rules
        self.rights = rights
        isOwned = rights != .read
        derivations = Derivation.all(of: layout)
        template = rules.template(layout)
        uniqueIndexes = Array(repeating: UniqueIndex(), count: layout.constraints.count)
        unindexed = Array(repeating: [], count: layout.constraints.count)
    }

    /// Uses a class for an entity for which the model names none.
    func adopt(_ type: ManagedObject.Type) {
        guard self.type == ManagedObject.self, type != self.type else { return }
        forgetObjects()
        self.type = type
    }

    /// The approximate size of an object beside its row: the object itself and its entries in tables.
    static let objectBytes = 256

    // MARK: Objects

    /// Registers an object. One that is inserted counts when it is saved.
    @inline(__always)
    func register(_ object: ManagedObject) {
        objects.insert(object)
        guard isOwned else { return }
        indexLater(object)
        if object.state == .saved { registeredBytes += object.row.byteCount + EntityBinding.objectBytes }
    }

    /// Gives a registered object a newer row.
    func refresh(_ object: ManagedObject, _ row: RowSnapshot, asOf number: Int64) {
        let bytes = object.row.byteCount
        object.refresh(row, asOf: number)
        if isOwned { registeredBytes += object.row.byteCount - bytes }
    }

    /// Gives a registered object without edits the row with which another context has saved it.
    func replaceRow(of object: ManagedObject, by row: RowSnapshot) {
        if isOwned { registeredBytes += row.byteCount - object.row.byteCount }
        object.row = row
    }

    /// A registered object is deleted by the next save.
    func delete(_ object: ManagedObject) {
        switch object.state {
        case .inserted:
            object.markGone()
            objects.remove(object.key)
            noteDelete(wasInserted: true)
        case .saved, .edited:
            if object.state == .saved { noteTouch(object) }
            object.markDeleted()
            noteDelete(wasInserted: false)
        case .deleted, .gone: break
        }
        noteMatch(of: object)
    }

    /// A changed object was saved.
    func didSave(_ object: ManagedObject, asOf number: Int64) {
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

    /// The row of a registered object, which has no edits that stay, is gone.
    func forget(_ object: ManagedObject) {
        if isOwned { registeredBytes -= object.savedRow.byteCount + EntityBinding.objectBytes }
        object.markGone()
        objects.remove(object.key)
    }

    /// Takes back what was changed in an object since the last save.
    func endEdits(of object: ManagedObject) {
        if object.state == .inserted { objects.remove(object.key) }
        object.endEdits()
    }

    /// The deletion of a row was taken back.
    func revive(_ object: ManagedObject, _ row: RowSnapshot, asOf number: Int64) {
        object.revive(row, asOf: number)
        objects.insert(object)
    }

    // MARK: Edits

    func noteInsert(_ object: ManagedObject) {
        inserted.append(object)
        insertedCount += 1
        noteMatch(of: object)
    }

    /// An object without edits is about to be edited or deleted.
    func noteTouch(_ object: ManagedObject) {
        touched.append(object)
        for index in valueIndexes { index.noteSaved(object) }
        noteMatch(of: object)
    }

    /// Whether an object matches a predicate may have changed.
    func noteMatch(of object: ManagedObject) {
        if repeatedPredicates.isEmpty { return }
        repeatedPredicates.note(object, limit: 1024 + 2 * objects.count)
        if repeatedPredicates.isEmpty { home.hasValueIndexes = followsValues }
    }

    /// What matches a predicate that this batch has asked before; nil for a new one.
    func repeated(_ predicate: RowPredicate, isOfRegistered: Bool) -> MatchingObjects? {
        defer { home.hasValueIndexes = followsValues }
        return repeatedPredicates.answer(to: predicate, self, isOfRegistered: isOfRegistered)
    }

    /// An object was deleted that had been inserted in this batch, or before it.
    private func noteDelete(wasInserted: Bool) {
        if wasInserted { insertedCount -= 1 } else { deletedCount += 1 }
        hasDeletions = true
    }

    /// All rows are registered now. Nobody but the owner may believe that later: the others are not told of every new row.
    func noteHoldsAllRows() { holdsAllRows = rights == .own }

    /// A row was inserted that is not registered.
    func noteUnregisteredRow() { holdsAllRows = false }

    /// All edits were saved or taken back.
    func endBatch() {
        inserted.removeAll(keepingCapacity: inserted.count < 1024)
        touched.removeAll(keepingCapacity: touched.count < 1024)
        (insertedCount, deletedCount, misses, earlyCount) = (0, 0, 0, 0)
        hasDeletions = false
        if !absentValues.isEmpty { absentValues = [:] }
        for index in valueIndexes { index.endBatch() }
        if repeatedPredicates.isUnused { return }
        repeatedPredicates = RepeatedPredicates()
        home.hasValueIndexes = followsValues
    }

    /// Forgets which values the store lacked, because others may have inserted them since.
    func forgetAbsence() {
        if !absentValues.isEmpty { absentValues = [:] }
        for index in valueIndexes { index.forgetStore() }
    }

    /// Forgets the objects that are not held elsewhere and have no edits. Indexes hold objects too, so they are built again.
    func removeUnreferenced() {
        forgetUniqueValues()
        valueIndexes.removeAll()
        objects.removeUnreferenced()
        for object in objects.objects {
            indexLater(object)
        }
    }

    // MARK: Values

    /// The index of a column; it is built now if there is none.
    func valueIndex(_ column: Int) -> ValueIndex {
        if let index = knownIndex(column) { return index }
        let index = ValueIndex(column, self)
        valueIndexes.append(index)
        return index
    }

    /// The index of a column if it exists, or if as many rows as it would hold have been tested without it.
    func valueIndex(_ column: Int, insteadOf count: Int) -> ValueIndex? {
        if let index = knownIndex(column) { return index }
        let scanned = scannedRows[column, default: 0]
        if scanned >= objects.count { return valueIndex(column) }
        scannedRows[column] = scanned + count
        return nil
    }

    private func knownIndex(_ column: Int) -> ValueIndex? { valueIndexes.first { $0.column == column } }

    /// Adds the present values of an object to the indexes, in one column or in all.
    func noteValues(of object: ManagedObject, _ column: Int? = nil) {
        for index in valueIndexes where column == nil || index.column == column { index.insert(object) }
        noteMatch(of: object)
    }

    // MARK: Unique values

    func isAbsent(_ value: RowValue, _ constraint: Int) -> Bool { absentValues[constraint]?.contains(value) ?? false }

    func noteAbsent(_ values: Set<RowValue>, _ constraint: Int) {
        absentValues[constraint, default: []].formUnion(values)
    }

    /// The registered object with that value in the only column of a uniqueness constraint.
    func find(_ constraint: Int, _ column: Int, _ value: RowValue) -> ManagedObject? {
        if let key = order.nextKey, let object = objects[key], !object.isDeleted,
            object.row.holds(value, column: column)
        {
            order.note(key)
            return object
        }
        var hash = UniqueHash()
        hash.combine(value)
        settle(constraint)
        let found = uniqueIndexes[constraint].first(hash, in: objects) {
            !$0.isDeleted && $0.row.holds(value, column: column)
        }
        if let found { order.note(found.key) }
        return found
    }

    /// Another registered object with those values in the columns of a uniqueness constraint.
    func find(_ constraint: Int, _ values: [RowValue], except other: ManagedObject? = nil) -> ManagedObject? {
        var hash = UniqueHash()
        for value in values { hash.combine(value) }
        let columns = layout.constraints[constraint]
        settle(constraint)
        return uniqueIndexes[constraint].first(hash, in: objects) { object in
            guard object !== other, !object.isDeleted else { return false }
            return columns.indices.allSatisfy { object.row.holds(values[$0], column: columns[$0]) }
        }
    }

    /// Notes that an object has new values in the columns of a uniqueness constraint. They are put into the index when somebody
    /// looks one up: most fetches are not followed by that, and all new objects have the same default values for a moment, which
    /// would gather in one place of the index.
    func indexLater(_ object: ManagedObject, _ constraint: Int) {
        if unindexed[constraint].last == object.key { return }
        unindexed[constraint].append(object.key)
        // Some objects may have been noted many times.
        if unindexed[constraint].count > 1024 + 2 * objects.count { settle(constraint) }
    }

    /// Notes that an object may have new values in the columns of every uniqueness constraint.
    func indexLater(_ object: ManagedObject) {
        for constraint in layout.constraints.indices { indexLater(object, constraint) }
    }

    private func settle(_ constraint: Int) {
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

    /// Puts the object's present values in the columns of a uniqueness constraint into the index.
    func index(_ object: ManagedObject, _ constraint: Int) {
        var hash = UniqueHash()
        for column in layout.constraints[constraint] {
            if object.row.isNull(column) { return }
            hash.combine(object.row, column: column, storage: layout.columns[column].storage)
        }
        uniqueIndexes[constraint].insert(hash, object.key)
    }

    /// How many entries were looked at to put values into the unique indexes. For tests.
    var uniqueIndexLooks: Int { uniqueIndexes.reduce(0) { $0 + $1.looks } }

    /// Whether an index holds far more entries than there are objects, because values changed.
    var isIndexStale: Bool {
        let most = objects.count * 4 + 1024
        return uniqueIndexes.contains { $0.count > most } || valueIndexes.contains { $0.count > most }
    }

    /// Forgets all objects without edits. Those with edits stay, so that no row has two objects with edits.
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
        holdsAllRows = false
        isEmptinessKnown = false
        absentValues = [:]
    }

    /// Whether anything was edited in this batch.
    var hasEdits: Bool { !inserted.isEmpty || !touched.isEmpty }

    /// Whether the stored row of that key was edited or deleted in this batch.
    func isTouched(_ key: Int64) -> Bool {
        guard !touched.isEmpty, let object = objects[key] else { return false }
        return object.state == .edited || object.state == .deleted
    }

    /// Notes again which objects are edited, after edits were taken back one by one.
    func setEdits(_ objects: [ManagedObject]) {
        endBatch()
        for object in objects {
            switch object.state {
            case .inserted: noteInsert(object)
            case .edited: noteTouch(object)
            case .deleted:
                noteTouch(object)
                noteDelete(wasInserted: false)
            case .saved, .gone: break
            }
        }
    }

    /// Adds the present values of an object to each index.
    func index(_ object: ManagedObject) {
        for constraint in layout.constraints.indices { index(object, constraint) }
        noteValues(of: object)
    }
}
