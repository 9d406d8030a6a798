import Foundation
import TestSupport
import Testing

@Suite struct CheckScopeTests {
    private let program: Program

    init() async throws {
        program = try Program()
        try program.write(Shop.first)
        _ = try await program.run("check", "Shop.xcdatamodeld", "--lock", "model.lock", "--update")
    }

    @Test func aChangedModelThatNobodyNamesIsFound() async throws {
        try program.write(Shop.second)
        let outcome = try await program.run("check", "--lock", "model.lock")
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("Shop.xcdatamodeld: changed (version Shop); "))
    }

    @Test func aModelBelowTheLockFileThatIsNotInItIsNew() async throws {
        try program.write("deep/Other", Shop.second)
        try program.write(".build/Hidden", Shop.second)
        let outcome = try await program.run("check", "--lock", "model.lock")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("deep/Other.xcdatamodeld: new (version Other); it is not in the lock file\n"))
        #expect(outcome.output.contains("Shop.xcdatamodeld: unchanged (version Shop)\n"))
        #expect(!outcome.output.contains("Hidden"))
        #expect(try await program.run("check", "--lock", "model.lock", "--update").status == 0)
        #expect(try await program.run("check", "--lock", "model.lock").status == 0)
    }

    @Test func theLockFileOfAnotherStateMayLieAnywhere() async throws {
        let elsewhere = try TemporaryDirectory()
        let base = elsewhere.url.appending(component: "base.lock").path
        try FileManager.default.copyItem(atPath: program.file("model.lock").path, toPath: base)
        let words = ["check", "--lock", "model.lock", "--against", base]
        #expect(try await program.run(words).status == 0)
        try program.write(Shop.second)
        _ = try await program.run("check", "--lock", "model.lock", "--update")
        #expect(try await program.run("check", "--lock", "model.lock").status == 0)
        let outcome = try await program.run(words)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("  Item.price: added (Decimal, optional)\n"))
        #expect(outcome.output.hasSuffix("Compared with \(base).\n"))
    }

    @Test func aMissingLockFileToCompareWithIsAnError() async throws {
        let outcome = try await program.run("check", "--lock", "model.lock", "--against", "gone.lock")
        #expect(outcome.status == 3)
        #expect(outcome.errors == "gone.lock: error: There is no lock file here. Check the path.\n")
    }
}
