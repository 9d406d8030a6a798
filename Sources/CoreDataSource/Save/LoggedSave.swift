package import RowStore

/// A save in the log.
package struct LoggedSave: Sendable {
    package internal(set) var changes: ChangeSet
    /// The data source that made the save; nil for a save of another member, and for a save that undoes other saves.
    package let source: SaveSource?
    /// Whether the caller waits for the store and gets the outcome. If false, the caller waits only until the main
    /// context shows the save.
    package let isAwaited: Bool
    /// Whether the save must still be committed: it is not in the store, and was not rolled back.
    package internal(set) var isPending: Bool
    /// Whether the save is in the group that is being committed.
    package internal(set) var isCommitting = false
    /// Whether the store could not write the save because another program had locked its rows.
    package internal(set) var isLocked = false
    /// The time since which the save is left out of commits; nil if it is included.
    package internal(set) var postponedSince: ContinuousClock.Instant?
    /// Whether the save was rolled back, so that its rows are no longer visible.
    package internal(set) var isRolledBack = false
    /// Whether the store has newer rows than the save, so that a read ignores the rows of the save.
    package internal(set) var isSuperseded = false
    /// Whether the data source was notified that the save is delayed.
    package internal(set) var isDelayed = false
    /// The memory of the save, in bytes.
    package let byteCount: Int

    /// Whether another member made the save.
    var isOfOtherMember: Bool { changes.member != nil }
    /// Whether reads may need the rows of the save.
    var hasRowsToRead: Bool { !isRolledBack && !changes.isRollback && !isSuperseded }
    /// Whether the save is in the store.
    var isStored: Bool { !isPending && !isRolledBack && !changes.isRollback }

    package init(_ changes: ChangeSet, from source: SaveSource? = nil, isAwaited: Bool = true) {
        self.changes = changes
        self.changes.origin = source?.origin ?? 0
        self.source = source
        self.isAwaited = isAwaited
        isPending = true
        byteCount = changes.byteCount
    }

    /// Makes a save of another member, which is already in the store.
    init(ofOtherMember changes: ChangeSet) {
        self.changes = changes
        source = nil
        isAwaited = false
        isPending = false
        byteCount = changes.byteCount
    }

    /// Makes a save that undoes other saves in the contexts that have shown these saves. The new save is never committed.
    init(undoing saves: [ChangeSet]) {
        changes = ChangeSet(undoing: saves)
        source = nil
        isAwaited = false
        isPending = false
        byteCount = changes.byteCount
    }
}

extension ChangeSet {
    /// Makes the changes that undo several saves.
    ///
    /// - Parameter saves: The saves, the oldest first.
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
        isRollback = true
    }
}

/// The states of a row before and after some saves. A state is nil if the row did not exist at that time.
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

/// The saves of a log, by number. The numbers begin with 1 and have no gaps.
struct LoggedSaves {
    /// The number of the newest save.
    private(set) var newest = SaveNumber.beforeFirst
    private var saves: [LoggedSave] = []

    /// The numbers of the saves.
    var numbers: Range<SaveNumber> { newest.next.advanced(by: -saves.count)..<newest.next }

    /// Returns the numbers of the saves after the given number.
    func numbers(after number: SaveNumber) -> Range<SaveNumber> {
        numbers.clamped(to: number.next..<max(number, newest).next)
    }

    subscript(number: SaveNumber) -> LoggedSave {
        get { saves[index(of: number)] }
        set { saves[index(of: number)] = newValue }
        _modify { yield &saves[index(of: number)] }
    }

    subscript(numbers: Range<SaveNumber>) -> ArraySlice<LoggedSave> {
        saves[index(of: numbers.lowerBound)..<index(of: numbers.upperBound)]
    }

    private func index(of number: SaveNumber) -> Int { saves.count - 1 - number.distance(to: newest) }

    /// Returns the newest save for which the closure returns true.
    func last(where isWanted: (LoggedSave) -> Bool) -> LoggedSave? { saves.last(where: isWanted) }

    /// Adds a save, and gives it the next number.
    mutating func append(_ save: LoggedSave) {
        newest = newest.next
        saves.append(save)
        saves[saves.count - 1].changes.saveNumber = newest
    }

    /// Removes all saves up to the given number.
    mutating func removeAll(through number: SaveNumber) {
        if number >= numbers.lowerBound { saves.removeFirst(saves.count - numbers(after: number).count) }
    }
}

/// The numbers of the saves that must be committed, in ascending order.
///
/// A save can be marked as passed over. Commits then visit only the other saves, no matter how many saves are pending.
struct PendingNumbers {
    private(set) var all: [SaveNumber] = []
    /// The highest number that is passed over.
    private var skippedThrough = SaveNumber.beforeFirst

    /// The numbers that are not passed over.
    var forCommit: ArraySlice<SaveNumber> { all[firstForCommit...] }

    private var firstForCommit: Int {
        if skippedThrough == .beforeFirst { return 0 }
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if all[middle] <= skippedThrough { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// - Parameter number: A number that is higher than all earlier numbers.
    mutating func append(_ number: SaveNumber) { all.append(number) }

    /// Passes over all numbers up to the given number.
    mutating func skip(through number: SaveNumber) { skippedThrough = max(skippedThrough, number) }

    mutating func includeAll() { skippedThrough = .beforeFirst }

    /// Removes the numbers up to `last` whose saves are no longer pending. Numbers that are passed over stay without a check.
    mutating func keepForCommit(through last: SaveNumber, _ isPending: (SaveNumber) -> Bool) {
        let first = firstForCommit
        let end = all[first...].firstIndex { $0 > last } ?? all.endIndex
        all.replaceSubrange(first..<end, with: all[first..<end].filter(isPending))
    }

    mutating func keep(_ isPending: (SaveNumber) -> Bool) { all.removeAll { !isPending($0) } }
}
