package import RowStore

/// Every save that somebody still needs, in the order in which saves were made: a value that decides, and does nothing.
///
/// Each save has a number, counted from 1. Three readers follow the log at their own pace: the root commits it, main
/// merges it, and a fetch takes what was saved after the commit that it surely sees. A save leaves the log once none of
/// them can ask for it.
package struct SaveLog {
    /// The number of the newest save.
    package private(set) var newest: Int64 = 0
    /// Everything up to this number is in the store.
    package private(set) var committed: Int64 = 0
    /// Everything up to this number has been merged by main; nil while main shows nothing.
    package private(set) var merged: Int64?
    /// The numbers of the group that is being committed; nil while no commit is under way.
    package private(set) var committing: ClosedRange<Int64>?
    /// How many commits have begun.
    package private(set) var commitCount = 0
    /// How often pending saves were discarded. Whoever cached rows of an older generation reads them anew.
    package private(set) var generation = 0
    /// The generation that began with the last reset of the store; 0 if there was none.
    package private(set) var lastReset = 0
    /// Whether the store is being emptied. Meanwhile nothing is committed.
    package private(set) var isResetting = false

    /// The saves with the numbers `newest - saves.count + 1 ... newest`.
    private var saves: [LoggedSave] = []
    /// Where the fetches began that are under way, the oldest first, and how many began there.
    private var readers: [(start: Int64, count: Int)] = []

    package init() {}

    /// The saves that are not in the store.
    package var pendingCount: Int { Int(newest - committed) }

    /// Adds a save and gives it its number.
    package mutating func append(_ changes: ChangeSet) -> Int64 {
        newest += 1
        var changes = changes
        changes.number = newest
        saves.append(LoggedSave(changes))
        return newest
    }

    // MARK: The root

    /// All pending saves, to be committed as one group; nil if there are none or a commit is under way.
    package mutating func takeForCommit() -> [ChangeSet]? {
        guard committing == nil, !isResetting, committed < newest else { return nil }
        committing = committed + 1...newest
        commitCount += 1
        return saves(after: committed).map(\.changes)
    }

    /// Notes how the commit that is under way came out. A failed group stays pending.
    package mutating func noteCommit(succeeded: Bool) {
        if succeeded, let committing { committed = committing.upperBound }
        trim()
    }

    /// Ends the commit, once everyone who waited for it has been told.
    ///
    /// - Returns: Whether saves came in meanwhile, which nobody has tried to commit yet.
    package mutating func endCommit() -> Bool {
        let through = committing?.upperBound ?? committed
        committing = nil
        return through < newest
    }

    /// Forgets the pending saves, unless a commit is under way; returns how many they were.
    package mutating func discardPending() -> Int? {
        guard committing == nil else { return nil }
        let discarded = pendingCount
        if discarded > 0 {
            // Their numbers are used up: the log goes on after them as if they were empty.
            saves.removeLast(min(discarded, saves.count))
            saves.append(
                contentsOf: (0..<discarded).map { offset in
                    var empty = ChangeSet(entities: [])
                    empty.number = committed + 1 + Int64(offset)
                    return LoggedSave(empty)
                })
            committed = newest
            generation += 1
        }
        trim()
        return discarded
    }

    /// The store is about to be emptied, unless a commit is under way.
    package mutating func beginReset() -> Bool {
        guard committing == nil else { return false }
        isResetting = true
        return true
    }

    /// The store was emptied, or could not be. If it was, pending saves are lost, and nobody is told of older ones.
    package mutating func endReset(isEmptied: Bool) {
        isResetting = false
        guard isEmptied else { return }
        saves.removeAll()
        committed = newest
        if merged != nil { merged = newest }
        generation += 1
        lastReset = generation
    }

    // MARK: Main

    /// Main begins to show rows: from now on it is told of every save.
    package mutating func startMerging() {
        if merged == nil { merged = newest }
    }

    /// Main shows nothing any more.
    package mutating func stopMerging() {
        merged = nil
        trim()
    }

    /// The saves that main has not merged yet; it merges them now.
    package mutating func takeForMain() -> [ChangeSet] {
        guard let merged, merged < newest else { return [] }
        let taken = saves(after: merged).map(\.changes)
        self.merged = newest
        trim()
        return taken
    }

    // MARK: Fetches

    /// A fetch begins: everything up to the number returned is surely in what it will read from the store.
    package mutating func beginRead() -> Int64 {
        if let last = readers.last, last.start == committed {
            readers[readers.count - 1].count += 1
        } else {
            readers.append((committed, 1))
        }
        return committed
    }

    /// The fetch has read the store: the saves to lay over what it read. Some of them may be in it already; laying them
    /// over it again changes nothing, because a save holds whole rows.
    package mutating func endRead(after number: Int64) -> [LoggedSave] {
        let left = saves(after: number)
        if let reader = readers.firstIndex(where: { $0.start == number }) {
            readers[reader].count -= 1
            if readers[reader].count == 0 { readers.remove(at: reader) }
        }
        trim()
        return left
    }

    // MARK: The log

    private func saves(after number: Int64) -> [LoggedSave] {
        Array(saves.suffix(Int(newest - number)))
    }

    private mutating func trim() {
        let needed = Int(newest - min(committed, merged ?? newest, readers.first?.start ?? newest))
        if saves.count > needed { saves.removeFirst(saves.count - needed) }
    }
}
