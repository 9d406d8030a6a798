import Foundation
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// The names of earlier versions, which a bundle has in its versions, and Swift in its argument `earlierVersions:`.
@Suite struct EarlierVersionTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    private static func entity(_ attributes: String...) -> String {
        "<entity name=\"Item\" representedClassName=\"Item\" codeGenerationType=\"class\">"
            + attributes.map { "<attribute \($0) optional=\"YES\" attributeType=\"String\"/>" }.joined() + "</entity>"
    }

    private static let versions = [
        "Shop": entity("name=\"a\""), "Shop 2": entity("name=\"b\" elementID=\"a\""),
        "Shop 3": entity("name=\"c\" elementID=\"b\"", "name=\"b\""),
    ]

    /// Writes the three versions, and a store of the first.
    private func writeVersions() throws -> String {
        try writeStore(Self.versions["Shop"] ?? "")
        return try program.write("Shop", versions: Self.versions, current: "Shop 3")
    }

    private func writeStore(_ entity: String) throws {
        let first = try program.write("Shop", versions: ["Shop": entity], current: "Shop")
        _ = try Store(program.file("shop.sqlite"), model: program.file(first))
    }

    private func migration(of model: String) async throws -> [String: [String]] {
        let json = try await program.json("status", model, "--store", "shop.sqlite")
        let migration = try #require(json["migration"] as? [String: Any])
        return migration.compactMapValues { $0 as? [String] }
    }

    @Test func convertWritesTheNamesOfEarlierVersions() async throws {
        let bundle = try writeVersions()
        let outcome = try await program.run("convert", bundle, "--output", "Swift")
        #expect(outcome.status == 0 && outcome.errors == "")
        let end =
            "\nnot written: Shop, Shop 2, because Swift has one version of a model; the argument earlierVersions has the names that migrations need\n"
        #expect(outcome.output.hasSuffix(end), "\(outcome.output)")
        let text = try String(contentsOf: program.file("Swift/ShopModel.swift"), encoding: .utf8)
        #expect(text.contains("earlierVersions: [") && text.contains("\"c\": \"a\""))
        let expected = try await migration(of: bundle)
        #expect(expected["changes"]?.contains("Item.c: renamed from a") == true && expected["losses"] == [])
        #expect(try await migration(of: "Swift") == expected)
    }

    @Test func convertPromisesNoNamesIfThereAreNone() async throws {
        let versions = Self.versions.filter { $0.key != "Shop 3" }
        let bundle = try program.write("Shop", versions: versions, current: "Shop 2")
        let outcome = try await program.run("convert", bundle, "--output", "Swift")
        let text = try String(contentsOf: program.file("Swift/ShopModel.swift"), encoding: .utf8)
        #expect(!text.contains("earlierVersions"))
        let end = "\nnot written: Shop, because Swift has one version of a model\n"
        #expect(outcome.output.hasSuffix(end), "\(outcome.output)")
    }

    private func write(_ properties: String, _ argument: String = "") throws {
        let folder = program.file("app")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try """
        let shop = ManagedObjectModel("Shop"\(argument)) { Item.self }
        @StoredEntity class Item: ManagedObject { \(properties) }
        """.write(to: folder.appending(component: "Shop.swift"), atomically: true, encoding: .utf8)
    }

    private static let check = ["check", "app", "--lock", "Models/model.lock"]

    /// Records a class with each of the properties, oldest first. Returns the warnings of the last command.
    private func record(_ properties: String...) async throws -> String {
        var warnings = ""
        for property in properties {
            try write(property)
            let outcome = try await program.run(Self.check + ["--update"])
            #expect(outcome.status == 0)
            warnings = outcome.errors
        }
        return warnings
    }

    /// The program does not read the lock file, so the command must not know more than the program.
    @Test func theForecastForSwiftKnowsOnlyItsOwnEarlierVersions() async throws {
        try writeStore(Self.entity("name=\"a\"", "name=\"b\""))
        let renamed = "@Stored(renamedFrom: \"b\") var c: String?"
        // The last version uses a name again: its attribute is not the first one.
        let warnings = try await record("var a: String?; var b: String?", renamed, renamed + "; var a: String?")
        #expect(try await migration(of: "app")["losses"] == [])
        // The command knows what the program lacks.
        let advice = try #require(
            warnings.firstMatch(of: /Pass the earlier names to Shop: (earlierVersions: \[.*\])\n/))
        try write(renamed + "; var a: String?", ", \(advice.1)")
        let losses = try #require(try await migration(of: "app")["losses"])
        #expect(losses.count == 1 && losses.first?.hasPrefix("Item.a: the values") == true, "\(losses)")
        let silent = try await program.run(Self.check)
        #expect(silent.status == 0 && !silent.errors.contains("earlier"), "\(silent.errors)")
    }

    /// In the third version, the previous name is the wrong identifier: a store of the first version has another name.
    @Test(arguments: ["", "; var b: String?"])
    func theFirstNameIsProposedAsTheIdentifier(_ others: String) async throws {
        try writeStore(Self.entity("name=\"a\""))
        let warnings = try await record(
            "var a: String?", "@Stored(renamedFrom: \"a\") var b: String?",
            "@Stored(renamedFrom: \"b\") var c: String?\(others)")
        #expect(warnings.contains("Write renamedFrom: \"a\" for Item.c.\n"), "\(warnings)")
        #expect(!warnings.contains("earlierVersions:"), "\(warnings)")
        let losses = try #require(try await migration(of: "app")["losses"])
        #expect(losses.count == 1 && losses.first?.hasPrefix("Item.a: the values") == true, "\(losses)")
        try write("@Stored(renamedFrom: \"a\") var c: String?\(others)")
        #expect(try await migration(of: "app")["losses"] == [])
        // The identifier has changed in the lock file, too, and no warning says that it was lost.
        let silent = try await program.run(Self.check)
        #expect(silent.status == 0 && silent.errors == "", "\(silent.errors)")
    }
}
