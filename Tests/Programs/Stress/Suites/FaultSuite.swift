import CoreDataSource
import Foundation
import RowStore
import StoreFaults
import Synchronization
import TestSupport

/// Each call for the files fails in turn, once and for good, while saves are made: by the store alone, and by all tiers. First it
/// is seen that calls that throw return to where they were made.
@MainActor
struct FaultSuite {
    private let size: Size
    private let seed: UInt64
    private let findings: Findings
    private let watchdog: Watchdog

    init(_ size: Size, _ seed: UInt64, _ findings: Findings) {
        self.size = size
        self.seed = seed
        self.findings = findings
        watchdog = Watchdog(limit: .seconds(60), findings: findings)
    }

    func run() async throws {
        watchdog.note("faults", "calls that throw")
        try await CallerCheck(findings).run()
        let store = CommitFaults(
            saveCount: size.choose(6, 12), step: size.choose(13, 1), seed: seed, findings: findings)
        for fault in [Fault.io, .full] {
            for length in [1, 50] {
                try store.failEveryCall(with: fault, length: length) { number in
                    watchdog.note("faults", "\(fault) at call \(number), \(length) long, of the store")
                }
            }
            for isPermanent in [false, true] {
                try await failEveryCallOfTheTiers(with: fault, isPermanent)
            }
        }
        watchdog.note("faults", nil)
    }

    private func failEveryCallOfTheTiers(with fault: Fault, _ isPermanent: Bool) async throws {
        var random = SeededRandom(seed: seed)
        let step = size.choose(13, 1)
        var number = 1 + random.next(below: step)
        while findings.violations.count < 20 {
            let moment = "\(fault) at call \(number) \(isPermanent ? "for good" : "once"), seed \(seed)"
            watchdog.note("faults", "\(moment), of all tiers")
            var run = try FaultRun(fault, number, isPermanent, Ledger(seed: seed, task: 0), moment, findings)
            guard try await run.run(operations: size.choose(10, 20)) else { return }
            findings.count(.faults)
            number += step
        }
    }
}

/// One store, one task, one fault.
///
/// A call that throws leaves nothing: not on main, not in its context, not in the store. Once the fault is gone the same call
/// succeeds.
@MainActor
private struct FaultRun {
    private let ledger: Ledger
    private let moment: String
    private let findings: Findings
    private let isPermanent: Bool
    private let store: StressStore
    private let window: FaultWindow
    private let calls: FaultyCalls
    private var container: PersistentContainer
    private var recordSource: any RecordSource
    private var cells: Ledger.Cells = [:]
    private var done: Int64 = 0
    /// The last operation that was acknowledged as stored.
    private var stored: Int64 = 0

    /// How often a call is made again before what is broken for good is repaired.
    private static let patience = 4

    init(
        _ fault: Fault, _ number: Int, _ isPermanent: Bool, _ ledger: Ledger, _ moment: String, _ findings: Findings
    ) throws {
        self.ledger = ledger
        self.moment = moment
        self.findings = findings
        self.isPermanent = isPermanent
        store = try StressStore(findings)
        let window = FaultWindow()
        self.window = window
        calls = try FaultyCalls(fault) { window.fails($0) }
        container = try StressStore.open(store.url, logLimit: 10, calls: calls.calls)
        recordSource = try container.dataSource(RedDataSource.self)
        window.open(at: calls.count + number, length: isPermanent ? Int.max : 1)
    }

    /// - Returns: Whether it came to the call that was to fail.
    mutating func run(operations count: Int64) async throws -> Bool {
        while done < count && findings.violations.count < 20 {
            try await make(ledger.operation(done + 1, on: cells))
        }
        let wasReached = window.wasReached(calls.count)
        window.close()
        try await flush()
        try await expectShown("after a flush")
        try await container.close()
        (container, recordSource) = try reopened()
        try await expectShown("after the next start")
        try await container.close()
        let integrity = integrity(of: store.url)
        findings.expect(integrity == "ok", "\(integrity), \(moment)")
        return wasReached
    }

    /// Makes a save until it succeeds.
    private mutating func make(_ operation: Operation) async throws {
        for attempt in 1... {
            do {
                try await recordSource.run(operation)
                findings.count(.acknowledged)
                cells = operation.applied(to: cells)
                done = operation.number
                if operation.level == .store { stored = done }
                return try await expectShown("after \(operation)")
            } catch let error as DataSourceError {
                findings.count(.refused)
                if error.code == .outcomeUnknown { return try await restart(after: "\(operation)") }
                findings.expect(
                    [.storeUnreadable, .diskFull].contains(error.code), "\(operation) threw \(error), \(moment)")
            }
            try await expectShown("after attempt \(attempt) of \(operation)")
            if attempt == FaultRun.patience { window.close() }
            guard attempt <= FaultRun.patience * 2 else {
                return findings.recordViolation("\(operation) is refused for good, \(moment)")
            }
        }
    }

    /// Nobody knows what the disk has of the last save: whatever that is has to be whole, and to hold what was acknowledged.
    private mutating func restart(after operation: String) async throws {
        window.close()
        try? await container.close()
        (container, recordSource) = try reopened()
        let found = try recordSource.mainRecords()
        done = found.first { $0.key == ledger.key(0) }?.revision ?? 0
        findings.expect(done >= stored, "\(done) of \(stored) stored operations, \(operation), \(moment)", .lost)
        cells = ledger.cells(after: done)
        try await expectShown("after a start for which the outcome was unknown")
    }

    private func reopened() throws -> (PersistentContainer, any RecordSource) {
        let container = try StressStore.open(store.url, logLimit: 10, calls: calls.calls)
        return (container, try container.dataSource(RedDataSource.self))
    }

    private mutating func flush() async throws {
        do {
            try await container.flush()
        } catch {
            // It may have got the error of an attempt that began before the fault was gone.
            do {
                try await container.flush()
            } catch let error as DataSourceError where error.code == .outcomeUnknown {
                // The fault hit a save that no call waited for.
                try await restart(after: "the flush")
            } catch {
                findings.recordViolation("flush threw \(error), \(moment)")
            }
        }
    }

    /// A read may fail, but it never leaves out a save nor shows one that threw.
    private func expectShown(_ when: String) async throws {
        let values = ledger.values(cells)
        if let mainRecords = try? recordSource.mainRecords() {
            findings.expect(Set(mainRecords) == values, "main shows other records \(when), \(moment)", .half)
        }
        if let contextRecords = try? await recordSource.contextRecords() {
            findings.expect(Set(contextRecords) == values, "the context has other records \(when), \(moment)", .half)
        }
    }
}

/// Which calls fail.
private final class FaultWindow: Sendable {
    private let calls = Mutex<Range<Int>?>(nil)

    func open(at first: Int, length: Int) {
        calls.withLock { $0 = first..<(length == .max ? .max : first + length) }
    }

    func close() {
        calls.withLock { $0 = $0.map { $0.lowerBound..<$0.lowerBound } }
    }

    func fails(_ number: Int) -> Bool { calls.withLock { $0?.contains(number) ?? false } }

    func wasReached(_ number: Int) -> Bool { calls.withLock { $0.map { $0.lowerBound <= number } ?? false } }
}
