import ManagedModel
import ModelReader
import Testing

@Suite struct LinkTests {
    @Test func aChildMayComeBeforeItsParent() throws {
        let model = try readPlainly("<entity name=\"A\" parentEntity=\"B\"/><entity name=\"B\"/>")
        #expect(model.lineage(of: try #require(model.entity(named: "A"))).map(\.name) == ["A", "B"])
    }

    @Test func inversesAreReadInPairs() throws {
        let model = try readPlainly(
            """
            <entity name="A"><relationship name="b" destinationEntity="B" inverseName="a" inverseEntity="B"/></entity>
            <entity name="B"><relationship name="a" destinationEntity="A" inverseName="b" inverseEntity="A"/></entity>
            """)
        #expect(model.entities.flatMap(\.relationships).map(\.inverseName) == ["a", "b"])
    }

    @Test func aRelationshipMayBeItsOwnInverse() throws {
        let model = try readPlainly(
            """
            <entity name="A"><relationship name="friends" toMany="YES" optional="YES" destinationEntity="A" \
            inverseName="friends" inverseEntity="A"/></entity>
            """)
        #expect(model.entities[0].relationships[0].inverseName == "friends")
    }

    @Test(arguments: [
        "inverseName=\"gone\" inverseEntity=\"B\"", "inverseName=\"c\" inverseEntity=\"B\"",
        "inverseName=\"a\" inverseEntity=\"C\"", "inverseEntity=\"B\"", "inverseName=\"gone\"",
    ])
    func anInverseThatLeadsNowhereIsDroppedWithADiagnostic(_ inverse: String) throws {
        let document = try read(
            """
            <entity name="A">
            <relationship name="b" destinationEntity="B" \(inverse)/></entity>
            <entity name="B"><relationship name="a" destinationEntity="A"/>
            <relationship name="c" destinationEntity="C"/></entity>
            <entity name="C"/>
            """)
        #expect(document.model.entity(named: "A")?.relationships.map(\.inverseName) == [nil])
        #expect(document.diagnostics.first?.line == 4)
    }

    @Test func bothHalvesOfAnInverseAreDroppedTogether() throws {
        // `b` is fine by itself, but `a` cannot be its inverse: it points at an ancestor that has no `b`.
        let document = try read(
            """
            <entity name="A" parentEntity="P">
            <relationship name="b" destinationEntity="B" inverseName="a" inverseEntity="B"/></entity>
            <entity name="B"><relationship name="a" destinationEntity="P" inverseName="b" inverseEntity="P"/></entity>
            <entity name="P"/>
            """)
        #expect(document.model.entities.flatMap(\.relationships).map(\.inverseName) == [nil, nil])
        #expect(document.diagnostics.count == 2)
    }

    @Test func anInverseMayBeOfARelativeOfTheDestination() throws {
        let document = try read(
            """
            <entity name="A"><relationship name="b" destinationEntity="B" inverseName="a" inverseEntity="P"/></entity>
            <entity name="B" parentEntity="P"/>
            <entity name="P"><relationship name="a" destinationEntity="A" inverseName="b" inverseEntity="A"/></entity>
            """)
        #expect(document.model.entity(named: "A")?.relationships.map(\.inverseName) == ["a"])
        #expect(document.diagnostics.count == 1)
    }

    @Test func uniquenessAndAMandatoryToOneInverseAreNoted() throws {
        let document = try read(
            """
            <entity name="A"><attribute name="uid" attributeType="String"/>
            <relationship name="bs" toMany="YES" destinationEntity="B" inverseName="a" inverseEntity="B"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="uid"/></uniquenessConstraint>
            </uniquenessConstraints></entity>
            <entity name="B"><relationship name="a" destinationEntity="A" inverseName="bs" inverseEntity="A"/></entity>
            """)
        #expect(document.diagnostics.map(\.line) == [4])
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var elements: String
        var code: ModelReaderError.Code
        var line: Int?

        var testDescription: String { elements }

        init(_ elements: String, _ code: ModelReaderError.Code, line: Int?) {
            self.elements = elements
            self.code = code
            self.line = line
        }
    }

    static let faults: [Fault] = [
        Fault("<entity name=\"A\"/>\n<entity name=\"A\"/>", .duplicateName, line: 4),
        Fault(
            "<entity name=\"A\">\n<attribute name=\"a\" attributeType=\"Date\"/>\n"
                + "<relationship name=\"a\" destinationEntity=\"A\"/></entity>", .duplicateName, line: 5),
        Fault(
            "<entity name=\"A\" parentEntity=\"B\">\n<attribute name=\"a\" attributeType=\"Date\"/></entity>\n"
                + "<entity name=\"B\"><attribute name=\"a\" attributeType=\"Date\"/></entity>", .duplicateName, line: 4),
        Fault(
            "<fetchRequest name=\"f\" entity=\"A\"/><fetchRequest name=\"f\" entity=\"A\"/>", .duplicateName, line: nil),
        Fault("\n<entity name=\"A\" parentEntity=\"X\"/>", .unknownReference, line: 4),
        Fault(
            "<entity name=\"A\" parentEntity=\"B\"/>\n<entity name=\"B\" parentEntity=\"A\"/>", .inheritanceCycle,
            line: 4),
        Fault("<entity name=\"A\" parentEntity=\"A\"/>", .inheritanceCycle, line: 3),
        Fault(
            "<entity name=\"A\">\n<relationship name=\"r\" destinationEntity=\"X\"/></entity>", .unknownReference,
            line: 4),
        Fault(
            "<entity name=\"A\">\n<attribute name=\"c\" attributeType=\"Composite\" composite=\"X\"/></entity>",
            .unknownReference, line: 4),
        Fault(
            "<composite name=\"C\">\n<attribute name=\"c\" attributeType=\"Composite\" composite=\"C\"/></composite>",
            .inheritanceCycle, line: 3),
        Fault(
            "<entity name=\"A\">\n<uniquenessConstraints><uniquenessConstraint><constraint value=\"x\"/>"
                + "</uniquenessConstraint></uniquenessConstraints></entity>", .unknownReference, line: 3),
        Fault("<entity name=\"A\"><attribute name=\"a.b\" attributeType=\"Date\"/></entity>", .invalidName, line: 3),
    ]

    @Test(arguments: faults)
    func aNameThatLeadsNowhereIsAnErrorAtItsLine(_ fault: Fault) throws {
        let error = try errorReading(fault.elements)
        #expect(error.code == fault.code)
        #expect(error.line == fault.line)
    }

    @Test func inheritanceBeyondAllMeasureIsRefusedAtOnce() throws {
        let entities = (0..<10_000).map { "<entity name=\"E\($0)\" parentEntity=\"E\($0 + 1)\"/>" }
        #expect(try errorReading(entities.dropLast().joined() + "<entity name=\"E9999\"/>").code == .tooDeep)
    }
}
