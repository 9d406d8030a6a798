import CSQLite
import Foundation
import TestSupport

/// Another program that writes to the file of a store with plain SQL.
///
/// For each line `go COUNT TABLES SEED` it makes so many writes to the tables of those numbers, `012`, prints what each did,
/// and then `done`.
struct OutsideChild {
    private let file: RecordFile

    init(_ arguments: [String]) throws {
        guard let path = arguments.first else { throw Suite.InvalidArguments(arguments: arguments) }
        file = try RecordFile(URL(filePath: path))
    }

    func run() throws {
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard words.count == 4, let count = Int(words[1]), let seed = UInt64(words[3]) else { continue }
            let tables = words[2].compactMap(\.wholeNumberValue)
            var random = SeededRandom(seed: seed)
            for number in 0..<count {
                write(tables, Int64(seed % 1_000_000) * 1_000_000 + Int64(number) + 1_000_000_000_000, &random)
                usleep(UInt32(random.next(below: 4000)))
            }
            say("done")
        }
    }

    private func write(_ tables: [Int], _ revision: Int64, _ random: inout SeededRandom) {
        let number = tables[random.next(below: tables.count)]
        let table = RecordFile.tables[number]
        let key = RecordFile.key(number, random.next(below: RecordFile.recordCount))
        let text = "outside-\(revision)"
        let effect: WriteEvent.Effect
        let sql: String
        switch random.next(below: 10) {
        case 0..<4:
            effect = .put(revision: revision, text: text)
            // The next key, one that the app may be about to give, or any.
            let next = ["1", "\(1 + random.next(below: 30))", "2000"][random.next(below: 3)]
            sql =
                "INSERT INTO \(table) (_key, key, task, revision, text) SELECT coalesce(max(_key), 0) + \(next), "
                + "'\(key)', \(number), \(revision), '\(text)' FROM \(table)"
        case 4..<6:
            effect = .setRevision(revision)
            sql = "UPDATE \(table) SET revision = \(revision) WHERE key = '\(key)'"
        case 6..<8:
            let isNull = random.next(below: 4) == 0
            effect = .setText(isNull ? nil : text)
            sql = "UPDATE \(table) SET text = \(isNull ? "NULL" : "'\(text)'") WHERE key = '\(key)'"
        default:
            effect = .delete
            sql = "DELETE FROM \(table) WHERE key = '\(key)'"
        }
        let start = WriteEvent.now()
        // What collides with a row of the app is refused, which is as it should be.
        guard let changes = try? file.execute(sql), changes > 0 else { return }
        let event = WriteEvent(
            table: number, key: key, effect: effect, isOutside: true, start: start, end: WriteEvent.now())
        say(event.line)
    }
}
