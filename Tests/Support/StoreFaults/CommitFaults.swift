internal import Foundation
internal import RowStore
internal import SQLiteStore
internal import StoreTestModel
internal import Synchronization
package import TestSupport

/// Lets each file call fail in turn, while saves are made, the WAL is copied and rows are read.
///
/// Each failure must be reported, every acknowledged save must be in the store, and the failed save must succeed when it is
/// tried again.
package struct CommitFaults: Sendable {
    /// The number of saves.
    package var saveCount: Int
    /// Every how many calls a failure is tried.
    package var step: Int
    package var seed: UInt64
    package let findings: Findings

    package init(saveCount: Int, step: Int, seed: UInt64, findings: Findings = Findings()) {
        self.saveCount = saveCount
        self.step = step
        self.seed = seed
        self.findings = findings
    }

    /// - Parameters:
    ///   - length: The number of consecutive calls that fail.
    ///   - progress: Called before each failure, with the number of the call.
    package func failEveryCall(with fault: Fault, length: Int, progress: (Int) -> Void = { _ in }) throws {
        let sequence = SaveSequence(count: saveCount, seed: seed)
        var random = SeededRandom(seed: seed)
        var number = 1 + random.next(below: step)
        while true {
            progress(number)
            guard try fail(fault, at: number, length, sequence) else { return }
            findings.count(.faults)
            number += step
        }
    }

    /// - Returns: Whether the call with the number was reached.
    private func fail(_ fault: Fault, at number: Int, _ length: Int, _ sequence: SaveSequence) throws -> Bool {
        let folder = try TemporaryDirectory()
        let url = folder.url.appending(component: CommitFaults.storeName)
        let first = Counter(Int.max)
        let faulty = try FaultyCalls(fault) { $0 >= first.value && $0 - first.value < length }
        let moment = "\(fault) at call \(number), \(length) long, seed \(seed)"
        var store = try SQLiteStore.open(options(url, faulty.calls))
        first.value = faulty.count + number
        for (index, save) in sequence.saves.enumerated() {
            try commit(save, index, of: sequence, to: &store, options(url, faulty.calls), moment)
            // A read may fail, but must not miss a save or show half of a save.
            if let count = try? sequence.count(in: store) {
                findings.expect(count == index + 1, "\(count) instead of \(index + 1) saves, \(moment)", .lost)
            }
            store.upkeep()
        }
        let wasReached = faulty.count >= first.value
        first.value = Int.max
        try expect(sequence.saves.count, of: sequence, in: store, moment)
        store.close()
        let next = try SQLiteStore.open(options(url))
        try expect(sequence.saves.count, of: sequence, in: next, "after the next start, \(moment)")
        next.close()
        findings.expect(integrity(of: url) == "ok", "damaged, \(moment)")
        return wasReached
    }

    private static let storeName = "test.store"

    private func options(_ url: URL, _ calls: FileCalls = .system) -> SQLiteStore.Options {
        .copyingLogOften(url, .full, calls)
    }

    private func expect(_ saves: Int, of sequence: SaveSequence, in store: SQLiteStore, _ moment: String) throws {
        let count = try sequence.count(in: store)
        findings.expect(count != nil, "half a save, \(moment)", .half)
        findings.expect(count == nil || count == saves, "\(count ?? 0) instead of \(saves) saves, \(moment)", .lost)
    }

    /// Tries the save until it succeeds. A refused save must be gone after a restart.
    private func commit(
        _ save: ChangeSet, _ number: Int, of sequence: SaveSequence, to store: inout SQLiteStore,
        _ options: SQLiteStore.Options, _ moment: String
    ) throws {
        for _ in 0..<100 {
            guard let failure = store.failure(of: save) else { return findings.count(.acknowledged) }
            findings.count(.refused)
            guard failure == .outcomeUnknown else {
                findings.expect([.storeUnreadable, .diskFull].contains(failure), "\(failure), \(moment)")
                try expectAfterDeath(number, of: sequence, options.url, moment)
                continue
            }
            findings.expect(store.failure(of: save) == .outcomeUnknown, "saves are taken again, \(moment)")
            store.close()
            store = try reopened(options)
            if try sequence.count(in: store) == number + 1 { return }
        }
        findings.recordViolation("a save is refused for good, \(moment)")
    }

    private func failure(of save: ChangeSet, _ store: SQLiteStore) -> DataSourceError.Code? {
        do throws(DataSourceError) {
            try store.writeEarly(save)
            return nil
        } catch {
            return error.code
        }
    }

    /// Checks what the next process finds if this process is killed now.
    private func expectAfterDeath(_ saves: Int, of sequence: SaveSequence, _ url: URL, _ moment: String) throws {
        let copy = try TemporaryDirectory()
        let copied = copy.url.appending(component: CommitFaults.storeName)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: url.path + suffix, toPath: copied.path + suffix)
        }
        let store = try SQLiteStore.open(options(copied))
        defer { store.close() }
        try expect(saves, of: sequence, in: store, "after a kill, \(moment)")
    }

    private func reopened(_ options: SQLiteStore.Options) throws -> SQLiteStore {
        for _ in 0..<100 {
            if let store = try? SQLiteStore.open(options) { return store }
        }
        return try SQLiteStore.open(options)
    }
}

/// A number that several threads use.
final class Counter: Sendable {
    private let state: Mutex<Int>

    init(_ value: Int) { state = Mutex(value) }

    var value: Int {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
