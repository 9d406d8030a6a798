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

    @Test func anUnchangedModelIsFine() async throws {
        let outcome = try await check()
        #expect(outcome.status == 0)
        #expect(outcome.output == "Shop.xcdatamodeld: unchanged (version Shop)\n")
        try program.write(Shop.firstAgain)
        #expect(try await check().status == 0)
    }

    @Test func changesAreExplained() async throws {
        try program.write(Shop.second)
        let outcome = try await check()
        #expect(outcome.status == 1)
        #expect(
            outcome.output == """
                Shop.xcdatamodeld: changed (version Shop); stores made before are reset, unless they are migrated:
                  Item.name: optional -> required
                  Item.price: added (Decimal, optional)
                  can be migrated with the policy .migrate, except for a store with one of these problems, which is reset:
                    Item.name: the attribute is required now and has no default value, but some objects have no value. \
                Give the attribute a default value.
                  a migration loses nothing
                If the changes are intended, run the same command with --update, and commit model.lock.

                """)
        let json = try await program.json("check", "Shop.xcdatamodeld", "--lock", "model.lock")
        let model = try #require((json["models"] as? [[String: Any]])?.first)
        #expect(model["state"] as? String == "changed")
        #expect(
            model["changes"] as? [String] == [
                "Item.name: optional -> required", "Item.price: added (Decimal, optional)",
            ])
        let migration = try #require(model["migration"] as? [String: Any])
        #expect(migration["verdict"] as? String == "migrated")
    }

    @Test func theVersionsAreNamed() async throws {
        try program.write("Shop", versions: ["Shop": Shop.first, "Shop 2": Shop.second], current: "Shop 2")
        #expect(try await check().output.hasPrefix("Shop.xcdatamodeld: changed (version Shop -> Shop 2); "))
        #expect(try await check("--update").status == 0)
        #expect(try await check().output == "Shop.xcdatamodeld: unchanged (version Shop 2)\n")
    }

    /// What comes when a version is made the current one is known before.
    @Test func anotherVersionIsComparedAndNotLocked() async throws {
        try program.write("Shop", versions: ["Shop": Shop.first, "Shop 2": Shop.second], current: "Shop")
        #expect(try await check("--version", "Shop").output == "Shop.xcdatamodeld: unchanged (version Shop)\n")
        let outcome = try await check("--version", "Shop 2")
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("Shop.xcdatamodeld: changed (version Shop -> Shop 2); "))
        #expect(
            outcome.output.hasSuffix(
                "To record these changes, make Shop 2 the current version, and run model-reset check --update.\n"))
        #expect(try await check().status == 0)
        let unknown = try await check("--version", "Shop 3")
        #expect(unknown.status == 3)
        #expect(unknown.errors.contains("Shop 3"))
    }

    /// They reset nothing, but a later comparison needs them.
    @Test func newRenamingIdentifiersAreFineAndAnUpdateWritesThemDown() async throws {
        try program.write(Shop.first.replacing("name=\"name\"", with: "name=\"name\" elementID=\"label\""))
        let outcome = try await check()
        #expect(outcome.status == 0)
        #expect(
            outcome.output
                == "Shop.xcdatamodeld: unchanged (version Shop), except for its renaming identifiers; --update records them\n"
        )
        #expect(try await check("--update").status == 0)
        #expect(try lockText().hasSuffix("  renamed attribute \"Item\" \"name\" from \"label\"\n"))
        #expect(try await check().output == "Shop.xcdatamodeld: unchanged (version Shop)\n")
        try program.write(Shop.first.replacing("name=\"name\"", with: "name=\"title\" elementID=\"label\""))
        #expect(try await check().output.contains("  Item.title: renamed from name\n"))
    }

    /// They reset nothing either, but people should see them.
    @Test func changedRulesAreListedAndAnUpdateWritesThemDown() async throws {
        try program.write(Shop.firstAgain)
        let outcome = try await check()
        #expect(outcome.status == 0)
        #expect(
            outcome.output == """
                Shop.xcdatamodeld: unchanged (version Shop), except for its rules; --update records them
                  Item.name: default value none -> "new"

                """)
        #expect(try await check("--update").status == 0)
        #expect(try lockText().contains(#"  rule "Item" "name" default "\"new\"""#))
        #expect(try await check().output == "Shop.xcdatamodeld: unchanged (version Shop)\n")
        // A lock file of an earlier release has no rules, so nothing is known to have changed.
        let lines = try lockText().split(separator: "\n", omittingEmptySubsequences: false)
        let older = lines.filter { !$0.hasPrefix("  rule") }.joined(separator: "\n")
        try older.write(to: program.folder.appending(path: "model.lock"), atomically: true, encoding: .utf8)
        try program.write(Shop.first)
        #expect(try await check().output == "Shop.xcdatamodeld: unchanged (version Shop)\n")
    }

    @Test func anUpdateSaysWhatItAcceptsAndThenAllIsFine() async throws {
        try program.write(Shop.second)
        let outcome = try await check("--update")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("Item.price: added (Decimal, optional)\n"))
        #expect(outcome.output.hasSuffix("model.lock was written.\n"))
        #expect(try await check().status == 0)
    }

    @Test func theLockFileHasALinePerModelAndItsShapeBelow() async throws {
        try program.write("Big Shop", Shop.first)
        _ = try await program.run(
            "check", "Shop.xcdatamodeld", "Big Shop.xcdatamodeld", "--lock", "model.lock", "--update")
        #expect(
            try lockText().split(separator: "\n").dropFirst(2) == [
                "model \"Big Shop.xcdatamodeld\" version \"Big Shop\" hash f96747a6408540dd125fb4bea39aa3e3",
                "  model schema 1", "  entity \"Item\" schema 1", "    attribute \"name\" String optional",
                "  rules",
                "model \"Shop.xcdatamodeld\" version \"Shop\" hash f96747a6408540dd125fb4bea39aa3e3",
                "  model schema 1", "  entity \"Item\" schema 1", "    attribute \"name\" String optional",
                "  rules",
            ])
        let text = try lockText()
        _ = try await check("--update")
        #expect(try lockText() == text)
    }

    @Test func aModelThatIsNotLockedIsNew() async throws {
        try program.write("Other", Shop.second)
        let outcome = try await program.run("check", "Shop.xcdatamodeld", "Other.xcdatamodeld", "--lock", "model.lock")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("Other.xcdatamodeld: new (version Other); it is not in the lock file\n"))
        #expect(outcome.output.contains("Shop.xcdatamodeld: unchanged (version Shop)\n"))
    }

    @Test func withoutALockFileEverythingIsNew() async throws {
        let outcome = try await program.run("check", "Shop.xcdatamodeld", "--lock", "other.lock")
        #expect(outcome.status == 1)
        #expect(!FileManager.default.fileExists(atPath: program.file("other.lock").path))
    }

    /// As in a repository in which nobody has used it yet.
    @Test func theFirstUseSaysThatThereIsNoLockFileAndAnUpdateMakesItsFolder() async throws {
        let program = try Program()
        try program.write("App/Shop", Shop.first)
        let words = ["check", "App/Shop.xcdatamodeld"]
        let first = try await program.run(words)
        #expect(first.status == 1)
        #expect(
            first.output == """
                App/Shop.xcdatamodeld: new (version Shop)
                There is no lock file Models/model.lock yet. Run the same command with --update, and commit the new file.

                """)
        #expect(try FileManager.default.contentsOfDirectory(atPath: program.folder.path) == ["App"])
        #expect(try await program.run(words + ["--update"]).status == 0)
        let next = try await program.run(words)
        #expect(next.status == 0)
        #expect(next.output == "App/Shop.xcdatamodeld: unchanged (version Shop)\n")
        let text = try String(contentsOf: program.file("Models/model.lock"), encoding: .utf8)
        #expect(text.contains("\nmodel \"../App/Shop.xcdatamodeld\" version \"Shop\" hash "))
    }

    @Test func aFolderThatCannotBeMadeIsNamed() async throws {
        let outcome = try await check("--update", "--lock=Shop.xcdatamodeld/Shop.xcdatamodel/contents/model.lock")
        #expect(outcome.status == 2)
        let other = try await program.run("check", "Shop.xcdatamodeld", "--update", "--lock", "model.lock/x/model.lock")
        #expect(other.status == 2)
        #expect(other.errors.contains("the folder ") && other.errors.contains("model.lock/x cannot be made"))
        #expect(!other.errors.contains("--help"))
    }

    @Test func aRemovedModelIsReportedUntilTheLockIsUpdated() async throws {
        try program.write("Other", Shop.second)
        try FileManager.default.removeItem(at: program.file("Shop.xcdatamodeld"))
        let words = ["check", "Other.xcdatamodeld", "--lock", "model.lock"]
        let outcome = try await program.run(words)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("Shop.xcdatamodeld: gone (version Shop); it is still in the lock file\n"))
        _ = try await program.run(words + ["--update"])
        #expect(try await program.run(words).output == "Other.xcdatamodeld: unchanged (version Other)\n")
    }

    @Test func modelsThatWereNotAskedForStayLocked() async throws {
        try program.write("Other", Shop.second)
        _ = try await program.run("check", "Other.xcdatamodeld", "--lock", "model.lock", "--update")
        #expect(try await check().status == 0)
    }

    @Test func theWorkingDirectoryDoesNotMatter() async throws {
        try FileManager.default.createDirectory(at: program.file("deep"), withIntermediateDirectories: true)
        let paths = [program.file("Shop.xcdatamodeld").path, program.file("model.lock").path]
        #expect(try await program.run("check", paths[0], "--lock", paths[1]).status == 0)
        #expect(try await program.run("check", "deep/../Shop.xcdatamodeld/", "--lock", "./model.lock").status == 0)
    }

    @Test(arguments: ["<<<<<<< HEAD", "=======", ">>>>>>> branch", "||||||| 1234567", "<<<<<<<"])
    func aMergeConflictIsNamedWithItsLine(_ marker: String) async throws {
        try Data((try lockText() + "\(marker)\n").utf8).write(to: program.file("model.lock"))
        let outcome = try await check()
        #expect(outcome.status == 3)
        #expect(
            outcome.errors
                == "model.lock:9: error: Git left a merge conflict here. Resolve it, or replace the file with model-reset "
                + "check --update.\n")
        let json = try await program.json("check", "Shop.xcdatamodeld", "--lock", "model.lock")
        #expect((json["error"] as? [String: Any])?["code"] as? String == "mergeConflict")
        let updated = try await check("--update")
        #expect(updated.status == 0)
        #expect(updated.errors.hasPrefix("model.lock:9: warning: "))
        #expect(try await check().status == 0)
    }

    @Test(arguments: ["what is this", "  renamed entity \"Item\"", "  renamed thing \"Item\" from \"Thing\""])
    func anUnknownLineIsNamed(_ line: String) async throws {
        try Data((try lockText() + "\(line)\n").utf8).write(to: program.file("model.lock"))
        let outcome = try await check()
        #expect(outcome.status == 3)
        #expect(outcome.errors.hasPrefix("model.lock:9: error: This line does not belong in a lock file."))
    }

    @Test func aLockEditedByHandIsNotBelieved() async throws {
        let text = try lockText().replacing("String optional", with: "String required")
        try Data(text.utf8).write(to: program.file("model.lock"))
        let outcome = try await check()
        #expect(outcome.status == 3)
        #expect(outcome.errors.hasPrefix("model.lock:4: error: The hash does not match the lines below it."))
    }

    @Test func otherLineEndsDoNotMatter() async throws {
        try Data(try lockText().replacing("\n", with: "\r\n").utf8).write(to: program.file("model.lock"))
        #expect(try await check().status == 0)
    }

    @Test func aModelThatCannotBeReadIsNoDifference() async throws {
        let outcome = try await program.run("check", "Nowhere.xcdatamodeld", "--lock", "model.lock", "--update")
        #expect(outcome.status == 3)
    }

    @Test(arguments: RefusedModel.allCases)
    func aRuleThatCannotBeReadIsReportedWithItsLine(model: RefusedModel) async throws {
        try model.write(to: program.file("M.xcdatamodeld"))
        let outcome = try await program.run("check", "M.xcdatamodeld", "--lock", "model.lock", "--update")
        #expect(outcome.status == 3)
        #expect(outcome.output.contains("M.xcdatamodeld: cannot be read\n"), "\(outcome.output)")
        let error = "M.xcdatamodeld/M.xcdatamodel/contents:\(RefusedModel.line): error: \(model.message)"
        #expect(outcome.errors.contains(error), "\(outcome.errors)")
    }

    @Test func everyModelIsReportedWhicheverCannotBeRead() async throws {
        try program.write("Broken", "<entity>")
        try program.write("Other", Shop.second)
        try program.write(Shop.second)
        let before = try lockText()
        let models = ["Broken.xcdatamodeld", "Nowhere.xcdatamodeld", "Other.xcdatamodeld", "Shop.xcdatamodeld"]
        for words in [[], ["--update"]] {
            let outcome = try await program.run(["check", "--lock", "model.lock"] + models + words)
            #expect(outcome.status == 3)
            #expect(outcome.output.contains("Broken.xcdatamodeld: cannot be read\n"))
            #expect(outcome.output.contains("Nowhere.xcdatamodeld: cannot be read\n"))
            #expect(outcome.output.contains("Other.xcdatamodeld: new (version Other)"))
            #expect(outcome.output.contains("  Item.price: added (Decimal, optional)\n"))
            #expect(outcome.errors.split(separator: "\n").count == 2)
            #expect(outcome.errors.contains("Broken.xcdatamodel/contents:"))
            #expect(outcome.errors.contains("Nowhere.xcdatamodeld: error: No file or folder has this path."))
        }
        // Nothing is locked that somebody did not see compared.
        #expect(try lockText() == before)
        let json = try await program.json("check", "--lock", "model.lock", "Nowhere.xcdatamodeld", "Shop.xcdatamodeld")
        let found = try #require(json["models"] as? [[String: Any]])
        #expect(found.map { $0["state"] as? String } == ["unreadable", "changed"])
        #expect(((found[0]["error"] as? [String: Any])?["error"] as? [String: Any])?["code"] as? String == "notFound")
    }

    @Test func aModelThatIsNamedTwiceIsReportedOnce() async throws {
        try program.write(Shop.second)
        let outcome = try await check("./Shop.xcdatamodeld")
        #expect(outcome.output.components(separatedBy: "changed (").count == 2)
        #expect(outcome.status == 1)
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
