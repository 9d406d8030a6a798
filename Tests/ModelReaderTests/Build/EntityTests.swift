import ManagedModel
import ModelReader
import Testing

@Suite struct EntityTests {
    @Test func everyAttributeOfAnEntityIsRead() throws {
        let document = try read(
            """
            <entity name="E" representedClassName="Module.E" parentEntity="P" isAbstract="YES" syncable="YES" \
            codeGenerationType="category" versionHashModifier="2" elementID="Old" \
            coreSpotlightDisplayNameExpression="name">
            <userInfo><entry key="a.b c" value="d"/><entry key="e" value=""/></userInfo>
            </entity>
            <entity name="P"/>
            """)
        #expect(document.diagnostics.map(\.line) == [3])
        #expect(
            document.model.entity(named: "E")
                == EntityDescription(
                    name: "E", className: "Module.E", parentName: "P", isAbstract: true,
                    userInfo: ["a.b c": "d", "e": ""], versionHashModifier: "2", renamingIdentifier: "Old",
                    codeGeneration: .category))
    }

    @Test(arguments: [
        ("", nil), ("representedClassName=\"\"", nil), ("representedClassName=\"NSManagedObject\"", nil),
        ("representedClassName=\".E\"", ".E"), ("representedClassName=\"E\"", "E"),
        ("representedClassName=\"A.B.E\"", "A.B.E"),
    ])
    func classNamesAreKeptAsTheyAreSpelled(_ attribute: String, _ className: String?) throws {
        #expect(try readPlainly("<entity name=\"E\" \(attribute)/>").entity(named: "E")?.className == className)
    }

    @Test func anEntityMayBeEmptyAndSoMayItsParts() throws {
        let model = try readPlainly(
            """
            <entity name="Empty"/>
            <entity name="Hollow"><userInfo/><uniquenessConstraints/><compoundIndexes/></entity>
            <composite name="Nothing"/>
            """)
        #expect(model.entities.map(\.name) == ["Empty", "Hollow"])
        #expect(model.composites == [CompositeDescription(name: "Nothing", attributes: [])])
    }

    @Test func aModelMayBeEmpty() throws {
        #expect(try readPlainly("").entities.isEmpty)
    }

    @Test func layoutIsNotLookedAt() throws {
        let model = try readPlainly(
            """
            <entity name="E"/>
            <elements><element name="E" positionX="0" width="0" glow="1"><odd/></element></elements>
            """)
        #expect(model.entities.count == 1)
    }

    @Test func attributesOfTheModelAreReadOrIgnored() throws {
        let model = try readPlainly(
            "<entity name=\"E\"/>",
            attributes: """
                userDefinedModelVersionIdentifier="1.0 Beta 4" lastSavedToolsVersion="1" systemVersion="2" name="" \
                minimumToolsVersion="Xcode 4.3" sourceLanguage="Swift" macOSVersion="Automatic" iOSVersion="Automatic" \
                usedWithCloudKit="false" usedWithSwiftData="YES"
                """)
        #expect(model.versionIdentifier == "1.0 Beta 4")
        #expect(try readPlainly("", attributes: "userDefinedModelVersionIdentifier=\"\"").versionIdentifier == "")
    }

    @Test func unknownElementsAreIgnoredWithADiagnostic() throws {
        let document = try read(
            """
            <entity name="E" abstract="YES"><attribute name="a" attributeType="Date" defaultValue="1"/></entity>
            <compositeType name="C"><deep/></compositeType>
            """, attributes: "usedWithTomorrow=\"YES\"")
        #expect(document.model.entity(named: "E")?.isAbstract == false)
        #expect(document.diagnostics.map(\.line) == [2, 3, 3, 4])
    }

    @Test func aFlagThatIsNoneIsIgnoredWithADiagnostic() throws {
        let document = try read("<entity name=\"E\" isAbstract=\"perhaps\" codeGenerationType=\"magic\"/>")
        #expect(document.model.entity(named: "E") == EntityDescription(name: "E"))
        #expect(document.diagnostics.count == 2)
    }

    @Test(arguments: [("YES", true), ("NO", false), ("true", true), ("false", false), ("1", true), ("0", false)])
    func flagsHaveThreeSpellings(_ text: String, _ flag: Bool) throws {
        let model = try readPlainly("<entity name=\"E\" isAbstract=\"\(text)\"/>")
        #expect(model.entity(named: "E")?.isAbstract == flag)
    }

    @Test func constraintsAreReadInTheirGroups() throws {
        let model = try readPlainly(
            """
            <entity name="E">
            <attribute name="a" attributeType="String"/><attribute name="b" attributeType="UUID"/>
            <uniquenessConstraints>
            <uniquenessConstraint><constraint value="a"/></uniquenessConstraint>
            <uniquenessConstraint><constraint value="a"/><constraint value="b"/></uniquenessConstraint>
            </uniquenessConstraints></entity>
            """)
        #expect(model.entity(named: "E")?.uniquenessConstraints == [["a"], ["a", "b"]])
    }

    @Test func anEmptyConstraintIsIgnoredWithADiagnostic() throws {
        let document = try read(
            "<entity name=\"E\"><uniquenessConstraints><uniquenessConstraint/></uniquenessConstraints></entity>")
        #expect(document.model.entity(named: "E")?.uniquenessConstraints == [])
        #expect(document.diagnostics.count == 1)
    }

    @Test(arguments: [
        "<entity/>", "<entity name=\"\"/>", "<entity name=\"E\"><attribute attributeType=\"Date\"/></entity>",
        "<entity name=\"E\"><relationship name=\"r\"/></entity>", "<composite/>", "<configuration/>",
        "<entity name=\"E\"><relationship destinationEntity=\"E\"/></entity>", "<fetchRequest name=\"f\"/>",
        "<entity name=\"E\"><fetchedProperty name=\"f\"/></entity>", "<entity name=\"E\"><fetchIndex/></entity>",
        "<configuration name=\"c\"><memberEntity/></configuration>",
    ])
    func anElementWithoutItsNameIsAnError(_ elements: String) throws {
        #expect(try errorReading(elements).code == .missingName)
    }
}
