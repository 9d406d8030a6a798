import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// A call to the files fails while saves are made, the log is copied and rows are read.
struct CommitFaultTests {
    /// Whichever call fails: it is an error, what was acknowledged is there, and the same save succeeds after it.
    @Test(arguments: [Fault.io, .full])
    func whicheverCallFailsTheSaveIsRefusedAndSucceedsLater(fault: Fault) throws {
        try checkEveryCall(fault, length: 1)
    }

    /// So it is when the next fifty calls fail too.
    @Test(arguments: [Fault.io, .full])
    func aFaultThatLastsIsOvercomeOnceItIsGone(fault: Fault) throws {
        try checkEveryCall(fault, length: 50)
    }

    private func checkEveryCall(_ fault: Fault, length: Int) throws {
        let seed = testSeed()
        let sequence = SaveSequence(count: 8, seed: seed)
        // Each call with `CRASH_ROUNDS` in the environment; otherwise one of eight.
        let step = ProcessInfo.processInfo.environment["CRASH_ROUNDS"] == nil ? 8 : 1
        var number = Int.random(in: 1 - step...0)
        var wasReached = true
        while wasReached {
            number = max(1, number + step)
            let folder = try TemporaryFolder()
            let first = Shared(Int.max)
            let faulty = try FaultyCalls(fault) { $0 >= first.value && $0 - first.value < length }
            let options = SQLiteStore.Options.test(folder, synchronous: .full, calls: faulty.calls)
                .copyingLogOften()
            var store = try SQLiteStore.open(options)
            first.value = faulty.count + number
            let moment = "\(fault.name) at call \(number), \(length) long, seed \(seed)"
            for (index, save) in sequence.saves.enumerated() {
                try commit(save, index, of: sequence, to: &store, options, folder, moment)
                // A read may fail, but never leave out a save or show half of one.
                if let count = try? sequence.count(in: store) { #expect(count == index + 1, "\(moment)") }
                store.upkeep()
            }
            wasReached = faulty.count >= first.value
            first.value = Int.max
            #expect(try sequence.count(in: store) == sequence.saves.count, "\(moment)")
            store.close()
            let next = try SQLiteStore.open(.test(folder, resetPolicy: .ask))
            #expect(try sequence.count(in: next) == sequence.saves.count, "\(moment)")
            next.close()
            try checkIntegrity(folder)
        }
    }

    /// Saves again and again until it succeeds. What is refused is not there after a restart.
    private func commit(
        _ save: ChangeSet, _ number: Int, of sequence: SaveSequence, to store: inout SQLiteStore,
        _ options: SQLiteStore.Options, _ folder: TemporaryFolder, _ moment: String
    ) throws {
        for _ in 0..<100 {
            guard let failure = code(of: { try store.write([save]) }) else { return }
            guard failure == .outcomeUnknown else {
                #expect([.storeUnreadable, .diskFull].contains(failure), "\(moment)")
                #expect(try countAfterDeath(sequence, folder) == number, "\(moment)")
                continue
            }
            #expect(code(of: { try store.write([save]) }) == .outcomeUnknown, "\(moment)")
            store.close()
            store = try reopened(options)
            if try sequence.count(in: store) == number + 1 { return }
        }
        try store.write([save])
    }

    /// How many saves the next process finds if this one is killed now.
    private func countAfterDeath(_ sequence: SaveSequence, _ folder: TemporaryFolder) throws -> Int? {
        let copy = try TemporaryFolder()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: folder.store.path + suffix, toPath: copy.store.path + suffix)
        }
        let store = try SQLiteStore.open(.test(copy, resetPolicy: .ask))
        defer { store.close() }
        return try sequence.count(in: store)
    }

    private func reopened(_ options: SQLiteStore.Options) throws -> SQLiteStore {
        for _ in 0..<100 {
            if let store = try? SQLiteStore.open(options) { return store }
        }
        return try SQLiteStore.open(options)
    }
}
