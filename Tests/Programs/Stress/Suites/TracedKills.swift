import CoreDataSource
import Foundation
import StoreFaults
import TestSupport

/// Kills a process at each system call for the store's files during a load with freshness and history, and during a revert.
///
/// The suite of kills counts the calls of the store and of SQLite's VFS. Here the system itself stops the process, so that calls are
/// tried, too, of which the VFS makes several: to create and to extend a file, to lock parts of it, and to map it. Writes to the mapped
/// index of the log are no calls. They need no kill of their own: the next process finds the index without a user, and makes it again from
/// the log.
@MainActor
struct TracedKills {
    private let size: Size
    private let findings: Findings
    private let watchdog: Watchdog

    /// With the small size, only each call at this distance is tried.
    private static let distance = 7

    init(_ size: Size, _ findings: Findings) {
        (self.size, self.findings) = (size, findings)
        watchdog = Watchdog(limit: .seconds(120), findings: findings)
    }

    func run() async throws {
        guard TracedProgram.isAvailable, let program = Bundle.main.executableURL else {
            return say("  skipped: \(TracedProgram.comment)")
        }
        for work in TracedWork.allCases {
            // Calls that only ask for a state lead to no other state than the call before them.
            let traced = TracedProgram(
                program, calls: "!close,newfstatat,fstat,pread64,fchown,readlink,getdents64", mark: TracedWork.mark
            ) { file in ["--child", "traced", work.rawValue, file.deletingLastPathComponent().path] }
            try await run(work, traced)
        }
        watchdog.note("traced", nil)
    }

    private func run(_ work: TracedWork, _ program: TracedProgram) async throws {
        let filled = try StressStore(findings)
        try await work.fill(filled.folder)
        let whole = try copy(of: filled)
        guard let (all, child) = try await program.list(whole.url) else { return }
        findings.expect(child.output == "done\n", "\(work): \(child.output)\(child.errors.suffix(500))")
        try await check(work, whole, isDone: true, "not killed")
        let calls = Array(all.drop { !$0.line.contains("/\(TracedWork.mark)\"") }.dropFirst())
        findings.expect(
            Set(calls.map(\.name)).isSuperset(of: ["pwrite64", "fcntl"]), "\(work) has only the calls \(calls)")
        let distance = size.choose(TracedKills.distance, 1)
        for index in stride(from: Int.random(in: 0..<distance), to: calls.count, by: distance) {
            let (call, store) = (calls[index], try copy(of: filled))
            watchdog.note("traced", "\(work), \(call)")
            guard let child = try await program.run(store.url, "signal=KILL", at: call) else { return }
            let moment = "\(work) killed at \(call), \(call.line)"
            // A thread may make one call more or less than before, so that the last calls are not always reached.
            findings.expect(
                [0, SIGKILL].contains(child.status), "\(moment): \(child.output)\(child.errors.suffix(500))")
            if child.status == SIGKILL { findings.count(.kills) }
            try await check(work, store, isDone: child.output == "done\n", moment)
        }
    }

    private func copy(of filled: StressStore) throws -> StressStore {
        let store = try StressStore(findings)
        for name in try FileManager.default.contentsOfDirectory(atPath: filled.folder.path) {
            try FileManager.default.copyItem(
                at: filled.folder.appending(component: name), to: store.folder.appending(component: name))
        }
        return store
    }

    /// - Parameter isDone: Whether the process has said that its work is stored.
    private func check(_ work: TracedWork, _ store: StressStore, isDone: Bool, _ moment: String) async throws {
        let container = try TracedWork.open(store.folder)
        findings.expect(container.startup.reason == .current, "found \(container.startup.reason), \(moment)", .lost)
        var count = 0
        for try await _ in container.history() { count += 1 }
        findings.expect(!isDone || count == (work == .load ? 2 : 3), "\(count) records, \(moment)", .lost)
        let difference = try await work.difference(container)
        findings.expect(difference == nil, "\(difference ?? ""), \(moment)", .half)
        try await container.close()
        let damage = integrity(of: store.url)
        findings.expect(damage == "ok", "\(damage), \(moment)")
    }
}
