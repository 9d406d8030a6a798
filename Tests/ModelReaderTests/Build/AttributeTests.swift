import ManagedModel
import ModelReader
import Testing

@Suite struct AttributeTests {
    @Test func everyAttributeOfAnAttributeIsRead() throws {
        let (attribute, diagnostics) = try readAttribute(
            """
            attributeType="Transformable" optional="YES" valueTransformerName="NSSecureUnarchiveFromData" \
            customClassName="[Int64]" indexed="YES" preserveAfterDeletion="YES" allowsCloudEncryption="YES" \
            spotlightIndexingEnabled="YES" storedInTruthFile="YES" elementID="old" versionHashModifier="x" syncable="YES"
            """)
        #expect(diagnostics.count == 5)
        #expect(
            attribute
                == AttributeDescription(
                    name: "a", type: .transformable, isOptional: true,
                    valueTransformerName: "NSSecureUnarchiveFromData", customClassName: "[Int64]", isIndexed: true,
                    preservesValueInHistoryOnDeletion: true, allowsCloudEncryption: true, isIndexedBySpotlight: true,
                    versionHashModifier: "x", renamingIdentifier: "old"))
    }

    @Test(arguments: AttributeType.allCases.filter { $0 != .undefined && $0 != .composite })
    func everyTypeIsRead(_ type: AttributeType) throws {
        let (attribute, diagnostics) = try readAttribute("attributeType=\"\(type.rawValue)\"")
        #expect(attribute == AttributeDescription(name: "a", type: type))
        #expect(diagnostics.isEmpty)
    }

    @Test func scalarAndExternalStorageAreRead() throws {
        #expect(try readAttribute("attributeType=\"Date\" usesScalarValueType=\"YES\"").attribute.usesScalarValueType)
        #expect(!(try readAttribute("attributeType=\"Date\" usesScalarValueType=\"NO\"").attribute.usesScalarValueType))
        let binary = try readAttribute("attributeType=\"Binary\" allowsExternalBinaryDataStorage=\"YES\"").attribute
        #expect(binary.allowsExternalBinaryDataStorage)
    }

    @Test func aTransientAttributeNeedsNoType() throws {
        let (attribute, diagnostics) = try readAttribute("optional=\"YES\" transient=\"YES\"")
        #expect(attribute == AttributeDescription(name: "a", type: .undefined, isOptional: true, isTransient: true))
        #expect(diagnostics.isEmpty)
    }

    @Test func anAttributeWithoutATypeIsTakenAsTransient() throws {
        let (attribute, diagnostics) = try readAttribute("optional=\"YES\"")
        #expect(attribute.isTransient)
        #expect(diagnostics.count == 1)
    }

    private static let types = """
        Integer 16, Integer 32, Integer 64, Decimal, Double, Float, String, Boolean, Date, Binary, UUID, URI, \
        Transformable, Composite
        """

    @Test func aTypeThatIsNotKnownIsAnError() throws {
        let error = try errorReading(
            "<entity name=\"E\"><attribute name=\"a\" attributeType=\"Integer 128\"/></entity>")
        #expect(error.code == .unknownType)
        #expect(error.line == 3)
        #expect(error.message.hasSuffix("Choose one of \(Self.types)."))
    }

    @Test func anEmptyTransformerNameIsTheDefaultTransformer() throws {
        let (attribute, diagnostics) = try readAttribute("attributeType=\"Transformable\" valueTransformerName=\"\"")
        #expect(attribute.valueTransformerName == nil)
        #expect(diagnostics.isEmpty)
    }

    @Test func aDerivationIsRead() throws {
        let attribute = try readAttribute(
            "attributeType=\"Date\" derived=\"YES\" derivationExpression=\"now()\""
        ).attribute
        #expect(attribute.derivationExpression == "now()")
    }

    @Test(arguments: ["derived=\"YES\"", "derivationExpression=\"now()\""])
    func halfADerivationIsIgnoredWithADiagnostic(_ half: String) throws {
        let (attribute, diagnostics) = try readAttribute("attributeType=\"Date\" \(half)")
        #expect(attribute.derivationExpression == nil)
        #expect(diagnostics.count == 1)
    }

    @Test func compositesAreReadAndNested() throws {
        let model = try readPlainly(
            """
            <entity name="E"><attribute name="place" attributeType="Composite" composite="Place"/></entity>
            <composite name="Place">
            <attribute name="name" attributeType="String" defaultValueString=""/>
            <attribute name="point" attributeType="Composite" composite="Point"/>
            </composite>
            <composite name="Point"><attribute name="x" attributeType="Double"/></composite>
            """)
        let entity = try #require(model.entity(named: "E"))
        #expect(model.columns(of: entity).map(\.name) == ["place.name", "place.point.x"])
        #expect(model.composites.first?.attributes.first?.defaultValue == .string(""))
    }

    @Test func aRefusedAttributeOfACompositeIsNamed() throws {
        let document = try read(
            """
            <entity name="E"><attribute name="p" attributeType="Composite" composite="P"/></entity>
            <composite name="P" versionHashModifier="2" elementID="Q"><attribute name="x" attributeType="Double"/></composite>
            """)
        #expect(
            document.diagnostics.map(\.message)
                == ["versionHashModifier", "elementID"].map {
                    "The composite P: \($0) is ignored. The value has no effect. Set it on the attributes inside the composite, or on the attributes that use the composite."
                })
    }

    @Test func aCompositeAttributeWithoutACompositeIsAnError() throws {
        let error = try errorReading("<entity name=\"E\"><attribute name=\"a\" attributeType=\"Composite\"/></entity>")
        #expect(error.code == .missingName)
    }

    @Test func userInfoIsReadAndRepeatedKeysAreNoted() throws {
        let document = try read(
            """
            <entity name="E"><attribute name="a" attributeType="Date">
            <userInfo><entry key="k" value="1"/><entry key="k" value="2"/><entry value="3"/></userInfo>
            </attribute></entity>
            """)
        #expect(document.model.entity(named: "E")?.attributes.first?.userInfo == ["k": "2"])
        #expect(document.diagnostics.map(\.line) == [4, 4])
    }
}
