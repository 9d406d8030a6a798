internal import RowStore

/// A data source whose hook a context calls before a save.
protocol SaveHook: AnyObject, Sendable {
    func willSave(_ changes: PendingChanges, in context: PrivateContext) throws
}

/// A weak reference to a data source, because a context must not keep its data source alive.
struct WeakSaveHook: Sendable {
    weak let hook: (any SaveHook)?

    init(_ hook: (any SaveHook)? = nil) {
        self.hook = hook
    }
}

/// The changes that the hook of a context has seen in a batch.
struct WillSaveRounds {
    /// The largest number of calls of the hook in one batch.
    static let limit = 8

    /// The changed objects as the hook last saw them, in the order of the context's changed objects.
    fileprivate var seen: [SeenObject] = []
    /// The changes for the current call of the hook; empty until the hook reads them.
    fileprivate var unseen: [ObjectChange] = []
    fileprivate var wasCalled = false
    /// Whether the last call has read the changes. A hook that reads nothing is not called again for its own edits.
    fileprivate var hasRead = false
    /// Large changes that the hook has not seen yet.
    var bulk: [PendingChanges.Bulk] = []
    /// Whether no objects are made for the rows of the bulk changes, because there are too many rows.
    var keepsRows = false

    /// Call this method when the edits of the batch were discarded.
    mutating func forgetObjects() {
        seen.removeAll()
        unseen.removeAll()
        bulk.removeAll()
        keepsRows = false
    }
}

private struct SeenObject {
    let row: RowSnapshot
    /// Whether the object was deleted. Later changes of the object do not matter.
    let isGone: Bool

    init(_ object: ManagedObject) {
        row = object.row
        isGone = object.isDeleted
    }
}

extension PrivateContext {
    /// Calls the hooks of all contexts of a batch, and calls them again with their own edits, until there are no new changes.
    ///
    /// The delete rules were applied before the first call. They are also applied to the objects that the hooks delete.
    ///
    /// - Throws: `willSaveRepeats` if there are still new changes after all rounds; errors of the hooks and of delete rules.
    static func callWillSave(_ contexts: [PrivateContext]) throws {
        for round in 0...WillSaveRounds.limit {
            var isQuiet = true
            for context in contexts where context.isWillSaveDue {
                if round == WillSaveRounds.limit { throw context.willSaveRepeats() }
                isQuiet = false
                try context.settle(contexts) { try context.callWillSave() }
            }
            if isQuiet { break }
        }
        for context in contexts where !context.bulkChanges.isEmpty { try context.uniteBulkChanges() }
    }

    private var isWillSaveDue: Bool {
        if willSaveRounds.wasCalled { return willSaveRounds.hasRead && hasUnseen }
        return !changed.isEmpty || !bulkChanges.isEmpty || !willSaveRounds.bulk.isEmpty
    }

    private func callWillSave() throws {
        willSaveRounds.wasCalled = true
        willSaveRounds.hasRead = false
        let bulk = willSaveRounds.bulk
        willSaveRounds.bulk = []
        try saveHook.withLock { $0.hook }?.willSave(PendingChanges(self, bulk: bulk), in: self)
        if !bulk.isEmpty { willSaveRounds.hasRead = true }
        willSaveRounds.unseen = []
    }

    /// Runs a hook, and then the sweeps and the delete rules that the hook's edits require.
    private func settle(_ contexts: [PrivateContext], _ hook: () throws -> Void) throws {
        try hook()
        for context in contexts { try context.throwRefusal() }
        try PrivateContext.endSweeps(contexts)
        if willSaveRounds.hasRead { for context in contexts { try context.makeObjectsOfBulkChanges() } }
        if contexts.contains(where: { !$0.deletions.isEmpty }) { try contexts[0].applyDeleteRules() }
    }

