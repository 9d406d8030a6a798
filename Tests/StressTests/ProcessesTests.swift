import Foundation
import TestSupport
import Testing

/// Processes that have one store open.
struct ProcessesTests {
    /// Three processes; `Scripts/stress processes --size full` has eight, for a hundred rounds. Then 200 rounds of commits and
    /// checkpoints of three; it has 10,000.
    @Test func processesThatShareAStoreShowTheSame() async throws {
        let stress = PackageFiles.products.appending(component: "stress").path
        let run = try await Subprocess(stress, ["processes", "--seed", "\(testSeed())"])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
    }

    /// An error that ended a child was a trap, whose report nobody connected with a suite.
    @Test func aChildReportsTheErrorThatEndsIt() async throws {
        let stress = PackageFiles.products.appending(component: "stress").path
        let run = try await Subprocess(stress, ["--child", "rounds", "/dev/null/store.sqlite", "1"])
        #expect(run.status == 1 && run.output.hasPrefix("failed "), "\(run.output)\(run.errors)")
    }
}
