import TestSupport
import Testing

/// The lock file has no models, only their shapes; from those, the same is said as from the models.
@Suite struct CheckExplanationTests {
    static let start = """
        <entity name="Base" isAbstract="YES"><attribute name="id" attributeType="UUID"/></entity>
        <entity name="Say &quot;it&quot;" parentEntity="Base">
        <attribute name="text" attributeType="String" derived="YES" derivationExpression="lower:(a.b)" optional="YES"/>
        <relationship name="many" toMany="YES" minCount="1" maxCount="3" destinationEntity="Base" ordered="YES"/>
        <relationship name="one" maxCount="1" destinationEntity="Base" versionHashModifier="m m"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="text"/></uniquenessConstraint>
        </uniquenessConstraints></entity>
        """

    @Test(arguments: [
        ("isAbstract=\"YES\"", ""),
        ("attributeType=\"UUID\"", "attributeType=\"Integer 64\""),
        ("lower:(a.b)", "upper:(a.b)"),
        ("derived=\"YES\" derivationExpression=\"lower:(a.b)\"", ""),
        (" parentEntity=\"Base\"", ""),
        ("maxCount=\"3\"", "maxCount=\"4\""),
        ("ordered=\"YES\"", "versionHashModifier=\"a b\""),
        ("m m", "m"),
        ("<constraint value=\"text\"/>", "<constraint value=\"one\"/><constraint value=\"text\"/>"),
        ("name=\"one\" maxCount=\"1\"", "name=\"one\" toMany=\"YES\""),
        ("Say &quot;it&quot;", "Say"),
    ])
    func itIsThatOfADiff(_ old: String, _ new: String) async throws {
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
        let said = check.output.split(separator: "\n").dropFirst().dropLast().map { $0.dropFirst(2) }
        // Behind the same words a diff says whether rows can be migrated.
        let differences = diff.output.split(separator: "\n").prefix {
            !$0.contains("can be migrated") && !$0.hasPrefix("cannot")
        }
        #expect(said == Array(differences))
        #expect(diff.output.contains(" be migrated"))
    }
}
