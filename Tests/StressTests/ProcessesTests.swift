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
}
