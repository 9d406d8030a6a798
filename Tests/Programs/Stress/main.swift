import Foundation
import TestSupport

guard let arguments = Arguments(Array(CommandLine.arguments.dropFirst())) else {
    print(Arguments.usage)
    exit(2)
}

// A process that starts others notes the end of one of them as a finding: a line to it must not end this process, too. A child that
// nobody reads ends.
signal(SIGPIPE, arguments.child.isEmpty ? SIG_IGN : SIG_DFL)

if !arguments.child.isEmpty {
    do {
        try await Suite.runChild(arguments.child)
        exit(0)
    } catch {
        say(ChildProcess.line(for: error))
        exit(1)
    }
}

var failed: [Suite] = []
for suite in arguments.suites {
    let isFine =
        arguments.isInside
        ? await runHere(suite, arguments) : try await runApart(suite, arguments)
    if !isFine { failed.append(suite) }
}
if arguments.suites.count > 1 {
    say(failed.isEmpty ? "all suites passed" : "failed: \(failed.map(\.rawValue).joined(separator: ", "))")
}
exit(failed.isEmpty ? 0 : 1)

@MainActor
func runHere(_ suite: Suite, _ arguments: Arguments) async -> Bool {
    let start = ContinuousClock.now
    let findings = Findings()
    do {
        try await suite.run(arguments, findings)
    } catch {
        findings.recordViolation("the suite was ended by an error: \(error)")
    }
    for violation in findings.violations.prefix(10) { say("  VIOLATION: \(violation.prefix(600))") }
    let count = findings.violations.count
    say("  \(findings.summary)")
    say("  \(count == 0 ? "passed" : "FAILED: \(count) violations") after \((ContinuousClock.now - start).seconds) s")
    return count == 0
}

/// In a process of its own, so that a trap is counted and does not end the others.
@MainActor
func runApart(_ suite: Suite, _ arguments: Arguments) async throws -> Bool {
    say("stress \(suite.rawValue) --size \(arguments.size.rawValue) --seed \(arguments.seed)")
    let process = Process()
    process.executableURL = Bundle.main.executableURL
    process.arguments =
        [suite.rawValue, "--inside", "--size", arguments.size.rawValue, "--seed", "\(arguments.seed)"]
        + (arguments.count.map { ["--count", "\($0)"] } ?? [])
    let progress = FileManager.default.temporaryDirectory.appending(component: "stress-\(getpid())-progress")
    defer { try? FileManager.default.removeItem(at: progress) }
    // Orders of events are to depend on nothing but the seed.
    process.environment = ProcessInfo.processInfo.environment.merging(
        ["SWIFT_DETERMINISTIC_HASHING": "1", Progress.variable: progress.path]) { _, new in new }
    let ended = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in ended.continuation.finish() }
    try process.run()
    for await _ in ended.stream {}
    if process.terminationReason == .uncaughtSignal {
        let last = (try? String(contentsOf: progress, encoding: .utf8)) ?? ""
        say("  FAILED: 1 trap: the suite ended by signal \(process.terminationStatus) \(last)")
    } else if process.terminationStatus == Watchdog.exitCode {
        say("  FAILED: 1 hang")
    }
    return process.terminationReason == .exit && process.terminationStatus == 0
}

extension Duration {
    /// With one digit behind the point.
    var seconds: Double { (self / .milliseconds(100)).rounded() / 10 }
}
