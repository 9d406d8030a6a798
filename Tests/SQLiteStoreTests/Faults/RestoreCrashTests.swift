import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import Testing

/// A restore, or a removal, that ends anywhere leaves a whole store.
struct RestoreCrashTests {
    /// From one call on nothing succeeds any more, as for a process that was killed before it.
    @Test(arguments: RestoreScenario.allCases)
    func whereverARestoreEndsThereIsTheOldStoreOrTheRestoredOne(scenario: RestoreScenario) throws {
        let total = try run(scenario, FaultyCalls(), moment: "not killed")
        #expect(total > 20)
        for number in 1...total {
            _ = try run(scenario, FaultyCalls { $0 >= number }, moment: "killed before call \(number) of \(total)")
        }
    }

    @Test(arguments: RestoreScenario.allCases, Fault.all)
    func whicheverCallOfARestoreFailsThereIsTheOldStoreOrTheRestoredOne(
        scenario: RestoreScenario, fault: Fault
    ) throws {
        let total = try run(scenario, FaultyCalls(), moment: "no fault")
        for number in 1...total {
            _ = try run(scenario, FaultyCalls(fault) { $0 == number }, moment: "\(fault.name) at call \(number)")
        }
    }

    @Test func whereverARemovalEndsThereIsTheWholeStoreOrNone() throws {
        let total = Shared(0)
        var number = 0
        while number <= total.value {
            let folder = try TemporaryFolder()
            try RestoreScenario.overAStoreWithALog.prepare(folder)
            let limit = number
            let faulty = try FaultyCalls { limit > 0 && $0 >= limit }
            let isDone = code { try SQLiteStore.destroy(folder.store, calls: faulty.calls) } == nil
            if number == 0 { total.value = faulty.count }
            let store = try SQLiteStore.open(.test(folder, resetPolicy: .fail))
            let count = try store.count()
            #expect(count == 0 || count == RestoreScenario.oldCount && !isDone, "killed before call \(number)")
            store.close()
            try checkIntegrity(folder)
            number += 1
        }
        #expect(number > 8)
    }

    /// Returns how many calls there were.
    private func run(_ scenario: RestoreScenario, _ faulty: FaultyCalls, moment: String) throws -> Int {
        let folder = try TemporaryFolder()
        try scenario.prepare(folder)
        var isDone = false
        do {
            try scenario.run(folder, faulty.calls)
            isDone = true
        } catch let error as DataSourceError {
            #expect(!error.message.isEmpty)
        }
        try scenario.expectWhole(folder, isDone: isDone, moment)
        return faulty.count
    }
}
