import Foundation
import TestSupport
import Testing

@Suite struct HashCommandTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    @Test func theHashIsFirst() async throws {
        let path = try program.write(Shop.first)
        let outcome = try await program.run("hash", path)
        #expect(outcome.status == 0)
        #expect(outcome.output == "f96747a6408540dd125fb4bea39aa3e3  Shop, version Shop\n")
        #expect(outcome.errors == "")
    }

    @Test func everyProcessFindsTheSameHash() async throws {
        let models = PackageFiles.root.appending(path: "Models/Contacts.xcdatamodeld").path
        let first = try await program.run("hash", models, "--json")
        #expect(first.status == 0)
        #expect(try await program.run("hash", "--json", models).output == first.output)
    }

    @Test func aVersionIsReadByNameOrAlone() async throws {
        let path = try program.write("Shop", versions: ["Shop": Shop.first, "Shop 2": Shop.second], current: "Shop 2")
        let current = try await program.run("hash", path)
        #expect(current.output.hasSuffix("  Shop, version Shop 2\n"))
        #expect(try await program.run("hash", path, "--version", "Shop 2").output == current.output)
        #expect(try await program.run("hash", "\(path)/Shop 2.xcdatamodel/").output == current.output)
        #expect(try await program.run("hash", path, "--version=Shop").output.hasSuffix("  Shop, version Shop\n"))
    }

    @Test func aBundleWithoutACurrentVersionListsItsVersions() async throws {
        let path = try program.write("Shop", versions: ["Shop": Shop.first, "Shop 2": Shop.second], current: nil)
        let outcome = try await program.run("hash", path)
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("The bundle has: Shop, Shop 2."))
        #expect(try await program.run("hash", path, "--version", "Shop 2").status == 0)
        let unknown = try await program.run("hash", path, "--version", "Shop 3")
        #expect(unknown.status == 3)
        #expect(unknown.errors.contains("There is no version Shop 3. The bundle has: Shop, Shop 2."))
    }

    @Test func aCurrentVersionThatIsNotThereIsAnErrorWhateverIsLeft() async throws {
        let path = try program.write("Shop", versions: ["Shop": Shop.first], current: "Shop 2")
        let outcome = try await program.run("hash", path)
        #expect(outcome.status == 3)
        #expect(outcome.errors.contains("names Shop 2 as the current version, but the bundle has no such version."))
        #expect(try await program.run("hash", path, "--version", "Shop").status == 0)
    }

    @Test func aModelThatCannotBeReadIsNamedWithItsLine() async throws {
        let path = try program.write(
            "<entity name=\"Item\">\n<attribute name=\"x\" attributeType=\"Nothing\"/></entity>")
        let outcome = try await program.run("hash", path)
        #expect(outcome.status == 3)
        #expect(outcome.output == "")
        let sentence = "The attribute x has the unknown type Nothing. Choose one of Integer 16, "
        #expect(outcome.errors.contains("contents:2: error: \(sentence)"))
        let error = try #require(try await program.json("hash", path)["error"] as? [String: Any])
        #expect(error["code"] as? String == "unknownType")
        #expect(error["line"] as? Int == 2)
        #expect(try await program.run("hash", "nowhere.xcdatamodeld").status == 3)
    }

    @Test func anOddFileIsAWarning() async throws {
        let path = try program.write("<entity name=\"Item\"><attribute name=\"x\"/></entity>")
        let outcome = try await program.run("hash", path)
        #expect(outcome.status == 0)
        #expect(outcome.output.split(separator: "\n").count == 1)
        #expect(
            outcome.errors.contains("contents:1: warning: The attribute x has no type, and is treated as transient."))
    }

    @Test func everythingIsCountedPerEntity() async throws {
        let json = try await program.json(
            "hash", PackageFiles.root.appending(path: "Models/Contacts.xcdatamodeld").path)
        let entities = try #require(json["entities"] as? [[String: Any]])
        #expect(entities.map { $0["name"] as? String } == ["BaseEntity", "ContactEntity", "GroupEntity"])
        #expect(entities.map { $0["attributes"] as? Int } == [1, 9, 3])
        #expect(entities.map { $0["uniquenessConstraints"] as? Int } == [0, 1, 1])
        #expect(entities.allSatisfy { ($0["hash"] as? String)?.count == 32 })
        #expect(json["attributes"] as? Int == 13)
        #expect(json["relationships"] as? Int == 2)
    }
}
