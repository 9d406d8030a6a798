import CoreDataSource
import Foundation
import RowStore
import Synchronization
import TestSupport

/// What the app does to the records of one table while others write to it too.
struct OutsideApp: Sendable {
    enum Outcome: Sendable {
        case made([WriteEvent])
        case refused(Refusal)
    }

    struct Refusal: Sendable {
        let table: Int
        let error: DataSourceError
        let start: UInt64
        let end: UInt64
    }

    let table: Int
    let recordSource: any RecordSource
    private var random: SeededRandom

    /// Each save has a revision that no other has.
    private static let revision = Atomic<Int64>(0)

    init(table: Int, recordSource: any RecordSource, random: SeededRandom) {
        self.table = table
        self.recordSource = recordSource
        self.random = random
    }

    /// Saves until it is stopped.
    func run(while isRunning: @Sendable () -> Bool) async -> [Outcome] {
        var app = self
        var outcomes: [Outcome] = []
        while isRunning() { outcomes.append(await app.save()) }
        return outcomes
    }

    /// Puts every record.
    func putAll() async -> [Outcome] {
        await [make(put: Array(0..<RecordFile.recordCount), delete: []) { try await recordSource.put($0) }]
    }

    private mutating func save() async -> Outcome {
        let all = Array(0..<RecordFile.recordCount)
        let some = Array(all.shuffled(using: &random).prefix(1 + random.next(below: 3)))
        switch random.next(below: 10) {
        case 0..<6:
            return await make(put: some, delete: []) { try await recordSource.put($0) }
        case 6..<9:
            let data = some.map { RecordData(key: RecordFile.key(table, $0)) }
            return await make(put: [], delete: some) { _ in try await recordSource.remove(data) }
        default:
            let listed = Array(all.shuffled(using: &random).prefix(12))
            return await make(put: listed, delete: all.filter { !listed.contains($0) }) {
                try await recordSource.replaceAll(with: $0)
            }
        }
    }

    private func make(
        put: [Int], delete: [Int], _ body: ([RecordData]) async throws -> Void
    ) async -> Outcome {
        let revision = OutsideApp.revision.add(1, ordering: .relaxed).newValue
        let text = "app-\(revision)"
        let start = WriteEvent.now()
        func event(_ record: Int, _ effect: WriteEvent.Effect) -> WriteEvent {
            WriteEvent(
                table: table, key: RecordFile.key(table, record), effect: effect, isOutside: false,
                start: start, end: WriteEvent.now())
        }
        do {
            try await body(
                put.map {
                    RecordData(
                        key: RecordFile.key(table, $0), task: Int32(table), revision: revision, text: text)
                })
            return .made(
                put.map { event($0, .put(revision: revision, text: text)) } + delete.map { event($0, .delete) })
        } catch {
            let error = error as? DataSourceError ?? DataSourceError(.validationFailed, "\(error)")
            return .refused(Refusal(table: table, error: error, start: start, end: WriteEvent.now()))
        }
    }
}

extension OutsideApp.Refusal {
    /// Whether somebody wrote to the table from outside shortly before it, or it rests on another that was refused.
    func isExplained(by history: WriteHistory, others: [Self]) -> Bool {
        switch error.code {
        case .uniquenessViolated, .objectGone:
            return history.wasWrittenOutside(table, from: start, to: end)
        case .saveRolledBack:
            // Keys of red and green records are unique among both, so their saves rest on each other.
            return others.contains {
                ($0.table == 2) == (table == 2) && $0.error.code != .saveRolledBack && $0.start <= end
                    && $0.end >= start
            }
        default:
            return false
        }
    }
}
