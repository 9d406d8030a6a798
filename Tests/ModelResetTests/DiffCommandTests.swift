import TestSupport
import Testing

@Suite struct DiffCommandTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    @Test func modelsWithTheSameTablesDoNotDiffer() async throws {
        let outcome = try await program.run(
            "diff", try program.write("Old", Shop.first), try program.write("New", Shop.firstAgain))
        #expect(outcome.status == 0)
        #expect(outcome.output == "The models have the same persisted shape: no store is reset.\n")
    }

    @Test func whatDiffersIsSaidInWords() async throws {
        let outcome = try await program.run(
            "diff", try program.write("Old", Shop.first), try program.write("New", Shop.second))
        #expect(outcome.status == 1)
        #expect(outcome.output == "Item.name: optional -> required\nItem.price: added\n")
        #expect(outcome.errors == "")
    }

    @Test func versionsOfABundleAreComparedByTheirPaths() async throws {
        let path = try program.write("Shop", versions: ["1": Shop.first, "2": Shop.second], current: "2")
        let outcome = try await program.run("diff", "\(path)/1.xcdatamodel", path)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("Item.name:"))
    }

    @Test func theSameForPrograms() async throws {
        let json = try await program.json(
            "diff", try program.write("Old", Shop.first), try program.write("New", Shop.second))
        #expect(json["differs"] as? Bool == true)
        let changes = try #require(json["changes"] as? [[String: String]])
        #expect(
            changes == [
                ["entity": "Item", "property": "name", "change": "optional -> required"],
                ["entity": "Item", "property": "price", "change": "added"],
            ])
    }

    @Test func anUnreadableModelIsNotADifference() async throws {
        #expect(try await program.run("diff", try program.write(Shop.first), "nowhere").status == 3)
    }
}
