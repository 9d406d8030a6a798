import Foundation
import ModelResetCommands
import TestSupport
import Testing

@Suite struct ConvertCommandTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    @Test func aBundleComesBackWithTheSameHash() async throws {
        let path = try program.write(Shop.withClasses(Shop.first))
        let hash = try await program.run("hash", path).output
        let outcome = try await program.run("convert", path, "--output", "Swift")
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(outcome.output.hasPrefix("wrote Swift: ") && outcome.output.hasSuffix(": the hash is the same\n"))
        #expect(try await program.run("hash", "Swift").output == hash)
        #expect(try await program.run("convert", "Swift", "--output", "Back/Shop.xcdatamodeld").status == 0)
        #expect(try await program.run("hash", "Back/Shop.xcdatamodeld").output == hash)
        #expect(try await program.run("diff", path, "Swift").status == 0)
    }

    @Test func anIndexOfAPartOfACompositeComesBack() async throws {
        try """
        let m = ManagedObjectModel("M") { A.self }
        @StoredEntity(indexes: [FetchIndexDescription(name: "i", elements: [.init(property: "place.city")])])
        class A: ManagedObject { @Stored(.composite) var place: Place? }
        @StoredComposite struct Place { var city: String? }
        """.write(to: program.file("A.swift"), atomically: true, encoding: .utf8)
        for (model, output) in [("A.swift", "M.xcdatamodeld"), ("M.xcdatamodeld", "Back")] {
            let outcome = try await program.run("convert", model, "--output", output)
            #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.errors)")
        }
        let text = try String(contentsOf: program.file("Back/A.swift"), encoding: .utf8)
        #expect(text.contains("property: \"place.city\""))
    }

    /// Classes do not need these arguments, but a bundle that is made of the classes again has the parts.
    @Test func argumentsWithoutEffectComeBackAndAreExplained() async throws {
        let name = "valueTransformerName=\"NSSecureUnarchiveFromData\""
        let bundle = try program.write(
            "Shop",
            """
            <entity name="Item" representedClassName="Item" codeGenerationType="class">
            <attribute name="colour" optional="YES" attributeType="Transformable" customClassName="NSObject" \(name)/>
            <attribute name="title" optional="YES" attributeType="String" allowsCloudEncryption="YES"/></entity>
            """)
        let outcome = try await program.run("convert", bundle, "--output", "Swift")
        #expect(outcome.status == 0)
        #expect(
            outcome.output.hasSuffix(
                """
                written only for the way back to a bundle: transformer of Item.colour, isCloudEncrypted of Item.title; \
                the compiler warns about such an argument until you remove it

                """), "\(outcome.output)")
        let back = try await program.run("convert", "Swift", "--output", "Back/Shop.xcdatamodeld")
        #expect(back.status == 0 && !back.output.contains("transformer"), "\(back.output)")
        let contents = program.file("Back/Shop.xcdatamodeld/Shop.xcdatamodel/contents")
        #expect(try String(contentsOf: contents, encoding: .utf8).contains(name))
        let file = program.file("Swift/Item.swift")
        try String(contentsOf: file, encoding: .utf8)
            .replacing("transformer: \"NSSecureUnarchiveFromData\", ", with: "")
            .replacing("@Stored(isCloudEncrypted: true) ", with: "").write(to: file, atomically: true, encoding: .utf8)
        let hash = try await program.run("hash", "Swift")
        #expect(hash.errors == "")
        #expect(try await program.run("hash", bundle).output == hash.output)
    }

    /// The classes of ConvertedModelTests.
    @Test(arguments: ["AllTypes", "Chat", "Contacts", "Graph", "Mail", "Tasks"])
    func convertWritesTheFixtureClasses(_ name: String) async throws {
        let folder = name == "Contacts" ? "Models" : "Tests/Fixtures"
        let bundle = PackageFiles.root.appending(path: "\(folder)/\(name).xcdatamodeld").path
        #expect(try await program.run("convert", bundle, "--output", name).status == 0)
        let head =
            "// Made by model-reset convert from the model \(name). Change the model, not this file.\n// swift-format-ignore-file\n\n"
        func texts(_ folder: URL, _ head: String) throws -> [String: String] {
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            let texts = try files.map { try head + String(contentsOf: $0, encoding: .utf8) }
            return Dictionary(uniqueKeysWithValues: zip(files.map(\.lastPathComponent), texts))
        }
        let fixture = PackageFiles.tests.appending(path: "ConvertedModelTests/Models/\(name)")
        #expect(try texts(fixture, "") == texts(program.file(name), head))
    }

    @Test func nothingIsOverwritten() async throws {
        let path = try program.write(Shop.first)
        #expect(try await program.run("convert", path, "--output", "Swift").status == 0)
        let again = try await program.run("convert", path, "--output", "Swift")
        #expect(again.status == 2 && again.errors.contains("already exists"))
        #expect(try await program.run("convert", "Swift", "--output", path).status == 2)
    }

    @Test func theDirectionIsThatOfThePaths() async throws {
        let path = try program.write(Shop.first)
        #expect(try await program.run("convert", path, "--output", "B.xcdatamodeld").status == 2)
        #expect(try await program.run("convert", path).status == 2)
        #expect(try await program.run("convert", path, "--output", "Swift").status == 0)
        #expect(try await program.run("convert", "Swift", "--output", "Other").status == 2)
        #expect(try await program.run("hash", "Swift", "--version", "Shop").status == 2)
        #expect(try await program.run("convert", "Nowhere", "--output", "B.xcdatamodeld").status == 3)
    }

    @Test func everyCommandReadsSwift() async throws {
        let path = try program.write(Shop.first)
        #expect(try await program.run("convert", path, "--output", "Swift").status == 0)
        #expect(try await program.run("check", "Swift", "--lock", "model.lock", "--update").status == 0)
        #expect(try await program.run("check", "--lock", "model.lock").output.contains("unchanged"))
        #expect(try await program.run("diagram", "Swift").output.hasPrefix("<svg"))
        #expect(try await program.run("status", "Swift", "--store", "none.sqlite").status == 0)
    }

    @Test func aMistakeHasItsFileAndLine() async throws {
        let folder = program.file("app")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try "let m = ManagedObjectModel(\"M\") { A.self }\n@StoredEntity class A: ManagedObject { var x: Int8 }".write(
            to: folder.appending(component: "A.swift"), atomically: true, encoding: .utf8)
        let outcome = try await program.run("hash", "app")
        #expect(outcome.status == 3)
        #expect(outcome.errors.hasPrefix("app/A.swift:2: error: Int8 cannot be stored."))
    }
}
