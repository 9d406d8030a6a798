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
        #expect(
            outcome.output == """
                Item.name: optional -> required
                Item.price: added
                can be migrated, but not a store in which this is so:
                  Item.name: it is required now, has no default value, and objects are without a value. Give it a \
                default value.

                """)
        #expect(outcome.errors == "")
    }

    @Test func whyNothingCanBeMigratedIsSaid() async throws {
        let outcome = try await program.run(
            "diff", try program.write("Old", Shop.second), try program.write("New", Shop.cheap))
        #expect(
            outcome.output == """
                Item.price: Decimal -> Double
                cannot be migrated:
                  Item.price: Decimal -> Double cannot be carried over. Keep the type, or give the new attribute another \
                name.

                """)
        let other = try await program.run(
            "diff", try program.write("Old", Shop.second), try program.write("New", Shop.first))
        #expect(other.output.hasSuffix("\ncan be migrated\n"))
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
        let migration = try #require(json["migration"] as? [String: Any])
        #expect(migration["possible"] as? Bool == true)
        #expect((migration["conditions"] as? [String])?.count == 1)
        #expect(migration["obstacles"] as? [String] == [])
    }

    @Test func anUnreadableModelIsNotADifference() async throws {
        #expect(try await program.run("diff", try program.write(Shop.first), "nowhere").status == 3)
    }
}
