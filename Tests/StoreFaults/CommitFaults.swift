internal import Foundation
internal import RowStore
internal import SQLiteStore
internal import StoreTestModel
internal import Synchronization
package import TestSupport

/// A call for the files fails while saves are made, the log is copied and rows are read: each call in turn.
///
/// Whichever it is, it is an error, what was acknowledged is there, and the same save succeeds after it.
package struct CommitFaults: Sendable {
    /// How many saves there are.
    package var saveCount: Int
    /// One of so many calls is tried.
    package var step: Int
    package var seed: UInt64
    package let findings: Findings

    package init(saveCount: Int, step: Int, seed: UInt64, findings: Findings = Findings()) {
        self.saveCount = saveCount
        self.step = step
        self.seed = seed
        self.findings = findings
    }

    /// - Parameter length: How many calls fail in a row.
    package func failEveryCall(with fault: Fault, length: Int) throws {
        let sequence = SaveSequence(count: saveCount, seed: seed)
        var random = SeededRandom(seed: seed)
        var number = 1 + random.next(below: step)
        while try fail(fault, at: number, length, sequence) {
            findings.count(.faults)
            number += step
        }
    }

    /// - Returns: Whether there were so many calls.
    private func fail(_ fault: Fault, at number: Int, _ length: Int, _ sequence: SaveSequence) throws -> Bool {
        let folder = try TemporaryDirectory()
        let url = folder.url.appending(component: "test.store")
        let first = Counter(Int.max)
        let faulty = try FaultyCalls(fault) { $0 >= first.value && $0 - first.value < length }
        let moment = "\(fault) at call \(number), \(length) long, seed \(seed)"
        var store = try SQLiteStore.open(options(url, faulty.calls))
        first.value = faulty.count + number
        for (index, save) in sequence.saves.enumerated() {
            let commit = Commit(save: save, number: index, sequence: sequence, url: url, moment: moment)
            if try !self.commit(commit, to: store) {
                // The store takes no more until it is opened again; then the save is there, or it is not.
                first.value = .max
                store.close()
                store = try SQLiteStore.open(options(url))
                let count = try sequence.count(in: store)
                findings.expect(count != nil, "half a save, \(moment)", .half)
                findings.expect(
                    count == nil || count == index || count == index + 1, "\(count ?? 0) of \(index) saves, \(moment)",
                    .lost)
                if count == index { try store.write([save]) }
            }
            // A read may fail, but never leave out a save or show half of one.
            if let count = try? sequence.count(in: store) {
                findings.expect(count == index + 1, "\(count) instead of \(index + 1) saves, \(moment)", .lost)
            }
            store.upkeep()
        }
        let wasReached = first.value == .max || faulty.count >= first.value
        first.value = Int.max
        try expectAll(sequence, in: store, moment)
        store.close()
        let next = try SQLiteStore.open(options(url))
        try expectAll(sequence, in: next, "after the next start, \(moment)")
        next.close()
        findings.expect(integrity(of: url) == "ok", "damaged, \(moment)")
        return wasReached
    }

    private func options(_ url: URL, _ calls: FileCalls = .system) -> SQLiteStore.Options {
        var options = SQLiteStore.Options(
            url: url, layout: TestModel.layout, identity: TestModel.identity(), synchronous: .full,
            resetPolicy: .ask, calls: calls)
        options.logLimit = 10
        return options
    }

    private func expectAll(_ sequence: SaveSequence, in store: SQLiteStore, _ moment: String) throws {
        let count = try sequence.count(in: store)
        findings.expect(count != nil, "half a save, \(moment)", .half)
        findings.expect(
            count == nil || count == sequence.saves.count, "\(count ?? 0) of \(sequence.saves.count) saves, \(moment)",
            .lost)
    }

    private struct Commit {
        let save: ChangeSet
        /// How many saves there were before.
        let number: Int
        let sequence: SaveSequence
        let url: URL
        let moment: String
    }

    /// Saves again and again until it succeeds.
    ///
    /// - Returns: False if nobody can know whether the save is on the disk.
    private func commit(_ commit: Commit, to store: SQLiteStore) throws -> Bool {
        let moment = commit.moment
        for _ in 0..<100 {
            do throws(DataSourceError) {
                try store.write([commit.save])
                findings.count(.acknowledged)
                return true
            } catch {
                findings.count(.refused)
                if error.code == .outcomeUnknown { return false }
                findings.expect([.storeUnreadable, .diskFull].contains(error.code), "\(error), \(moment)")
            }
            let count = try countAfterDeath(commit)
            findings.expect(
                count == commit.number, "a refused save came back: \(count ?? -1) of \(commit.number), \(moment)")
        }
        findings.violation("a save is refused for good, \(moment)")
        return true
    }
}

extension CommitFaults {
    /// How many saves the next process would find if this one were killed now.
    private func countAfterDeath(_ commit: Commit) throws -> Int? {
        let folder = try TemporaryDirectory()
        let copy = folder.url.appending(component: "test.store")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: commit.url.path + suffix, toPath: copy.path + suffix)
        }
        let store = try SQLiteStore.open(options(copy))
        defer { store.close() }
        return try commit.sequence.count(in: store)
    }
}

/// A number that several threads reach.
final class Counter: Sendable {
    private let state: Mutex<Int>

    init(_ value: Int) { state = Mutex(value) }

    var value: Int {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
