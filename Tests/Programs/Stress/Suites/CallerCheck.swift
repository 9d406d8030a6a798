import CoreDataSource
import CoreDataSourceActiveRecord
import Dispatch
import Foundation
import StoreFaults
import Synchronization
import TestSupport

/// Calls that throw are made on the main actor and on another one, where the caller has to be still when they have thrown.
///
/// Only optimized code can be wrong there.
@MainActor
struct CallerCheck {
    private struct Poison: Error {}

    private struct RedKey: ManagedObjectConvertible, Sendable {
        init(_ red: Red) {}
    }

    private typealias Call = (name: String, run: @Sendable () async throws -> Void)

    private let findings: Findings
    private let other: OtherActor
    private let main = QueueMark(DispatchQueue.main)

    init(_ findings: Findings) {
        self.findings = findings
        other = OtherActor(findings)
    }

    func run() async throws {
        let store = try StressStore(findings)
        let disk = Disk()
        let container = try StressStore.open(
            store.url, calls: try FaultyCalls(.full) { _ in disk.isFull.load(ordering: .relaxed) }.calls)
        let reds = try container.dataSource(RedDataSource.self)
        let greens = try container.dataSource(GreenDataSource.self)
        try await reds.add([RecordData(key: "a")])
        await makeAll(throwing(container, reds, greens, store.url), "")
        disk.isFull.store(true, ordering: .relaxed)
        // The context knows the record, and need not read it.
        try await reds.add([RecordData(key: "a", revision: 1)], waitFor: .main)
        await makeAll([("flush", { try await container.flush() })], "")
        let all = throwing(container, reds, greens, store.url) + writing(container, reds, greens)
        await makeAll(all, " while the disk is full")
        disk.isFull.store(false, ordering: .relaxed)
        try? await container.close()
        await makeAll(all, " after closing")
    }

    private final class Disk: Sendable {
        let isFull = Atomic(false)
    }

    private func makeAll(_ calls: [Call], _ when: String) async {
        for (name, run) in calls {
            do {
                try await run()
                findings.recordViolation("\(name)\(when) did not throw")
            } catch {
                findings.count(.refused)
            }
            if !main.isCurrent { findings.recordViolation("\(name)\(when) threw elsewhere than on the main actor") }
            await other.make("\(name)\(when)", run)
        }
    }

    /// What throws at any time.
    private func throwing(
        _ container: PersistentContainer, _ reds: RedDataSource, _ greens: GreenDataSource, _ url: URL
    ) -> [Call] {
        [
            ("perform", { try await reds.perform { _ in throw Poison() } }),
            ("perform for main", { try await reds.perform(waitFor: .main) { _ in throw Poison() } }),
            ("perform in two", { try await container.perform(in: reds, greens) { _, _ in throw Poison() } }),
            ("a read", { try await container.read { _ in throw Poison() } }),
            ("a background context", { try await container.newBackgroundContext().perform { _ in throw Poison() } }),
            ("a background task", { try await container.performBackgroundTask(for: reds) { _ in throw Poison() } }),
            ("a backup", { try await container.backup(to: url) }),
            (
                "a load",
                {
                    _ = try await reds.value(where: \Red.key, equals: "z", as: RedKey.self) { _ in throw Poison() }
                }
            ),
        ]
    }

    /// What throws while the disk is full.
    private func writing(_ container: PersistentContainer, _ reds: RedDataSource, _ greens: GreenDataSource) -> [Call] {
        [
            ("add", { try await reds.add([RecordData(key: "d")]) }),
            ("delete", { try await reds.delete([RecordData(key: "a")]) }),
            ("a sync", { try await reds.sync([RecordData(key: "e")], entity: Red.self, deleting: .all) }),
            ("an update", { try await reds.update(Red.self, set: [.set(\.revision, 7)]) }),
            ("nuke", { try await reds.nuke() }),
            (
                "a save of two",
                {
                    try await container.perform(in: reds, greens) { red, _ in
                        try reds.put(RecordData(key: "f"), in: red)
                    }
                }
            ),
            ("a reset", { try await container.reset() }),
        ]
    }
}

/// An actor that is on a queue of its own.
private actor OtherActor {
    private nonisolated let executor = MarkedExecutor()
    private let findings: Findings

    init(_ findings: Findings) { self.findings = findings }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func make(_ name: String, _ run: @Sendable () async throws -> Void) async {
        try? await run()
        if !executor.mark.isCurrent { findings.recordViolation("\(name) threw elsewhere than on its caller's actor") }
    }
}

private final class MarkedExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "stress.caller")
    let mark: QueueMark

    init() { mark = QueueMark(queue) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

/// Tells whether code runs on a queue.
private struct QueueMark: Sendable {
    private let key = DispatchSpecificKey<Bool>()

    init(_ queue: DispatchQueue) { queue.setSpecific(key: key, value: true) }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) ?? false }
}
