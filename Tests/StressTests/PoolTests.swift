import Foundation
import TestSupport
import Testing

/// What may block for long is not done on the threads of the pool of tasks.
struct PoolTests {
    /// Once, opening a store that was being closed kept the only thread for ten seconds, and then threw `storeInUse`.
    @Test(.enabled(if: Subprocess.isInPath("taskset"), "taskset gives a program one core"))
    func storesThatAreBeingClosedAreOpenedOnAPoolOfOneThread() async throws {
        let directory = try TemporaryDirectory()
        let stress = PackageFiles.products.appending(component: "stress").path
        let run = try await Subprocess("taskset", ["-c", "0", stress, "--child", "pool", directory.url.path])
        #expect(run.status == 0 && run.output == "done\n", "\(run.output)\(run.errors)")
    }
}
