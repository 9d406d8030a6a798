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
