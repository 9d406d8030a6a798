import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import TestSupport
import StoreTestModel
import Testing

/// What fails while a store is opened is an error, never a reset, and leaves every byte as it was.
struct StartupFaultTests {
    /// A store that is current, and starts that must not reset one that is not.
    enum Start: CaseIterable, Sendable {
        case current, failing

        func options(_ folder: TemporaryFolder, _ calls: FileCalls) -> SQLiteStore.Options {
            switch self {
            case .current: .test(folder, calls: calls)
            case .failing: .test(folder, hash: "other", resetPolicy: .fail, calls: calls)
            }
        }
    }

    @Test(arguments: Start.allCases, Fault.all)
    func aFaultAtAnyStepOnlyThrows(start: Start, fault: Fault) throws {
        let total = try run(start, FaultyCalls(), "no fault")
        #expect(total > 15)
        for number in 1...total {
            _ = try run(start, FaultyCalls(fault) { $0 == number }, "\(fault.name) at call \(number) of \(total)")
        }
    }

    /// All pairs with `COREDATASOURCE_THOROUGH`; otherwise each first one with one second one.
    @Test(arguments: Start.allCases, Fault.all)
    func twoFaultsMakeNoReset(start: Start, fault: Fault) throws {
        let total = try run(start, FaultyCalls(), "no fault")
        for first in 1..<total {
            let later = first + 1...total
            for second in isThorough ? Array(later) : [Int.random(in: later)] {
                let faulty = try FaultyCalls(fault) { $0 == first || $0 == second }
                _ = try run(start, faulty, "\(fault.name) at the calls \(first) and \(second) of \(total)")
            }
        }
    }

    /// The store has to be reset: until the first file is removed, whatever fails leaves it as it was.
    @Test(arguments: Fault.all)
    func aResetThatCannotBeginTouchesNothing(fault: Fault) throws {
        let folder = try TemporaryFolder()
        try ResetScenario.reset.prepare(folder)
        let clean = try FaultyCalls()
        try SQLiteStore.open(ResetScenario.reset.options(folder, clean.calls)).close()
        let firstRemoval = try #require(clean.firstRemoval)
        for number in 1..<firstRemoval {
            let folder = try TemporaryFolder()
            try ResetScenario.reset.prepare(folder)
            let before = folder.contents()
            let faulty = try FaultyCalls(fault) { $0 == number }
            let failure = code {
                try SQLiteStore.open(ResetScenario.reset.options(folder, faulty.calls)).close()
            }
            if failure != nil { #expect(folder.contents() == before, "\(fault.name) at call \(number)") }
            try ResetScenario.reset.expectWhole(folder, "\(fault.name) at call \(number)")
        }
    }

    /// Returns how many calls there were.
    private func run(_ start: Start, _ faulty: FaultyCalls, _ moment: String) throws -> Int {
        let folder = try TemporaryFolder()
        try ResetScenario.reset.prepare(folder)
        let before = folder.contents()
        var count = 0
        do throws(DataSourceError) {
            let store = try SQLiteStore.open(start.options(folder, faulty.calls))
            count = faulty.count
            #expect(store.startup.reason == .current && start == .current, "\(moment): \(store.startup)")
            #expect(folder.contents() == before, "\(moment)")
            store.close()
        } catch {
            count = faulty.count
            #expect(error.code != .storeInUse, "\(moment)")
            #expect(folder.contents() == before, "\(moment): \(error)")
        }
        let store = try SQLiteStore.open(.test(folder))
        #expect(store.startup.reason == .current, "\(moment)")
        #expect(try store.count() == ResetScenario.itemCount, "\(moment)")
        store.close()
        return count
    }
}
