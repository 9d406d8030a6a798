import Foundation
import TestSupport
import Testing

/// Processes that share a store on a server.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct PostgreSQLTests {
    /// Three processes and two kills; `Scripts/stress postgresql --size full` has eight and twenty.
    @Test func processesLoseNothingWhenTheServerIsKilled() async throws {
        let stress = PackageFiles.products.appending(component: "stress").path
        let run = try await Subprocess(stress, ["postgresql", "--seed", "\(testSeed())"])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
    }
}
