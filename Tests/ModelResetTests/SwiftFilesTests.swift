import Foundation
import TestSupport
import Testing

/// A model in several files or folders.
@Suite struct SwiftFilesTests {
    private let program: Program

    init() throws {
        program = try Program()
        try write("one/M.swift", "let model = ManagedObjectModel(\"M\") { A.self }\n")
        try write("two/A.swift", "@StoredEntity class A: ManagedObject { var x: Int? }\n")
    }

    private func write(_ name: String, _ text: String) throws {
        let url = program.file(name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: url, atomically: true, encoding: .utf8)
    }

    @Test func everyCommandTakesTheFilesOfOneModel() async throws {
        let files = ["one/M.swift", "two/A.swift"]
        for words in [
            ["hash"] + files, ["diagram"] + files, ["check"] + files + ["--lock", "model.lock", "--update"],
            ["status"] + files + ["--store", "none.sqlite"], ["convert"] + files + ["--output", "M.xcdatamodeld"],
            ["diff", files.joined(separator: ","), "M.xcdatamodeld"], ["lock"] + files + ["--lock", "other.lock"],
        ] {
            let outcome = try await program.run(words)
            #expect(outcome.status == 0 && outcome.errors == "", "\(words): \(outcome.errors)")
        }
    }

    @Test func everyCommandTakesFoldersWithCommas() async throws {
        for words in [
            ["hash", "one,two"], ["diagram", "one,two"], ["check", "one,two", "--lock", "model.lock", "--update"],
            ["status", "one,two", "--store", "none.sqlite"], ["convert", "one,two", "--output", "M.xcdatamodeld"],
            ["diff", "one,two", "M.xcdatamodeld"], ["lock", "one,two", "--lock", "other.lock"],
        ] {
            let outcome = try await program.run(words)
            #expect(outcome.status == 0 && outcome.errors == "", "\(words): \(outcome.errors)")
        }
        let missing = try await program.run("hash", "one,three")
        #expect(missing.status == 3 && missing.errors.hasPrefix("three: error: No file or folder has this path."))
    }

    /// The command does not run the classes, but knows which of their attributes get a value in a migration.
    @Test func initialValuesThatAreEvaluatedCountInTheForecast() async throws {
        try write(
            "new/M.swift",
            """
            let model = ManagedObjectModel("M") { A.self }
            struct Tag: Codable { var name = "" }
            @StoredComposite struct Place {
                var name: String = Place.home
                var code: UUID = UUID()
            }
            @StoredEntity class A: ManagedObject {
                var x: Int?
                @Stored(.codable) var tags: [Tag] = []
                var createdAt: Date = Date()
                @Stored(.composite) var place: Place
                var kind: String
            }
            """)
        let outcome = try await program.run("diff", "one,two", "new")
        let expected = """
            A.createdAt: added (Date, required)
            A.kind: added (String, required)
            A.place.code: added (UUID, required)
            A.place.name: added (String, required)
            A.tags: added (Transformable, required)
            can be migrated with the policy .migrate, except for a store with one of these problems, which is reset:
              A.place.code: the attribute is new and required, but its initial value is another value in each new object, \
            so the existing objects cannot all get one value. Make the attribute optional, or give it a literal as its \
            default value.
              A.kind: the attribute is new and required, and has no default value for the existing objects. Give the \
            attribute a default value, or make the attribute optional.
            a migration loses nothing

            """
        #expect(outcome.output == expected, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.status == 1)
    }

    /// The lock file keeps the paths in one order.
    @Test func aModelOfSeveralFilesIsComparedWithTheLockFile() async throws {
        #expect(try await program.run("lock", "two/A.swift", "one/M.swift", "--lock", "model.lock").status == 0)
        let same = try await program.run("check", "one/M.swift", "two/A.swift", "--lock", "model.lock")
        #expect(same.status == 0 && same.output.contains("one/M.swift,two/A.swift: unchanged"), "\(same.output)")
        let all = try await program.run("check", "--lock", "model.lock")
        #expect(all.status == 0 && all.output.contains("one/M.swift,two/A.swift: unchanged"), "\(all.output)")
        try write("two/A.swift", "@StoredEntity class A: ManagedObject { var y: Int? }\n")
        #expect(try await program.run("check", "--lock", "model.lock").status == 1)
        // A model that lost a file is not gone.
        try FileManager.default.removeItem(at: program.file("two/A.swift"))
        let incomplete = try await program.run("check", "--lock", "model.lock")
        #expect(incomplete.status == 3 && incomplete.errors.contains("two/A.swift: error: No file or folder"))
    }

