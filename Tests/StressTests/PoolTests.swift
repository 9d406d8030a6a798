import Foundation
import TestSupport
import Testing

/// What may block for long is not done on the threads of the pool of tasks.
struct PoolTests {
    /// Once, opening a store that was being closed kept the only thread for ten seconds, and then threw `storeInUse`.
    @Test(.enabled(if: Subprocess.isInPath("taskset"), "taskset gives a program one core"))
    func waitingCallsBlockNoThreadOfThePool() async throws {
        let directory = try TemporaryDirectory()
        let stress = PackageFiles.products.appending(component: "stress").path
        let run = try await Subprocess("taskset", ["-c", "0", stress, "--child", "pool", directory.url.path])
        #expect(run.status == 0 && run.output.hasPrefix("called "), "\(run.output)\(run.errors)")
        // It calls every function of a container that waits.
        let called = Set(run.output.dropFirst("called ".count).split(whereSeparator: \.isWhitespace).map(String.init))
        let folder = PackageFiles.root.appending(components: "Sources", "CoreDataSource", "Container")
        var waiting: Set<String> = []
        // The functions of a draft wait as its save does, which is not a function of a container.
        for file in try PackageFiles.swiftFiles(in: folder) where !file.contains("Draft+") {
            let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
            for match in text.matches(of: #/public (?:static )?func (\w+)[^{]*?\basync\b[^{]*\{/#) {
                waiting.insert(String(match.1))
            }
        }
        #expect(
            waiting.isSuperset(of: ["read", "close", "backup"]) && waiting.isSubset(of: called),
            "\(waiting.subtracting(called))")
    }
}
