import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import TestSupport
import Testing

/// A fault anywhere in a migration is an error, or does not matter; it is never a reset, and no row is lost.
struct MigrationFaultTests {
    @Test(arguments: Fault.all)
    func aFaultAtAnyStepThrowsAndKeepsTheStore(fault: Fault) throws {
        let total = try run(FaultyCalls(), "no fault")
        #expect(total > 60)
        for number in MigrationFaultTests.numbers(fault, total) {
            _ = try run(FaultyCalls(fault) { $0 == number }, "\(fault.name) at call \(number) of \(total)")
        }
    }

    /// The disk stays full, or broken.
    @Test(arguments: Fault.all)
    func aFaultThatLastsIsAnErrorAndTheStoreAsItWas(fault: Fault) throws {
        let total = try run(FaultyCalls(), "no fault")
        for number in MigrationFaultTests.numbers(fault, total) {
            _ = try run(FaultyCalls(fault) { $0 >= number }, "\(fault.name) from call \(number) of \(total)")
        }
    }

    /// All calls with `COREDATASOURCE_THOROUGH`; otherwise each call with one of the faults.
    private static func numbers(_ fault: Fault, _ total: Int) -> StrideThrough<Int> {
        let step = isThorough ? 1 : Fault.all.count
        let first = Fault.all.firstIndex { $0.name == fault.name } ?? 0
        return stride(from: 1 + first % step, through: total, by: step)
    }

    /// Returns how many calls there were.
    private func run(_ faulty: FaultyCalls, _ moment: String) throws -> Int {
        let folder = try TemporaryFolder()
        try ResetScenario.migration.prepare(folder)
        let before = try rows(folder, "text")
        let count: Int
        let options = try ResetScenario.migration.options(folder, faulty.calls)
        do throws(DataSourceError) {
            let store = try SQLiteStore.open(options)
            count = faulty.count
            #expect(store.startup.migration != nil && store.startup.fallback == nil, "\(moment): \(store.startup)")
            store.close()
        } catch {
            count = faulty.count
            #expect(!error.message.isEmpty && error.code.rawValue != "notMigratable", "\(moment): \(error)")
            // The old store is whole, unless only the word that all was done got lost.
            if try RawDatabase(folder.store).run("SELECT count(*) FROM sqlite_schema WHERE name = 'Box'") == ["0"] {
                #expect(try rows(folder, "text") == before, "\(moment)")
            }
        }
        try ResetScenario.migration.expectWhole(folder, moment)
        return count
    }

    private func rows(_ folder: TemporaryFolder, _ column: String) throws -> [String] {
        try RawDatabase(folder.store).run("SELECT _key, code, [\(column)], quote(integer) FROM Item ORDER BY 1")
    }
}
