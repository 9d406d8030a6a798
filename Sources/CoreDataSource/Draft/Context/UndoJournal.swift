internal import RowStore

/// The steps of a draft that can be undone and redone.
struct UndoJournal {
    /// The state of an object at one moment.
    struct ObjectSnapshot {
        let object: ManagedObject
        let row: RowSnapshot
        let saved: RowSnapshot?
        let state: ObjectState

        init(_ object: ManagedObject, state: ObjectState? = nil) {
            self.object = object
            row = object.row
            saved = object.saved
            self.state = state ?? object.state
        }

        /// Whether the state is based on a saved row.
        var hasBase: Bool { state != .inserted && state != .gone }
    }

    /// The states of objects before a step. Two objects can have the same key: a new object that was deleted, and an object whose row
    /// another program has inserted with this key.
    typealias Step = [ObjectIdentifier: ObjectSnapshot]

    private var undoStack: [Step] = []
    private var redoStack: [Step] = []
    /// The changes of the open groups; the innermost group is the last.
    private var openGroups: [Step] = []
    /// The largest number of steps to keep.
    var limit = 100 {
        didSet { trim() }
    }

    var isEmpty: Bool { undoStack.isEmpty && redoStack.isEmpty && openGroups.isEmpty }
    var isInGroup: Bool { !openGroups.isEmpty }
    var canUndo: Bool { openGroups.isEmpty && !undoStack.isEmpty }
    var canRedo: Bool { openGroups.isEmpty && !redoStack.isEmpty }

    /// Records the state of an object before a change.
    mutating func record(_ snapshot: ObjectSnapshot) {
        guard let innermost = openGroups.indices.last else {
            return append([ObjectIdentifier(snapshot.object): snapshot])
        }
        let id = ObjectIdentifier(snapshot.object)
        if openGroups[innermost][id] == nil { openGroups[innermost][id] = snapshot }
    }

    mutating func beginGroup() { openGroups.append([:]) }

    /// Ends the innermost group. Its changes are added to the enclosing group. Without an enclosing group, they become a step.
    ///
    /// - Returns: The step; empty if there is an enclosing group, or if nothing has changed.
    mutating func endGroup() -> Step {
        guard let group = openGroups.popLast(), !group.isEmpty else { return [:] }
        guard let outer = openGroups.indices.last else {
            append(group)
            return group
        }
        openGroups[outer].merge(group) { first, _ in first }
        return [:]
    }

    /// Ends the innermost group without recording its changes. The caller undoes the changes with the result.
    ///
    /// - Returns: The states of the changed objects before the group.
    mutating func abandonGroup() -> Step { openGroups.popLast() ?? [:] }

    private mutating func append(_ step: Step) {
        redoStack = []
        undoStack.append(step)
        trim()
    }

    /// Removes and returns the last step. The caller must push the opposite step with ``pushRedo(_:)``.
    mutating func popUndo() -> Step? { canUndo ? undoStack.removeLast() : nil }

    mutating func popRedo() -> Step? { canRedo ? redoStack.removeLast() : nil }

    mutating func pushUndo(_ step: Step) { undoStack.append(step) }

    mutating func pushRedo(_ step: Step) { redoStack.append(step) }

    mutating func removeAll() {
        undoStack = []
        redoStack = []
        openGroups = []
    }

    private mutating func trim() {
        let most = max(0, limit)
        if undoStack.count > most { undoStack.removeFirst(undoStack.count - most) }
        if redoStack.count > most { redoStack.removeFirst(redoStack.count - most) }
    }
}

extension LinkedPair {
    init?(_ link: ManagedObject, _ layout: ModelLayout) { self.init(link.row, link.layout, layout) }
}
