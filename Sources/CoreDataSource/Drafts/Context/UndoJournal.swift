internal import RowStore

/// What the edits of a draft have changed, step by step.
struct UndoJournal {
    /// An object as it was at one moment.
    struct Moment {
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
    }

    /// The objects that one step changed, by their keys, as they were before it.
    typealias Step = [Int64: Moment]

    private var done: [Step] = []
    private var undone: [Step] = []
    /// How many groups are open, one in the other.
    private var depth = 0
    /// Whether the open group has its step.
    private var hasStep = false
    /// The most steps that are kept.
    var limit = 100 {
        didSet { trim() }
    }

    var isInGroup: Bool { depth > 0 }
    var canUndo: Bool { depth == 0 && !done.isEmpty }
    var canRedo: Bool { depth == 0 && !undone.isEmpty }

    /// Notes that an object is about to change.
    mutating func note(_ moment: Moment) {
        if !undone.isEmpty { undone = [] }
        if depth == 0 || !hasStep || done.isEmpty {
            done.append([:])
            hasStep = depth > 0
        }
        if done[done.count - 1][moment.object.key] == nil { done[done.count - 1][moment.object.key] = moment }
        // A group may be all that is kept.
        if depth == 0 { trim() }
    }

    mutating func beginGroup() {
        if depth == 0 { hasStep = false }
        depth += 1
    }

    mutating func endGroup() {
        depth -= 1
        if depth == 0 { trim() }
    }

    /// The last step, which is one to redo as soon as its opposite is pushed.
    mutating func popUndo() -> Step? { canUndo ? done.removeLast() : nil }

    mutating func popRedo() -> Step? { canRedo ? undone.removeLast() : nil }

    mutating func pushUndo(_ step: Step) { done.append(step) }

    mutating func pushRedo(_ step: Step) { undone.append(step) }

    mutating func removeAll() {
        done = []
        undone = []
        hasStep = false
    }

    private mutating func trim() {
        let most = max(0, limit)
        if done.count > most { done.removeFirst(done.count - most) }
        if undone.count > most { undone.removeFirst(undone.count - most) }
    }
}
