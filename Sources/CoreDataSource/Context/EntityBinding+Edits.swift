internal import RowStore

/// What follows from the edits of a batch.
extension EntityBinding {
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
