import Foundation
import TestSupport
import Testing

@Suite struct CheckCommandTests {
    private let program: Program

    init() async throws {
        program = try Program()
        try program.write(Shop.first)
        _ = try await program.run("check", "Shop.xcdatamodeld", "--lock", "model.lock", "--update")
    }

    @Test func whatIsAsItWasIsFine() async throws {
        let outcome = try await check()
        #expect(outcome.status == 0)
        #expect(outcome.output == "Shop.xcdatamodeld: unchanged\n")
        try program.write(Shop.firstAgain)
        #expect(try await check().status == 0)
    }

    @Test func whatChangedIsExplained() async throws {
        try program.write(Shop.second)
        let outcome = try await check()
        #expect(outcome.status == 1)
        #expect(
            outcome.output == """
                Shop.xcdatamodeld: changed; stores that were made before are reset:
                  Item.name: optional -> required
                  Item.price: added
                If this is meant, run model-reset check --update and commit model.lock.

                """)
        let json = try await program.json("check", "Shop.xcdatamodeld", "--lock", "model.lock")
        let model = try #require((json["models"] as? [[String: Any]])?.first)
        #expect(model["state"] as? String == "changed")
        #expect(model["changes"] as? [String] == ["Item.name: optional -> required", "Item.price: added"])
    }

    @Test func anUpdateSaysWhatItAcceptsAndThenAllIsFine() async throws {
        try program.write(Shop.second)
        let outcome = try await check("--update")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("Item.price: added\n"))
        #expect(outcome.output.hasSuffix("model.lock is written.\n"))
        #expect(try await check().status == 0)
    }

    @Test func theFileIsTextWithALinePerModelAndItsShapeBelow() async throws {
        try program.write("Big Shop", Shop.first)
        _ = try await program.run(
            "check", "Shop.xcdatamodeld", "Big Shop.xcdatamodeld", "--lock", "model.lock", "--update")
        #expect(
            try lockText().split(separator: "\n").dropFirst(2) == [
                "model \"Big Shop.xcdatamodeld\" version \"Big Shop\" hash f96747a6408540dd125fb4bea39aa3e3",
                "  model schema 1", "  entity \"Item\" schema 1", "    attribute \"name\" String optional",
                "model \"Shop.xcdatamodeld\" version \"Shop\" hash f96747a6408540dd125fb4bea39aa3e3",
                "  model schema 1", "  entity \"Item\" schema 1", "    attribute \"name\" String optional",
            ])
        let text = try lockText()
        _ = try await check("--update")
        #expect(try lockText() == text)
    }

    @Test func aModelThatIsNotLockedIsNew() async throws {
        try program.write("Other", Shop.second)
        let outcome = try await program.run("check", "Shop.xcdatamodeld", "Other.xcdatamodeld", "--lock", "model.lock")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("Other.xcdatamodeld: new; it is not in the lock file\n"))
        #expect(outcome.output.contains("Shop.xcdatamodeld: unchanged\n"))
    }

    @Test func withoutALockFileEverythingIsNew() async throws {
        let outcome = try await program.run("check", "Shop.xcdatamodeld", "--lock", "other.lock")
        #expect(outcome.status == 1)
        #expect(!FileManager.default.fileExists(atPath: program.file("other.lock").path))
    }

    @Test func aModelThatIsGoneIsSaidUntilTheLockIsUpdated() async throws {
        try program.write("Other", Shop.second)
        try FileManager.default.removeItem(at: program.file("Shop.xcdatamodeld"))
        let words = ["check", "Other.xcdatamodeld", "--lock", "model.lock"]
        let outcome = try await program.run(words)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("Shop.xcdatamodeld: gone; it is still in the lock file\n"))
        _ = try await program.run(words + ["--update"])
        #expect(try await program.run(words).output == "Other.xcdatamodeld: unchanged\n")
    }

    @Test func modelsThatWereNotAskedForStayLocked() async throws {
        try program.write("Other", Shop.second)
        _ = try await program.run("check", "Other.xcdatamodeld", "--lock", "model.lock", "--update")
        #expect(try await check().status == 0)
    }

    @Test func itDoesNotMatterWhereTheProgramIsStarted() async throws {
        try FileManager.default.createDirectory(at: program.file("deep"), withIntermediateDirectories: true)
        let paths = [program.file("Shop.xcdatamodeld").path, program.file("model.lock").path]
        #expect(try await program.run("check", paths[0], "--lock", paths[1]).status == 0)
        #expect(try await program.run("check", "deep/../Shop.xcdatamodeld/", "--lock", "./model.lock").status == 0)
    }

    @Test func aMergeConflictIsNamedWithItsLine() async throws {
        try Data((try lockText() + "<<<<<<< HEAD\n").utf8).write(to: program.file("model.lock"))
        let outcome = try await check()
        #expect(outcome.status == 3)
        #expect(outcome.errors.hasPrefix("model.lock:8: error: This line is not understood."))
        let updated = try await check("--update")
        #expect(updated.status == 0)
        #expect(updated.errors.hasPrefix("model.lock:8: warning: "))
        #expect(try await check().status == 0)
    }

    @Test func aLockEditedByHandIsNotBelieved() async throws {
        let text = try lockText().replacing("String optional", with: "String required")
        try Data(text.utf8).write(to: program.file("model.lock"))
        let outcome = try await check()
        #expect(outcome.status == 3)
        #expect(outcome.errors.hasPrefix("model.lock:4: error: The hash is not that of the lines below it."))
    }

    @Test func otherLineEndsDoNotMatter() async throws {
        try Data(try lockText().replacing("\n", with: "\r\n").utf8).write(to: program.file("model.lock"))
        #expect(try await check().status == 0)
    }

    @Test func aModelThatCannotBeReadIsNoDifference() async throws {
        let outcome = try await program.run("check", "Nowhere.xcdatamodeld", "--lock", "model.lock", "--update")
        #expect(outcome.status == 3)
    }

    @Test func thisPackagesOwnModelsAreLocked() async throws {
        let models = PackageFiles.root.appending(component: "Models")
        let bundles = try FileManager.default.contentsOfDirectory(atPath: models.path)
            .filter { $0.hasSuffix(".xcdatamodeld") }.map { models.appending(component: $0).path }
        let outcome = try await program.run(
            ["check", "--lock", models.appending(component: "model.lock").path] + bundles)
        #expect(outcome.status == 0)
    }

    private func lockText() throws -> String {
        try String(contentsOf: program.file("model.lock"), encoding: .utf8)
    }

    private func check(_ words: String...) async throws -> Subprocess {
        try await program.run(["check", "Shop.xcdatamodeld", "--lock", "model.lock"] + words)
    }
}