    /// The lock file has no sources, only the shapes of the models. `check` says the same as `diff` says about the sources, also
    /// about an older lock file, such as that of a release.
    @Test(arguments: [
        (
            "x: Int?", "y: Int?",
            [
                "A.x: removed (Integer 64, optional); its values are lost", "A.y: added (Integer 64, optional)",
                "can be migrated with the policy .migrate, but these are lost:",
                "  A.x: the values (Integer 64, optional)",
            ]
        ),
        (
            "var x: Int?", "@Stored(renamedFrom: \"x\") var y: Int?",
            ["A.y: renamed from x", "can be migrated with the policy .migrate; nothing is lost"]
        ),
        (
            "var x: Int?", "@Stored(.codable) var x: [Int]?",
            [
                "A.x: Integer 64 -> Transformable", "cannot be migrated, so stores are reset:",
                "  A.x: Integer 64 -> Transformable cannot be carried over. Keep the type, or give the new attribute another name.",
            ]
        ),
    ])
    func checkExplainsTheChangesOfAModelInSwift(_ old: String, _ new: String, _ said: [String]) async throws {
        let entity = "@StoredEntity class A: ManagedObject {\n@Stored(unique: true) var uid: String\nvar x: Int?\n}\n"
        try write("two/A.swift", entity)
        try write("old/A.swift", "let model = ManagedObjectModel(\"M\") { A.self }\n" + entity)
        #expect(try await program.run("lock", "one,two", "--lock", "model.lock").status == 0)
        try FileManager.default.copyItem(at: program.file("model.lock"), to: program.file("release.lock"))
        try write("two/A.swift", entity.replacing(old, with: new))
        let check = try await program.run("check", "one,two", "--lock", "model.lock")
        let diff = try await program.run("diff", "old", "one,two")
        #expect(check.status == 1 && diff.status == 1 && check.errors == "" && diff.errors == "")
        let lines = check.output.split(separator: "\n").dropFirst().dropLast().map { String($0.dropFirst(2)) }
        #expect(lines == said)
        #expect(diff.output.split(separator: "\n").map(String.init) == said)
        // Another version comes between the release and the sources.
        try write("two/A.swift", entity.replacing(old, with: "\(old)\nvar between: Int?"))
        #expect(try await program.run("check", "one,two", "--lock", "model.lock", "--update").status == 0)
        try write("two/A.swift", entity.replacing(old, with: new))
        let words = ["check", "one,two", "--lock", "model.lock", "--against", "release.lock"]
        let release = try await program.run(words)
        #expect(release.status == 1 && release.errors == "")
        #expect(
            release.output == check.output.split(separator: "\n").dropLast().joined(separator: "\n")
                + "\nCompared with release.lock.\n")
        let current = try await program.run("check", "one,two", "--lock", "model.lock")
        #expect(current.output.contains("A.between: removed"))
    }

    @Test func aCommaInAPathDividesNothing() async throws {
        try write(
            "a,b/M.swift",
            "let m = ManagedObjectModel(\"M\") { A.self }\n@StoredEntity class A: ManagedObject { var x: Int }")
        #expect(try await program.run("hash", "a,b").status == 0)
        #expect(try await program.run("lock", "a,b", "--lock", "model.lock").status == 0)
        #expect(try await program.run("check", "--lock", "model.lock").output.contains("a,b: unchanged"))
    }

    @Test func diffSaysHowItTakesFiles() async throws {
        let outcome = try await program.run("diff", "one/M.swift", "two/A.swift", "three/M.swift")
        #expect(
            outcome.status == 2 && outcome.errors.contains("with commas between them, as in Model.swift,Item.swift"))
    }
}
