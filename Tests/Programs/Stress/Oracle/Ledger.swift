import Foundation
import TestSupport

/// What one task does to its records, all of which follows from the seed: whoever knows how many operations there were knows
/// every record.
///
/// Record 0 of each task counts its operations. It is part of every save, so that it shows which save a store holds.
struct Ledger: Sendable {
    let seed: UInt64
    let task: Int
    /// Whether all texts are short.
    var isShort = false

    /// What a task has stored, by the numbers of its records.
    typealias Cells = [Int: Cell]

    struct Cell: Hashable, Sendable {
        var revision: Int64
        /// The operation that set the text.
        var textRevision: Int64
    }

    private static let recordCount = 40

    func key(_ record: Int) -> String { "\(task)/\(record)" }

    /// The text of a record: now and then long enough for pages of its own, so that the log fills and is copied.
    private func text(_ record: Int, _ textRevision: Int64) -> String {
        if isShort { return "\(key(record)) \(textRevision)" }
        var random = SeededRandom(seed: seed).branch(UInt64(textRevision) << 16 | UInt64(task) << 8 | UInt64(record))
        let length = random.next(below: 60) == 0 ? 30_000 : random.next(below: 200)
        return "\(key(record)) \(textRevision) " + String(repeating: "x", count: length)
    }

    func value(_ record: Int, _ cell: Cell) -> RecordData {
        RecordData(
            key: key(record), task: Int32(task), revision: cell.revision, text: text(record, cell.textRevision))
    }

    /// The operation of that number, counted from 1.
    func operation(_ number: Int64, on cells: Cells) -> Operation {
        var random = SeededRandom(seed: seed).branch(UInt64(task) << 48 | UInt64(number))
        func some(_ most: Int) -> [Int] {
            Set((0...random.next(below: most)).map { _ in 1 + random.next(below: Ledger.recordCount - 1) }).sorted()
        }
        let level: Operation.Level = random.next(below: 5) == 0 ? .main : .store
        let kind: Operation.Kind
        switch random.next(below: 20) {
        case 0..<10: kind = .write(put: [0] + some(5), remove: [])
        case 10..<13: kind = .write(put: [0], remove: some(5))
        case 13..<15:
            let put = some(5)
            kind = .write(put: [0] + put, remove: some(5).filter { !put.contains($0) })
        case 15..<17: kind = .replace([0] + some(20))
        case 17..<19 where cells[0] != nil: kind = .touch
        default: kind = .write(put: Array(0..<Ledger.recordCount), remove: [])
        }
        return Operation(ledger: self, number: number, kind: kind, level: level)
    }

    /// What is stored after so many operations.
    func cells(after count: Int64) -> Cells {
        var cells: Cells = [:]
        for number in 0..<count { cells = operation(number + 1, on: cells).applied(to: cells) }
        return cells
    }

    /// The same as values.
    func values(_ cells: Cells) -> Set<RecordData> { Set(cells.map { value($0.key, $0.value) }) }
}

/// One save of a ledger.
struct Operation: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
        /// Puts records and removes others.
        case write(put: [Int], remove: [Int])
        /// A sync: these are all.
        case replace([Int])
        /// Sets the revision of all records by one statement.
        case touch
    }

    enum Level: String, Sendable {
        case main, store
    }

    let ledger: Ledger
    let number: Int64
    let kind: Kind
    var level: Level

    var description: String { "operation \(number) of task \(ledger.task), \(kind), waiting for \(level)" }

    func applied(to cells: Ledger.Cells) -> Ledger.Cells {
        var cells = cells
        let new = Ledger.Cell(revision: number, textRevision: number)
        switch kind {
        case .write(let put, let remove):
            for record in put { cells[record] = new }
            for record in remove { cells[record] = nil }
        case .replace(let records):
            cells = Dictionary(uniqueKeysWithValues: records.map { ($0, new) })
        case .touch:
            for record in cells.keys { cells[record]?.revision = number }
        }
        return cells
    }

    /// The values that it gives those records.
    func values(_ records: [Int]) -> [RecordData] {
        records.map { ledger.value($0, Ledger.Cell(revision: number, textRevision: number)) }
    }
}
