import Foundation
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// A team that has one version, edits it in place, and has users who skip releases.
@Suite struct LockedHistoryTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    private func release(_ attributes: String...) async throws {
        let elements = attributes.map { "<attribute \($0) optional=\"YES\" attributeType=\"String\"/>" }
        try program.write("<entity name=\"Item\">\(elements.joined())</entity>")
        #expect(try await program.run("check", "Shop.xcdatamodeld", "--lock", "model.lock", "--update").status == 0)
    }

    @Test func valuesFollowTheRenamingsOfSkippedReleases() async throws {
        try await release("name=\"name\"")
        let model = program.file("Shop.xcdatamodeld")
        let store = try Store(program.file("shop.sqlite"), model: model)
        try await release("name=\"title\" elementID=\"name\"")
        try await release("name=\"title\"", "name=\"name\"")

        let migrated = try Store.open(store.url, model: model, resetPolicy: .migrate(otherwise: .fail))
        #expect(
            migrated.startup.migration?.changes == [
                "Item.name: added (String, optional)", "Item.title: renamed from name",
            ])
        #expect(migrated.startup.migration?.losses == [])
        migrated.close()

        let output = program.file("Shop.swift")
        let run = try await Subprocess(
            PackageFiles.products.appending(component: "model-codegen").path, [model.path, "--output", output.path])
        #expect(run.status == 0)
        #expect(try String(contentsOf: output, encoding: .utf8).contains("EarlierVersion("))
        try FileManager.default.removeItem(at: program.file("model.lock"))
        _ = try await Subprocess(
            PackageFiles.products.appending(component: "model-codegen").path, [model.path, "--output", output.path])
        #expect(try !String(contentsOf: output, encoding: .utf8).contains("EarlierVersion("))
    }

    @Test func anUpdateAfterAMergeConflictKeepsWhatBothSidesHave() async throws {
        try await release("name=\"name\"")
        let base = try String(contentsOf: program.file("model.lock"), encoding: .utf8)
        try await release("name=\"name\"", "name=\"ours\"")
        let ours = try String(contentsOf: program.file("model.lock"), encoding: .utf8)
        try Data(base.utf8).write(to: program.file("model.lock"))
        try await release("name=\"name\"", "name=\"theirs\"")
        let theirs = try String(contentsOf: program.file("model.lock"), encoding: .utf8)
        try Data("<<<<<<< ours\n\(ours)=======\n\(theirs)>>>>>>> theirs\n".utf8).write(to: program.file("model.lock"))
        try await release("name=\"name\"", "name=\"ours\"", "name=\"theirs\"")
        let merged = try String(contentsOf: program.file("model.lock"), encoding: .utf8)
        let hash = try #require(base.firstMatch(of: /hash ([0-9a-f]{32})/)?.1)
        #expect(merged.components(separatedBy: "\n  earlier ").count == 2)
        #expect(merged.contains("\n  earlier version \"Shop\" hash \(hash)\n"))
    }
}
