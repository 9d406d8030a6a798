import Foundation
import SQLiteStore
import TestSupport
import Testing

@Suite struct RestoreCommandTests {
    private let program: Program
    private let model: String

    init() throws {
        program = try Program()
        model = try program.write(Shop.first)
        _ = try Store(program.file("backup.sqlite"), model: program.file(model), rowCount: 2)
        try FileManager.default.removeItem(at: program.file("backup.sqlite.lock"))
    }

    private func makeStore() throws {
        _ = try Store(program.file("shop.sqlite"), model: program.file(model), rowCount: 3)
    }

    private func rowCount() throws -> Int {
        try Store.rowCount(program.file("shop.sqlite"), model: program.file(model))
    }

    @Test func aBackupIsRestoredWhereThereIsNoStore() async throws {
        let outcome = try await program.run("restore", "backup.sqlite", "shop.sqlite")
        #expect(outcome.status == 0)
        #expect(
            outcome.output.wholeMatch(of: /restored: 2 objects of .*backup\.sqlite as the store .*shop\.sqlite\n/)
                != nil)
        #expect(try rowCount() == 2)
    }

    @Test func anExistingStoreIsReplacedOnlyWithForce() async throws {
        try makeStore()
        let refused = try await program.run("restore", "backup.sqlite", "shop.sqlite")
        #expect(refused.status == 4)
        #expect(refused.errors.hasPrefix("model-reset: error: fileExists: "))
        #expect(refused.errors.contains("--force"))
        #expect(try rowCount() == 3)
        let outcome = try await program.run("restore", "backup.sqlite", "shop.sqlite", "--force")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains(" in the place of the store "))
        #expect(try rowCount() == 2)
    }

    @Test(arguments: [[], ["--force"]]) func aDryRunMakesNoFileAndChangesNoByte(_ words: [String]) async throws {
        if !words.isEmpty { try makeStore() }
        let before = try [program.files("shop"), program.files("backup")]
        let outcome = try await program.run(["restore", "backup.sqlite", "shop.sqlite", "--dry-run"] + words)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("would restore: 2 objects of "))
        let after = try [program.files("shop"), program.files("backup")]
        #expect(after == before)
    }

    @Test func aFileThatIsNoBackupIsNotRestored() async throws {
        try makeStore()
        try Data("a photo of a shop".utf8).write(to: program.file("photo"))
        let outcome = try await program.run("restore", "photo", "shop.sqlite", "--force")
        #expect(outcome.status == 4)
        #expect(outcome.errors.hasPrefix("model-reset: error: notADatabase: "))
        #expect(try rowCount() == 3)
    }

    @Test func aStoreInUseIsNotReplaced() async throws {
        let live = try Store.open(program.file("shop.sqlite"), model: program.file(model))
        let outcome = try await program.run("restore", "backup.sqlite", "shop.sqlite", "--force")
        #expect(outcome.status == 4)
        #expect(outcome.errors.hasPrefix("model-reset: error: storeInUse: "))
        live.close()
    }

    @Test func theJSONSaysTheSame() async throws {
        try makeStore()
        let json = try await program.json("restore", "backup.sqlite", "shop.sqlite", "--force")
        #expect(json["restored"] as? Bool == true)
        #expect(json["dryRun"] as? Bool == false)
        #expect(json["replaced"] as? Bool == true)
        #expect(json["rows"] as? Int == 2)
        let error = try await program.json("restore", "backup.sqlite", "shop.sqlite")["error"] as? [String: Any]
        #expect(error?["code"] as? String == "fileExists")
    }
}
