import Foundation
import TestSupport
import Testing

/// A process that is killed in the middle of its work loses nothing that was reported as saved, and no save is half there.
struct KillTests {
    /// Sixty processes; `Scripts/stress kill --size full` kills a thousand.
    @Test func everyAcknowledgedSaveIsThereAsAWhole() async throws {
        let stress = PackageFiles.products.appending(component: "stress").path
        let run = try await Subprocess(stress, ["kill", "--seed", "\(testSeed())"])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
    }
}
