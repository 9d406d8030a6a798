import Foundation
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
        #expect(
            outcome.output == """
                The models have the same persisted shape: no store is reset.
                  Item.name: default value none -> "new"

                """)
    }

    /// A lock file is no model. `check --against` compares a model with it, and lists the same differences.
    @Test func aLockFileIsComparedByCheck() async throws {
        let path = try program.write(Shop.first)
        #expect(try await program.run("check", path, "--lock", "old.lock", "--update").status == 0)
        for paths in [["old.lock", path], [path, "old.lock"]] {
            let outcome = try await program.run(["diff"] + paths)
            #expect(outcome.status == 3 && outcome.output == "")
            #expect(outcome.errors.hasPrefix("old.lock: error: These files contain no model."), "\(outcome.errors)")
        }
        let before = try await program.run("check", path, "--lock", "new.lock", "--against", "old.lock")
        #expect(before.status == 0)
        try program.write(Shop.renamed)
        let after = try await program.run("check", path, "--lock", "new.lock", "--against", "old.lock")
        #expect(after.status == 1)
        #expect(after.output.contains("Item.title: added") && after.output.contains("Compared with old.lock."))
    }

    private static func ruled(_ age: String, _ rule: String, _ more: String = "") -> String {
        """
        <entity name="Item"><attribute name="age" optional="YES" attributeType="Integer 16" \(age)/>\(more)
        <relationship name="box" maxCount="1" optional="YES" deletionRule="\(rule)" destinationEntity="Box"/></entity>
        <entity name="Box"/>
        """
    }

    @Test func rulesThatResetNothingAreListedApart() async throws {
        let old = Self.ruled("minValueString=\"0\"", "Nullify")
        let new = Self.ruled("minValueString=\"1\" maxValueString=\"9\" defaultValueString=\"5\"", "Cascade")
        let rules = ["default value none -> 5", "minimum 0 -> 1", "maximum none -> 9"].map { "Item.age: \($0)" }
        let path = try program.write("Old", old)
        let outcome = try await program.run("diff", path, try program.write("New", new))
        #expect(outcome.status == 0)
        let lines = (rules + ["Item.box: delete rule Nullify -> Cascade"]).map { "  \($0)\n" }.joined()
        #expect(outcome.output == "The models have the same persisted shape: no store is reset.\n" + lines)
        let name = "<attribute name=\"name\" optional=\"YES\" attributeType=\"String\" regularExpressionString=\"a+\"/>"
        let more = try await program.run(
            "diff", path, try program.write("More", Self.ruled("minValueString=\"0\"", "Deny", name)))
        #expect(more.status == 1)
        #expect(
            more.output.hasSuffix(
                """
                  no store is reset because of these:
                    Item.box: delete rule Nullify -> Deny

                """), "\(more.output)")
        let json = try await program.json("diff", path, "New.xcdatamodeld")
        #expect(json["rules"] as? [String] == rules + ["Item.box: delete rule Nullify -> Cascade"])
    }

    /// Each kind of rule alone, in the comparison of two models and in the comparison with a lock file.
    @Test(arguments: [
        ("code", "regularExpressionString=\"a+\"", "regularExpressionString=\"b+\"", "pattern \"a+\" -> \"b+\""),
        ("code", "", "regularExpressionString=\"b+\"", "pattern none -> \"b+\""),
        ("age", "minValueString=\"0\"", "minValueString=\"1\"", "minimum 0 -> 1"),
        ("age", "maxValueString=\"8\"", "", "maximum 8 -> none"),
        ("age", "defaultValueString=\"4\"", "defaultValueString=\"5\"", "default value 4 -> 5"),
        ("box", "deletionRule=\"Cascade\"", "deletionRule=\"Deny\"", "delete rule Cascade -> Deny"),
    ])
    func diffAndCheckListEachKindOfChangedRule(
        name: String, old: String, new: String, change: String
    ) async throws {
        func elements(_ rule: String) -> String {
            """
            <entity name="Item">
            <attribute name="code" optional="YES" attributeType="String" \(name == "code" ? rule : "")/>
            <attribute name="age" optional="YES" attributeType="Integer 16" \(name == "age" ? rule : "")/>
            <relationship name="box" maxCount="1" optional="YES" destinationEntity="Box" \(name == "box" ? rule : "")/>
            </entity><entity name="Box"/>
            """
        }
        let words = ["check", try program.write(elements(old)), "--lock", "model.lock"]
        #expect(try await program.run(words + ["--update"]).status == 0)
        let path = try program.write("Old", elements(old))
        let diff = try await program.run("diff", path, try program.write(elements(new)))
        let line = "  Item.\(name): \(change)\n"
        #expect(diff.status == 0)
        #expect(diff.output == "The models have the same persisted shape: no store is reset.\n\(line)")
        let check = try await program.run(words)
        #expect(check.status == 0)
        #expect(
            check.output
                == "Shop.xcdatamodeld: unchanged (version Shop), except for its rules; --update records them\n\(line)")
    }

    @Test func aWarningAboutBothModelsIsPrintedOnce() async throws {
        func text(_ more: String) -> String {
            ["A", "C"].map { name in
                """
                <entity name="\(name)"><attribute name="key" optional="YES" attributeType="String"/>\(more)
                <relationship name="other" maxCount="1" optional="YES" destinationEntity="\(name)B" inverseName="back"/>
                <uniquenessConstraints><uniquenessConstraint><constraint value="key"/></uniquenessConstraint>
                </uniquenessConstraints></entity>
                <entity name="\(name)B">
                <relationship name="back" maxCount="1" destinationEntity="\(name)" inverseName="other"/></entity>
                """
            }.joined()
        }
        let more = "<attribute name=\"more\" optional=\"YES\" attributeType=\"String\"/>"
        let outcome = try await program.run(
            "diff", try program.write("Old", text("")), try program.write("New", text(more)))
        #expect(outcome.errors.components(separatedBy: "Core Data refuses this").count == 2, "\(outcome.errors)")
        #expect(outcome.errors.contains("mandatory: A.other, C.other."))
        #expect(outcome.errors.contains("Make the inverse optional: AB.back, CB.back."))
    }

    @Test func differencesAreDescribedInWords() async throws {
        let outcome = try await program.run(
            "diff", try program.write("Old", Shop.first), try program.write("New", Shop.second))
        #expect(outcome.status == 1)
        #expect(
            outcome.output == """
                Item.name: optional -> required
                Item.price: added (Decimal, optional)
                can be migrated with the policy .migrate, except for a store with one of these problems, which is reset:
                  Item.name: the attribute is required now and has no default value, but some objects have no value. \
                Give the attribute a default value.
                a migration loses nothing

                """)
        #expect(outcome.errors == "")
    }

    @Test func obstaclesOfAMigrationAreListed() async throws {
        let outcome = try await program.run(
            "diff", try program.write("Old", Shop.second), try program.write("New", Shop.cheap))
        #expect(
            outcome.output == """
                Item.price: Decimal -> Double
                cannot be migrated, so stores are reset:
                  Item.price: Decimal -> Double cannot be carried over. Keep the type, or give the new attribute another \
                name.

                """)
        let other = try await program.run(
            "diff", try program.write("Old", Shop.second), try program.write("New", Shop.first))
        #expect(
            other.output == """
                Item.name: required -> optional
                Item.price: removed (Decimal, optional); its values are lost
                can be migrated with the policy .migrate, but these are lost:
                  Item.price: the values (Decimal, optional)

                """)
    }

    @Test func anUnchangedConstraintWithARelationshipIsNoProblem() async throws {
        func text(_ more: String) -> String {
            """
            <entity name="Box">\(more)
            <relationship name="items" toMany="YES" optional="YES" destinationEntity="Item" inverseName="box"/></entity>
            <entity name="Item"><attribute name="code" optional="YES" attributeType="String"/>
            <relationship name="box" maxCount="1" optional="YES" destinationEntity="Box" inverseName="items"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="box"/><constraint value="code"/>
            </uniquenessConstraint></uniquenessConstraints></entity>
            """
        }
        let label = "<attribute name=\"label\" optional=\"YES\" attributeType=\"String\"/>"
        let outcome = try await program.run(
            "diff", try program.write("Old", text("")), try program.write("New", text(label)))
        #expect(
            outcome.output == """
                Box.label: added (String, optional)
                can be migrated with the policy .migrate; nothing is lost

                """)
    }

    /// Whoever mends all obstacles that the first answer names finds no others in the second.
    @Test func allObstaclesAndStatesAreListedAtOnce() async throws {
        let old = """
            <entity name="Item"><attribute name="price" optional="YES" attributeType="Decimal"/>
            <attribute name="name" optional="YES" attributeType="String"/>
            <attribute name="note" optional="YES" attributeType="String"/>
            <relationship name="boxes" toMany="YES" optional="YES" destinationEntity="Box"/></entity>
            <entity name="Box"/><entity name="Crate"/>
            """
        func new(_ price: String, _ boxes: String) -> String {
            """
            <entity name="Item"><attribute name="\(price)" optional="YES" attributeType="Double"/>
            <attribute name="name" attributeType="String"/><attribute name="code" attributeType="String"/>
            <relationship name="\(boxes)" maxCount="1" optional="YES" destinationEntity="Crate"/></entity>
            <entity name="Box"/><entity name="Crate"/>
            """
        }
        let path = try program.write("Old", old)
        let states = [
            "Item.name: the attribute is required now and has no default value, but some objects have no value. Give the "
                + "attribute a default value.",
            "Item.code: the attribute is new and required, and has no default value for the existing objects. Give the "
                + "attribute a default value, or make the attribute optional.",
        ].map { "  \($0)\n" }.joined()
        let first = try await program.run("diff", path, try program.write("New", new("price", "boxes")))
        #expect(
            first.output.hasSuffix(
                """
                cannot be migrated, so stores are reset:
                  Item.price: Decimal -> Double cannot be carried over. Keep the type, or give the new attribute another name.
                  Item.boxes: to-many -> to-one cannot be carried over. Keep to-many, or give the new relationship another name.
                  Item.boxes: destination Box -> Crate cannot be carried over. Give the new relationship another name.
                after these are mended, a store with one of these problems is still reset:
                \(states)
                """), "\(first.output)")
        let second = try await program.run("diff", path, try program.write("Mended", new("cost", "crate")))
        #expect(
            second.output.hasSuffix(
                """
                can be migrated with the policy .migrate, except for a store with one of these problems, which is reset:
                \(states)a migration loses these:
                  Item.boxes: the links (to-many Box, optional)
                  Item.note: the values (String, optional)
                  Item.price: the values (Decimal, optional)

                """), "\(second.output)")
    }

    @Test func renamesMovesAndLossesAreListedWithTheirTypes() async throws {
        let old = """
            <entity name="Item"><attribute name="code" attributeType="Integer 32"/>
            <relationship name="box" maxCount="1" optional="YES" destinationEntity="Box" inverseName="items"/></entity>
            <entity name="Box"><attribute name="label" attributeType="String"/>
            <relationship name="items" toMany="YES" optional="YES" destinationEntity="Item" inverseName="box"/></entity>
            <entity name="Note"/><entity name="Thing" isAbstract="YES"/>
            <entity name="Disc" parentEntity="Thing"><attribute name="length" attributeType="Double"/></entity>
            <entity name="Film" parentEntity="Thing"><attribute name="length" attributeType="Double"/></entity>
            """
        let new = """
            <entity name="Item"><attribute name="number" elementID="code" attributeType="Integer 64"/></entity>
            <entity name="Crate" elementID="Box"><attribute name="label" attributeType="String"/></entity>
            <entity name="Thing" isAbstract="YES"><attribute name="length" attributeType="Double"/></entity>
            <entity name="Disc" parentEntity="Thing"/><entity name="Film" parentEntity="Thing"/>
            """
        let path = try program.write("Shop", versions: ["1": old, "2": new], current: "2")
        let outcome = try await program.run("diff", path, "1", "2")
        #expect(
            outcome.output == """
                Crate: renamed from Box
                Crate.items: removed (to-many Item, optional); its links are lost
                Disc.length: moved to Thing.length
                Film.length: moved to Thing.length
                Item.box: removed (to-one Crate, optional); its links are lost
                Item.number: renamed from code
                Item.number: Integer 32 -> Integer 64
                Note: removed; its objects are lost
                Thing.length: added (Double, required)
                can be migrated with the policy .migrate, but these are lost:
                  Crate.items: the links (to-many Item, optional)
                  Note: the objects

                """)
    }

    @Test func versionsOfABundleAreComparedByTheirPathsOrNames() async throws {
        let path = try program.write("Shop", versions: ["1": Shop.first, "2": Shop.second], current: "2")
        let outcome = try await program.run("diff", "\(path)/1.xcdatamodel", path)
        #expect(outcome.status == 1)
        #expect(outcome.output.hasPrefix("Item.name:"))
        for names in [["1", "2"], ["1.xcdatamodel", "2.xcdatamodel"]] {
            #expect(try await program.run(["diff", path] + names).output == outcome.output)
        }
        #expect(try await program.run("diff", path, "2", "2").status == 0)
        let unknown = try await program.run("diff", path, "1", "3")
        #expect(unknown.status == 3)
        #expect(unknown.errors.contains("There is no version 3. The bundle has: 1, 2."))
    }

    @Test func theJSONSaysTheSame() async throws {
        let json = try await program.json(
            "diff", try program.write("Old", Shop.first), try program.write("New", Shop.second))
        #expect(json["differs"] as? Bool == true)
        let changes = try #require(json["changes"] as? [[String: String]])
        #expect(
            changes == [
                ["entity": "Item", "property": "name", "change": "optional -> required"],
                ["entity": "Item", "property": "price", "change": "added (Decimal, optional)"],
            ])
        let migration = try #require(json["migration"] as? [String: Any])
        #expect(migration["possible"] as? Bool == true)
        #expect((migration["conditions"] as? [String])?.count == 1)
        #expect(migration["obstacles"] as? [String] == [])
        #expect(migration["verdict"] as? String == "migrated" && migration["losses"] as? [String] == [])
    }

    @Test func anUnreadableModelIsNotADifference() async throws {
        #expect(try await program.run("diff", try program.write(Shop.first), "nowhere").status == 3)
    }
}
