package import RowStore

/// A save in the log.
package struct LoggedSave: Sendable {
    package internal(set) var changes: ChangeSet
    /// The data source that made it; nil for a save that undoes others.
    package let source: SaveSource?
    /// Whether its caller waits for the store, and gets its outcome. Otherwise the caller waits for main only.
    package let isAwaited: Bool
    /// Whether it must be committed: it is not in the store, and was not taken back.
    package internal(set) var isPending: Bool
    /// Whether it is in the group that is being committed.
    package internal(set) var isCommitting = false
    /// Whether the store could not write it, because another program kept rows of it locked.
    package internal(set) var isLocked = false
    /// Since when it is left out of commits.
    package internal(set) var waitsSince: ContinuousClock.Instant?
    /// Whether it was taken back, so that its rows are not visible any more.
    package internal(set) var isTakenBack = false
    /// Whether reads find newer rows than its own in the store.
    package internal(set) var isForgotten = false
    /// Whether its data source was notified that it is late.
    package internal(set) var isDelayed = false
    /// How much memory it uses, in bytes.
    package let byteCount: Int

    /// The container that made it, if that is another one.
    var isMadeElsewhere: Bool { changes.maker != nil }
    /// Whether reads may need its rows.
    var hasRowsToRead: Bool { !isTakenBack && !changes.isTakeBack && !isForgotten }
    /// Whether the store has it.
    var isStored: Bool { !isPending && !isTakenBack && !changes.isTakeBack }

    package init(_ changes: ChangeSet, from source: SaveSource? = nil, isAwaited: Bool = true) {
        self.changes = changes
        self.changes.origin = source?.origin ?? 0
        self.source = source
        self.isAwaited = isAwaited
        isPending = true
        byteCount = changes.byteCount
    }

    /// A save of another container. It is already in the store.
    init(madeElsewhere changes: ChangeSet) {
        self.changes = changes
        source = nil
        isAwaited = false
        isPending = false
        byteCount = changes.byteCount
    }

    /// A save that undoes others, for contexts that have seen them. It is never committed.
    init(undoing saves: [ChangeSet]) {
        changes = ChangeSet(undoing: saves)
        source = nil
        isAwaited = false
        isPending = false
        byteCount = changes.byteCount
    }
}

extension ChangeSet {
    /// What undoes several saves of the same rows, given in their order.
    init(undoing saves: [ChangeSet]) {
        var entities: [Int: [Int64: RowHistory]] = [:]
        for changes in saves.lazy.flatMap(\.entities) {
            for row in changes.inserted {
                entities[changes.entity, default: [:]][row.key, default: RowHistory(before: nil)].now = row.row
            }
            for row in changes.updated {
                var history = entities[changes.entity]?[row.key] ?? RowHistory(before: row.previous)
                history.now = row.row
                history.columns.formUnion(row.columns)
                entities[changes.entity, default: [:]][row.key] = history
            }
            for row in changes.deleted {
                entities[changes.entity, default: [:]][row.key, default: RowHistory(before: row.row)].now = nil
            }
        }
        self.init(entities: entities.keys.sorted().map { EntityChanges(undoing: entities[$0] ?? [:], entity: $0) })
        isTakeBack = true
    }
}

/// A row before some saves and after them; nil where it does not exist.
private struct RowHistory {
    let before: RowSnapshot?
    var now: RowSnapshot?
    /// The columns that differ.
    var columns = ColumnSet()
}

extension EntityChanges {
    fileprivate init(undoing rows: [Int64: RowHistory], entity: Int) {
        self.init(entity: entity)
        for (key, row) in rows {
            switch (row.before, row.now) {
            case (nil, nil): continue
            case (nil, let now?): deleted.append(StoredRow(key: key, row: now))
            case (let before?, nil): inserted.append(StoredRow(key: key, row: before))
            case (let before?, let now?):
                updated.append(UpdatedRow(key: key, row: before, previous: now, columns: row.columns))
            }
        }
    }
}

/// The saves of a log that follow each other without a gap, by their numbers, which are counted from 1.
struct LoggedSaves {
    /// The number of the newest save.
    private(set) var newest: Int64 = 0
    private var saves: [LoggedSave] = []

    /// The numbers of the saves.
    var numbers: Range<Int64> { newest + 1 - Int64(saves.count)..<newest + 1 }

    /// The numbers of the saves after that one.
    func numbers(after number: Int64) -> Range<Int64> {
        numbers.clamped(to: number + 1..<max(number, newest) + 1)
    }

    subscript(number: Int64) -> LoggedSave {
        get { saves[saves.count - 1 - Int(newest - number)] }
        set { saves[saves.count - 1 - Int(newest - number)] = newValue }
        _modify { yield &saves[saves.count - 1 - Int(newest - number)] }
    }

    subscript(numbers: Range<Int64>) -> ArraySlice<LoggedSave> {
        saves[saves.count - Int(newest + 1 - numbers.lowerBound)..<saves.count - Int(newest + 1 - numbers.upperBound)]
    }

    /// The newest save that fits.
    func last(where isWanted: (LoggedSave) -> Bool) -> LoggedSave? { saves.last(where: isWanted) }

    /// Adds a save, and gives it its number.
    mutating func append(_ save: LoggedSave) {
        newest += 1
        saves.append(save)
        saves[saves.count - 1].changes.number = newest
    }

    /// Forgets all saves but those after that one.
    mutating func removeAll(through number: Int64) {
        if number >= numbers.lowerBound { saves.removeFirst(saves.count - numbers(after: number).count) }
    }
}

/// The numbers of the saves that must be committed, in ascending order.
///
/// Those that no commit takes for now are passed over: each commit looks only at the others, however many wait.
struct PendingNumbers {
    private(set) var all: [Int64] = []
    /// Every number up to this one is passed over.
    private var passed: Int64 = 0

    /// Those that are not passed over.
    var forCommit: ArraySlice<Int64> { all[firstForCommit...] }

    private var firstForCommit: Int {
        if passed == 0 { return 0 }
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle] <= passed { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// - Parameter number: The highest so far.
    mutating func append(_ number: Int64) { all.append(number) }

    /// Passes over all that there are up to a number.
    mutating func pass(through number: Int64) { passed = max(passed, number) }

    /// Passes over none.
    mutating func passOverNone() { passed = 0 }

    /// Keeps those of some that are still pending, without looking at those that are passed over.
    mutating func keepForCommit(_ isPending: (Int64) -> Bool) {
        let first = firstForCommit
        all.replaceSubrange(first..., with: all[first...].filter(isPending))
    }

    mutating func keep(_ isPending: (Int64) -> Bool) { all.removeAll { !isPending($0) } }
}
