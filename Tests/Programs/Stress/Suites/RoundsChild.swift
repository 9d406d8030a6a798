import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport

/// A process that commits and copies the log by turns, while others do the same to the same file.
///
/// For each line `go COUNT` it does both so often, says `round` after each, and at the end `done COMMITS CHECKPOINTS`, how many
/// there were so far; for `quit` it closes the store and says `closed`.
struct RoundsChild {
    private let store: SQLiteStore
    private let number: Int64
    private let blue: EntityLayout

    /// How many of the newest records stay.
    static let recordCount: Int64 = 20

    init(_ arguments: [String]) throws {
        guard arguments.count == 2, let number = Int64(arguments[1]),
            let blue = ModelLayout(.stress).entity(named: "Blue")
        else { throw Suite.InvalidArguments(arguments: arguments) }
        (self.number, self.blue) = (number, blue)
        var options = StressStore.sharedOptions(URL(filePath: arguments[0]))
        // So that there is something to copy after each commit.
        options.logLimit = 1
        // The lock has no queue: on a busy machine, a process that takes it again at once may keep the others from it for long.
        options.lockTimeout = .seconds(3600)
        store = try SQLiteStore.open(options)
    }

    func run() throws {
        say("open")
        var commits: Int64 = 0
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard words.first == "go", words.count == 2, let count = Int64(words[1]) else { break }
            for _ in 0..<count {
                commits += 1
                try commit(commits)
                store.upkeep()
                say("round")
            }
            say("done \(commits) \(store.counters.checkpointCount)")
        }
        store.close()
        say("closed")
    }

    /// Adds a record, deletes an old one, and counts in a third.
    private func commit(_ round: Int64) throws {
        let (before, now) = (record(0, round - 1), record(0, round))
        let old = round - RoundsChild.recordCount
        try store.write([
            .of(
                blue.index, insert: [record(round, round)] + (round == 1 ? [now] : []),
                update: round == 1 ? [] : [.of(now.key, before.row, now.row, blue)],
                delete: old > 0 ? [record(old, old)] : [])
        ])
    }

    /// Record 0 counts. The strings of the others are of many lengths, so that pages come and go.
    private func record(_ record: Int64, _ revision: Int64) -> StoredRow {
        var row = RowSnapshot(columnCount: blue.columns.count)
        for (index, column) in blue.columns.enumerated() {
            switch column.name {
            case "key": row.setText(RoundsChild.key(number, record), index)
            case "task": row.setInteger(number, index)
            case "revision": row.setInteger(revision, index)
            default: row.setText(String(repeating: "x", count: Int(record * 7919 % 9000)), index)
            }
        }
        return StoredRow(key: number << 40 | record + 1, row: row)
    }

    static func key(_ number: some CustomStringConvertible, _ record: Int64) -> String { "rounds/\(number)/\(record)" }
}
