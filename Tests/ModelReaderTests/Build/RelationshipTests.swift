import ManagedModel
import ModelReader
import Testing

@Suite struct RelationshipTests {
    @Test func everyAttributeOfARelationshipIsRead() throws {
        let (relationship, diagnostics) = try readRelationship(
            """
            toMany="YES" optional="YES" minCount="2" maxCount="5" ordered="YES" deletionRule="Cascade" \
            inverseName="r" inverseEntity="E" transient="YES" elementID="old" versionHashModifier="1" indexed="YES" \
            syncable="YES"
            """)
        #expect(diagnostics.isEmpty)
        #expect(
            relationship
                == RelationshipDescription(
                    name: "r", destinationName: "E", inverseName: "r", isToMany: true, isOrdered: true,
                    isOptional: true, isTransient: true, minimumCount: 2, maximumCount: 5, deleteRule: .cascade,
                    versionHashModifier: "1", renamingIdentifier: "old"))
    }

    @Test func absentMeansMandatoryToOneNullifyAndNoInverse() throws {
        let (relationship, diagnostics) = try readRelationship("")
        #expect(relationship == RelationshipDescription(name: "r", destinationName: "E"))
        #expect(relationship.maximumCount == 1)
        #expect(diagnostics.isEmpty)
    }

    @Test(arguments: [
        ("Nullify", DeleteRule.nullify), ("Cascade", .cascade), ("Deny", .deny), ("No Action", .noAction),
    ])
    func deleteRulesAreRead(_ word: String, _ rule: DeleteRule) throws {
        #expect(try readRelationship("deletionRule=\"\(word)\"").relationship.deleteRule == rule)
    }

    @Test func aDeleteRuleThatIsNotKnownNullifies() throws {
        let (relationship, diagnostics) = try readRelationship("deletionRule=\"NoAction\"")
        #expect(relationship.deleteRule == .nullify)
        #expect(diagnostics.count == 1)
    }

    @Test func anOptionalRelationshipStaysOptionalWhateverItsMinimum() throws {
        let (relationship, diagnostics) = try readRelationship("optional=\"YES\" minCount=\"1\" maxCount=\"1\"")
        #expect(relationship.isOptional)
        #expect(diagnostics.isEmpty)
    }

    @Test(arguments: ["-1", "0"])
    func noMaximumMeansNoLimit(_ text: String) throws {
        #expect(try readRelationship("toMany=\"YES\" maxCount=\"\(text)\"").relationship.maximumCount == 0)
        #expect(try readRelationship("maxCount=\"\(text)\"").relationship.maximumCount == 1)
    }

    @Test(arguments: ["minCount=\"99999999999999999999\"", "maxCount=\"x\"", "minCount=\"-1\"", "maxCount=\"-2\""])
    func aCountThatIsNoneIsAnError(_ count: String) throws {
        let error = try errorReading(
            "<entity name=\"E\">\n<relationship name=\"r\" destinationEntity=\"E\" toMany=\"YES\" \(count)/></entity>")
        #expect(error.code == .badNumber)
        #expect(error.line == 4)
    }

    @Test(arguments: ["ordered=\"YES\"", "maxCount=\"2\""])
    func attributesOfToManyAreIgnoredOnAToOne(_ attribute: String) throws {
        let (relationship, diagnostics) = try readRelationship(attribute)
        #expect(relationship == RelationshipDescription(name: "r", destinationName: "E"))
        #expect(diagnostics.count == 1)
    }
}
