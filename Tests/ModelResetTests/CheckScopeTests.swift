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

    @Test func againstReadsALockFileFromAnyPath() async throws {
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

    // MARK: Warnings that fail

    private func strict(_ words: String...) async throws -> Subprocess {
        try await program.run(["check", "--lock", "model.lock", "--strict"] + words)
    }

    @Test func warningsOfTheReaderFailWithStrict() async throws {
        #expect(try await strict().status == 0)
        try program.write(Shop.first.replacing("<entity ", with: "<entity colour=\"red\" "))
        #expect(try await program.run("check", "--lock", "model.lock").status == 0)
        let outcome = try await strict()
        #expect(outcome.status == 1)
        #expect(outcome.output.hasSuffix("The warnings are errors, because of --strict.\n"))
        #expect(outcome.errors.contains("The attribute colour of <entity> is unknown, and is ignored."))
    }

    /// Who skips the release with the identifier would lose the values.
    @Test func aRenamingIdentifierThatIsGoneFails() async throws {
        let string = "optional=\"YES\" attributeType=\"String\""
        func item(_ attribute: String) -> String {
            "<entity name=\"Item\"><attribute \(attribute) \(string)/></entity>"
        }
        try program.write(item("name=\"title\" elementID=\"name\""))
        _ = try await program.run("check", "--lock", "model.lock", "--update")
        let before = try Data(contentsOf: program.file("model.lock"))
        try program.write(item("name=\"title\""))
        let lenient = try await program.run("check", "--lock", "model.lock")
        #expect(lenient.status == 0)
        #expect(
            lenient.errors.hasPrefix(
                "Shop.xcdatamodeld: warning: Item.title (from name) has lost its renaming identifier"))
        #expect(try await strict().status == 1)
        let update = try await strict("--update")
        #expect(update.status == 1 && update.output.contains("model.lock was not written.\n"))
        #expect(try Data(contentsOf: program.file("model.lock")) == before)
        // What is gone has no values to lose.
        try program.write(item("name=\"other\""))
        #expect(try await program.run("check", "--lock", "model.lock").errors == "")
    }

    @Test func anotherTypeOfATransformableIsAWarning() async throws {
        func item(_ type: String) -> String {
            "<entity name=\"Item\"><attribute name=\"tags\" optional=\"YES\" attributeType=\"Transformable\" "
                + "customClassName=\"\(type)\"/></entity>"
        }
        try program.write(item("[String]"))
        _ = try await program.run("check", "--lock", "model.lock", "--update")
        #expect(try await strict().status == 0)
        try program.write(item("[Int]"))
        let outcome = try await program.run("check", "--lock", "model.lock")
        #expect(outcome.status == 0)
        #expect(
            outcome.output
                == "Shop.xcdatamodeld: unchanged (version Shop), except for its types of transformables; --update records them\n"
        )
        #expect(outcome.errors.hasPrefix("Shop.xcdatamodeld: warning: Item.tags: [String] -> [Int] resets no store"))
        #expect(try await strict().status == 1)
    }

    // MARK: Merge conflicts

    /// Two branches have changed one model, and each has added another.
    @Test func bothSidesOfAMergeConflictAreCompared() async throws {
        func lock(_ entities: String, _ other: String) async throws -> String {
            try program.write(entities)
            try program.write(other, Shop.first)
            _ = try await program.run("check", "--lock", "model.lock", "--update")
            let text = try String(contentsOf: program.file("model.lock"), encoding: .utf8)
            try FileManager.default.removeItem(at: program.file("\(other).xcdatamodeld"))
            return text
        }
        let (ours, theirs) = (try await lock(Shop.second, "Mine"), try await lock(Shop.third, "Yours"))
        try program.write("Mine", Shop.first)
        try program.write("Yours", Shop.first)
        try Data("<<<<<<< HEAD\n\(ours)=======\n\(theirs)>>>>>>> feature\n".utf8).write(to: program.file("model.lock"))
        let outcome = try await program.run("check", "Mine.xcdatamodeld", "--lock", "model.lock")
        #expect(outcome.status == 3)
        #expect(outcome.errors.hasPrefix("model.lock:1: error: Git left a merge conflict here."))
        #expect(
            outcome.output == """
                Compared with HEAD:
                Mine.xcdatamodeld: unchanged (version Mine)
                Shop.xcdatamodeld: changed (version Shop); stores made before are reset, unless they are migrated:
                  Item.name: required -> optional
                  Item.price: optional -> required
                  can be migrated with the policy .migrate, except for a store with one of these problems, which is reset:
                    Item.price: the attribute is required now and has no default value, but some objects have no value. \
                Give the attribute a default value.
                  a migration loses nothing
                Compared with feature:
                Mine.xcdatamodeld: new (version Mine); it is not in the lock file
                Shop.xcdatamodeld: unchanged (version Shop)
                If the changes are intended, run the same command with --update, and commit model.lock.

                """)
        let json = try await program.json("check", "Mine.xcdatamodeld", "--lock", "model.lock")
        #expect((json["error"] as? [String: Any])?["code"] as? String == "mergeConflict")
        // One bundle is named, and everything else stays, or is locked anew where the sides differ.
        let update = try await program.run("check", "Mine.xcdatamodeld", "--lock", "model.lock", "--update")
        #expect(update.status == 0)
        let check = try await program.run("check", "--lock", "model.lock")
        #expect(check.status == 0)
        for name in ["Mine", "Shop", "Yours"] { #expect(check.output.contains("\(name).xcdatamodeld: unchanged ")) }
    }
}
