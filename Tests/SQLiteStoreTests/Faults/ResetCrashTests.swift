import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import TestSupport
import Testing

/// A reset that ends anywhere leaves a whole old store or a whole new one.
struct ResetCrashTests {
    /// From one call on nothing succeeds any more, as for a process that was killed before it.
    @Test(arguments: ResetScenario.allCases)
    func whereverAResetEndsTheNextStartFindsAWholeStore(scenario: ResetScenario) throws {
        let clean = try FaultyCalls()
        let total = try run(scenario, clean, moment: "not killed") + 1
        #expect(total > 40)
        for number in 1...total {
            _ = try run(scenario, FaultyCalls { $0 >= number }, moment: "killed before call \(number) of \(total)")
        }
    }

    /// One call fails and those after it succeed: the same must hold, and the start says so.
    @Test(arguments: ResetScenario.allCases, Fault.all)
    func whicheverCallFailsTheNextStartFindsAWholeStore(scenario: ResetScenario, fault: Fault) throws {
        let total = try run(scenario, FaultyCalls(), moment: "no fault")
        // All of them with `COREDATASOURCE_THOROUGH`; otherwise each call with one of the faults.
        let step = isThorough ? 1 : Fault.all.count
        let first = Fault.all.firstIndex { $0.name == fault.name } ?? 0
        for number in stride(from: 1 + first % step, through: total, by: step) {
            _ = try run(scenario, FaultyCalls(fault) { $0 == number }, moment: "\(fault.name) at call \(number)")
        }
    }

    /// Returns how many calls there were.
    private func run(_ scenario: ResetScenario, _ faulty: FaultyCalls, moment: String) throws -> Int {
        let folder = try TemporaryFolder()
        try scenario.prepare(folder)
        let options = try scenario.options(folder, faulty.calls)
        do throws(DataSourceError) {
            try SQLiteStore.open(options).close()
        } catch {
            #expect(!error.message.isEmpty)
        }
        try scenario.expectWhole(folder, moment)
        return faulty.count
    }
}
