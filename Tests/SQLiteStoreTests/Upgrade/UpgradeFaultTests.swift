import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import TestSupport
import Testing

/// A fault anywhere in an upgrade is an error, or does not matter; no row and no link is lost.
struct UpgradeFaultTests {
    @Test(arguments: Fault.all)
    func aFaultAtAnyStepThrowsAndKeepsTheStore(fault: Fault) throws {
        let total = try run(FaultyCalls(), "no fault")
        #expect(total > 60)
        for number in numbers(fault, total) {
            _ = try run(FaultyCalls(fault) { $0 == number }, "\(fault.name) at call \(number) of \(total)")
        }
    }

    @Test(arguments: Fault.all)
    func aFaultThatStaysIsAnErrorAndTheStoreAsItWas(fault: Fault) throws {
        let total = try run(FaultyCalls(), "no fault")
        for number in numbers(fault, total) {
            _ = try run(FaultyCalls(fault) { $0 >= number }, "\(fault.name) from call \(number) of \(total)")
        }
    }

    /// All calls with `COREDATASOURCE_THOROUGH`; otherwise each call with one of the faults.
    private func numbers(_ fault: Fault, _ total: Int) -> StrideThrough<Int> {
        let step = isThorough ? 1 : Fault.all.count
        let first = Fault.all.firstIndex { $0.name == fault.name } ?? 0
        return stride(from: 1 + first % step, through: total, by: step)
    }

    /// Returns how many calls there were.
    private func run(_ faulty: FaultyCalls, _ moment: String) throws -> Int {
        let folder = try TemporaryFolder()
        let world = try FirstFormatStore.world
        try world.prepare(folder)
        let options = world.options(folder, faulty.calls)
        let count: Int
        do throws(DataSourceError) {
            let store = try SQLiteStore.open(options)
            count = faulty.count
            #expect(store.startup.reason == .current, "\(moment): \(store.startup)")
            store.close()
        } catch {
            count = faulty.count
            #expect(!error.message.isEmpty && error.code.rawValue != "notMigratable", "\(moment): \(error)")
        }
        try world.expectWhole(folder, moment)
        return count
    }
}
