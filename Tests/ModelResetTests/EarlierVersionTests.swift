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
        let first = try program.write("Shop", versions: ["Shop": Self.versions["Shop"] ?? ""], current: "Shop")
        _ = try Store(program.file("shop.sqlite"), model: program.file(first))
        return try program.write("Shop", versions: Self.versions, current: "Shop 3")
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

    /// The program does not read the lock file, so the command must not know more than the program.
    @Test func theForecastForSwiftKnowsOnlyItsOwnEarlierVersions() async throws {
        _ = try writeVersions()
        let check = ["check", "app", "--lock", "Models/model.lock"]
        try write("var a: String?")
        #expect(try await program.run(check + ["--update"]).status == 0)
        try write("@Stored(renamedFrom: \"a\") var b: String?")
        #expect(try await program.run(check + ["--update"]).status == 0)
        let properties = "@Stored(renamedFrom: \"b\") var c: String?; var b: String?"
        try write(properties)
        let warned = try await program.run(check + ["--update"])
        let losses = try #require(try await migration(of: "app")["losses"])
        #expect(losses.count == 1 && losses.first?.hasPrefix("Item.a: the values") == true, "\(losses)")
        // The command knows what the program lacks.
        let advice = try #require(
            warned.errors.firstMatch(of: /Pass the earlier names to Shop: (earlierVersions: \[.*\])\n/))
        try write(properties, ", \(advice.1)")
        #expect(try await migration(of: "app")["losses"] == [])
        let silent = try await program.run(check)
        #expect(silent.status == 0 && !silent.errors.contains("earlier"), "\(silent.errors)")
    }
}
