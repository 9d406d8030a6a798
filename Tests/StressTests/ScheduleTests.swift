import Foundation
import TestSupport
import Testing

/// Tasks, cancels, resets, closes and drops of containers, in an order that a seed decides.
struct ScheduleTests {
    /// Forty orders; `Scripts/stress schedules --size full` tries ten thousand.
    @Test func noOrderOfEventsLosesASaveOrHangs() async throws {
        _ = try await trace(of: testSeed() &+ 1000, count: 40)
    }

    /// Addresses and the order of hashing differ between processes, so that nothing may depend on them.
    @Test func theSameSeedGivesTheSameOrderInAnotherProcess() async throws {
        let seed = testSeed()
        let first = try await trace(of: seed)
        #expect(try await trace(of: seed) == first)
        #expect(try await trace(of: seed &+ 1) != first)
    }

    /// What is said of some schedules, but for the time that they took; it has a number that depends on each step.
    private func trace(of seed: UInt64, count: Int = 12) async throws -> String {
        let stress = PackageFiles.products.appending(component: "stress").path
        let run = try await Subprocess(stress, ["schedules", "--count", "\(count)", "--seed", "\(seed)"])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let line = run.output.split(separator: "\n").first { $0.contains("is the trace of all") }
        return String(try #require(line, "\(run.output)"))
    }
}
