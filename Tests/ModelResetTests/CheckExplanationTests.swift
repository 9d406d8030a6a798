import Foundation
import ManagedModel
import ModelReader
import TestSupport
import Testing

/// The lock file has no models, only their shapes; from those, the same is said as from the models.
@Suite struct CheckExplanationTests {
    static let start = """
        <entity name="Base" isAbstract="YES"><attribute name="id" attributeType="UUID"/></entity>
        <entity name="Say &quot;it&quot;" parentEntity="Base">
        <attribute name="text" attributeType="String" derived="YES" derivationExpression="lowercase:(word)" optional="YES"/>
        <relationship name="many" toMany="YES" minCount="1" maxCount="3" destinationEntity="Base" ordered="YES"/>
        <relationship name="one" maxCount="1" destinationEntity="Base" versionHashModifier="m m"/>
        <attribute name="word" attributeType="String"/><attribute name="size" attributeType="Integer 64"/><attribute name="title" elementID="label" attributeType="String"/>
        <attribute name="home" attributeType="Composite" composite="Place" optional="YES" elementID="address"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="text"/></uniquenessConstraint>
        </uniquenessConstraints></entity><entity name="Note" elementID="Memo"/>
        <composite name="Place"><attribute name="town" attributeType="String"/>
        <attribute name="zip" attributeType="Integer 16" elementID="code"/></composite>
        """

    /// As an earlier release wrote it.
    @Test func anotherFormOfUnicodeIsNamed() async throws {
        let entity =
            "<entity name=\"Caf\u{e9}\"><attribute name=\"x\" optional=\"YES\" attributeType=\"String\"/></entity>"
        let program = try Program()
        try program.write(entity)
        _ = try await program.run("check", "Shop.xcdatamodeld", "--lock", "model.lock", "--update")
        var model = try ModelReader.read(program.file("Shop.xcdatamodeld")).model
        let lock = try String(contentsOf: program.file("model.lock"), encoding: .utf8)
        let hash = model.hash.description
        model.entities[0].name = "Cafe\u{301}"
        let old = lock.replacing("Caf\u{e9}", with: "Cafe\u{301}").replacing(hash, with: model.hash.description)
        try Data(old.utf8).write(to: program.file("model.lock"))
        let outcome = try await program.run("check", "--lock", "model.lock")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("  The names are the same in another form of Unicode. This release reads"))
        try program.write(entity.decomposedStringWithCanonicalMapping)
        _ = try await program.run("check", "--lock", "model.lock", "--update")
        try program.write(entity)
        #expect(try await program.run("check", "--lock", "model.lock").status == 0)
    }

    @Test(arguments: [
        ("isAbstract=\"YES\"", ""),
        ("attributeType=\"UUID\"", "attributeType=\"Integer 64\""),
        ("lowercase:(word)", "uppercase:(word)"),
        ("derived=\"YES\" derivationExpression=\"lowercase:(word)\"", ""),
        (" parentEntity=\"Base\"", ""),
        ("maxCount=\"3\"", "maxCount=\"4\""),
        ("ordered=\"YES\"", "versionHashModifier=\"a b\""),
        ("m m", "m"),
        ("<constraint value=\"text\"/>", "<constraint value=\"one\"/><constraint value=\"text\"/>"),
        ("name=\"one\" maxCount=\"1\"", "name=\"one\" toMany=\"YES\""),
        ("Say &quot;it&quot;", "Say"),
        ("name=\"size\" attributeType=\"Integer 64\"", "name=\"size\" attributeType=\"Double\""),
        ("name=\"size\" attributeType=\"Integer 64\"", "name=\"size\" attributeType=\"Integer 32\""),
        ("name=\"size\" attributeType", "name=\"length\" elementID=\"size\" attributeType"),
        ("name=\"title\" elementID=\"label\"", "name=\"heading\" elementID=\"label\""),
        ("<entity name=\"Note\" elementID=\"Memo\"/>", "<entity name=\"Card\" elementID=\"Memo\"/>"),
        ("<entity name=\"Note\" elementID=\"Memo\"/>", ""),
        ("name=\"home\"", "name=\"house\""),
        ("name=\"town\"", "name=\"city\" elementID=\"town\""),
        ("name=\"zip\" attributeType=\"Integer 16\"", "name=\"zipCode\" attributeType=\"Integer 32\""),
        ("attributeType=\"Composite\" composite=\"Place\"", "attributeType=\"String\""),
        ("<attribute name=\"id\"", "<attribute name=\"extra\" attributeType=\"Date\"/><attribute name=\"id\""),
        (
            "<attribute name=\"id\"",
            "<attribute name=\"extra\" attributeType=\"String\" defaultValueString=\"x\"/><attribute name=\"id\""
        ),
    ])
    func checkAndDiffListTheSameChanges(_ old: String, _ new: String) async throws {
        let program = try Program()
        try program.write("Old", Self.start)
        try program.write(Self.start)
        let words = ["check", "Shop.xcdatamodeld", "--lock", "model.lock"]
        #expect(try await program.run(words + ["--update"]).status == 0)
        #expect(try await program.run(words).status == 0)
        try program.write(Self.start.replacing(old, with: new))
        let check = try await program.run(words)
        let diff = try await program.run("diff", "Old.xcdatamodeld", "Shop.xcdatamodeld")
        #expect(check.status == 1)
        #expect(diff.status == 1)
        // The same changes, and the same verdict.
        let said = check.output.split(separator: "\n").dropFirst().dropLast().map { String($0.dropFirst(2)) }
        #expect(said == diff.output.split(separator: "\n").map(String.init))
        #expect(said.contains { $0.hasPrefix("can be migrated") || $0.hasPrefix("cannot be migrated") })
    }
}
