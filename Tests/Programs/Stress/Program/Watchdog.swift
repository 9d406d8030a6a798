import Foundation
import Synchronization
import TestSupport

/// Ends the process when a part of it is at the same thing for too long, and says what all parts were doing.
///
/// The limit is on the time that the process could use, so that a busy machine is no hang.
final class Watchdog: Sendable {
    private struct Part {
        var activity: String
        var since: Duration
    }

    private let parts = Mutex<[String: Part]>([:])
    private let limit: Duration
    private let findings: Findings

    static let exitCode: Int32 = 70

    init(limit: Duration, findings: Findings = Findings()) {
        self.limit = limit
        self.findings = findings
        let thread = Thread { [weak self] in
            while let self {
                self.checkParts()
                usleep(100_000)
            }
        }
        thread.start()
    }

    /// Says what a part is doing from now on; nil for nothing.
    func note(_ part: String, _ activity: String?) {
        parts.withLock { $0[part] = activity.map { Part(activity: $0, since: RunningClock.shared.now) } }
    }

    /// Notes that a part goes on with what it is doing.
    func renew(_ part: String) { parts.withLock { $0[part]?.since = RunningClock.shared.now } }

    private func checkParts() {
        let now = RunningClock.shared.now
        let parts = parts.withLock { $0 }
        guard parts.values.contains(where: { now - $0.since > limit }) else { return }
        findings.count(.hangs)
        var report = "HANG: a part is at the same thing for more than \(limit).\n"
        for (name, part) in parts.sorted(by: { $0.key < $1.key }) {
            report += "  \(name): \(part.activity), for \(now - part.since)\n"
        }
        for violation in findings.violations.prefix(10) { report += "  VIOLATION: \(violation.prefix(600))\n" }
        report += "  \(findings.summary)\n"
        FileHandle.standardError.write(Data(report.utf8))
        _exit(Watchdog.exitCode)
    }
}