    private func willSaveRepeats() -> DataSourceError {
        DataSourceError(
            .willSaveRepeats,
            "willSave(_:in:) of \(owner ?? "") was called \(WillSaveRounds.limit) times for one batch, and still edits objects each time. Nothing was saved. Edit only objects whose values differ from the values to set."
        )
    }

    // MARK: What is new

    private var hasUnseen: Bool {
        changed.indices.contains { unseen(of: $0) != nil }
    }

    /// The changes that the hook has not seen before this call.
    func unseen() throws -> [ObjectChange] {
        if willSaveRounds.hasRead { return willSaveRounds.unseen }
        try makeObjectsOfBulkChanges()
        let unseen = changed.indices.compactMap { self.unseen(of: $0) }
        willSaveRounds.seen = changed.map { SeenObject($0) }
        willSaveRounds.unseen = unseen
        willSaveRounds.hasRead = true
        return unseen
    }

    private func unseen(of index: Int) -> ObjectChange? {
        let object = changed[index]
        let seen = index < willSaveRounds.seen.count ? willSaveRounds.seen[index] : nil
        if seen?.isGone == true { return nil }
        switch object.state {
        case .inserted where seen == nil:
            return ObjectChange(object: object, previous: nil, row: object.row, isDeletion: false)
        case .inserted, .edited, .saved:
            guard let previous = seen?.row ?? object.saved, !object.row.hasSameWords(as: previous),
                !object.row.columnsChanged(since: previous, object.layout).isEmpty
            else { return nil }
            return ObjectChange(object: object, previous: previous, row: object.row, isDeletion: false)
        case .gone where seen == nil: return nil
        case .deleted, .gone:
            return ObjectChange(
                object: object, previous: seen?.row ?? object.savedRow, row: object.row, isDeletion: true)
        }
    }

    // MARK: Rows without objects

    /// Replaces bulk changes with changes of objects, unless there are too many rows.
    private func makeObjectsOfBulkChanges() throws(DataSourceError) {
        if bulkChanges.isEmpty || willSaveRounds.keepsRows { return }
        let all = bulkChanges
        bulkChanges = []
        for changes in all {
            let binding = bindings[changes.entity]
            for change in changes.updated {
                let object = object(StoredRow(key: change.key, row: change.previous), binding, asOf: 0)
                object.setValues(of: change) { _ in true }
            }
            for stored in changes.deleted { try delete(owned: object(stored, binding, asOf: 0)) }
        }
    }

    /// Merges the bulk change of each row into the edits of the row's object. Values that the edits have set are kept.
    private func uniteBulkChanges() throws(DataSourceError) {
        for index in bulkChanges.indices where bindings[bulkChanges[index].entity].hasEdits {
            let objects = bindings[bulkChanges[index].entity].objects
            func editedObject(_ key: Int64) -> ManagedObject? { objects[key].flatMap { $0.hasChanges ? $0 : nil } }
            for change in bulkChanges[index].updated {
                guard let object = editedObject(change.key), !object.isDeleted else { continue }
                let (saved, layout) = (object.savedRow, object.layout)
                object.setValues(of: change) {
                    object.row.isEqual(to: saved, column: $0, storage: layout.columns[$0].storage)
                }
            }
            for stored in bulkChanges[index].deleted {
                if let object = editedObject(stored.key), !object.isDeleted { try delete(owned: object) }
            }
            bulkChanges[index].updated.removeAll { editedObject($0.key) != nil }
            bulkChanges[index].deleted.removeAll { editedObject($0.key) != nil }
        }
        bulkChanges.removeAll(where: \.isEmpty)
    }
}

extension ManagedObject {
    /// Sets the changed values of a row, in the columns that match.
    fileprivate final func setValues(of change: UpdatedRow, where isWanted: (Int) -> Bool) {
        for column in layout.columns.indices where change.columns.contains(column) && isWanted(column) {
            setValue(change.row.value(column, layout.columns[column].storage), column)
        }
    }
}
