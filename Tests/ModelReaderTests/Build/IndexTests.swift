import ManagedModel
import ModelReader
import Testing

@Suite struct IndexTests {
    @Test func indexesAreReadWithTheirOrder() throws {
        let (indexes, diagnostics) = try readIndexes(
            """
            <fetchIndex name="byBoth"><fetchIndexElement property="a" type="Binary" order="ascending"/>
            <fetchIndexElement property="b" type="Binary" order="descending"/></fetchIndex>
            """)
        #expect(
            indexes == [
                FetchIndexDescription(
                    name: "byBoth", elements: [.init(property: "a"), .init(property: "b", isAscending: false)])
            ])
        #expect(diagnostics.isEmpty)
    }

    @Test func oldIndexesAreNamedAfterTheirColumns() throws {
        let (indexes, diagnostics) = try readIndexes(
            """
            <fetchIndex name="by_a"><fetchIndexElement property="a"/></fetchIndex>
            <compoundIndexes><compoundIndex><index value="a"/></compoundIndex>
            <compoundIndex><index value="a"/><index value="b"/></compoundIndex></compoundIndexes>
            """)
        #expect(indexes.map(\.name) == ["by_a", "by_a_2", "by_a_b"])
        #expect(indexes.map(\.isCompound) == [false, true, true])
        #expect(indexes.last?.elements.map(\.property) == ["a", "b"])
        #expect(diagnostics.isEmpty)
    }

    @Test func anIndexMayNameAToOneRelationshipAnInheritedAttributeAndACopy() throws {
        let (indexes, diagnostics) = try readIndexes(
            """
            <fetchIndex name="i"><fetchIndexElement property="one"/><fetchIndexElement property="inherited"/>
            <fetchIndexElement property="copy"/></fetchIndex>
            """)
        #expect(indexes.first?.elements.map(\.property) == ["one", "inherited", "copy"])
        #expect(diagnostics.isEmpty)
    }

    /// `convert` writes such an index if the class has one.
    @Test func anIndexMayNameAPartOfAComposite() throws {
        let (indexes, diagnostics) = try readIndexes(
            """
            <fetchIndex name="i"><fetchIndexElement property="place.city"/><fetchIndexElement property="place.at.x"/></fetchIndex>
            """)
        #expect(indexes.first?.elements.map(\.property) == ["place.city", "place.at.x"])
        #expect(diagnostics.isEmpty)
    }

    @Test(arguments: ["many", "transient", "missing", "count", "ofOne", "place", "place.at", "place.none", "old.city"])
    func elementsWithoutStoredValuesAreSkipped(_ property: String) throws {
        let (indexes, diagnostics) = try readIndexes(
            """
            <fetchIndex name="i"><fetchIndexElement property="\(property)"/><fetchIndexElement property="a"/></fetchIndex>
            <fetchIndex name="j"><fetchIndexElement property="\(property)"/></fetchIndex>
            """)
        #expect(indexes == [FetchIndexDescription(name: "i", elements: [.init(property: "a")])])
        #expect(diagnostics.count == 2)
    }

    @Test func otherKindsOfIndexAreMadePlain() throws {
        let (indexes, diagnostics) = try readIndexes(
            """
            <fetchIndex name="i" partialIndexPredicate="a &gt; 1">
            <fetchIndexElement property="a" type="RTree" order="sideways"/><fetchIndexElement expression="b"/></fetchIndex>
            """)
        #expect(indexes == [FetchIndexDescription(name: "i", elements: [.init(property: "a")])])
        #expect(diagnostics.count == 5)
    }

    private func readIndexes(
        _ elements: String
    ) throws -> (indexes: [FetchIndexDescription], diagnostics: [ModelDiagnostic]) {
        let document = try read(
            """
            <entity name="E" parentEntity="P"><attribute name="a" attributeType="Date"/>
            <attribute name="b" attributeType="Date"/><attribute name="transient" transient="YES"/>
            <attribute name="count" attributeType="Integer 64" optional="YES" derived="YES" derivationExpression="many.@count"/>
            <attribute name="ofOne" attributeType="Date" optional="YES" derived="YES" derivationExpression="one.inherited"/>
            <attribute name="copy" attributeType="Date" optional="YES" derived="YES" derivationExpression="a"/>
            <attribute name="place" attributeType="Composite" composite="Place" optional="YES"/>
            <attribute name="old" attributeType="Composite" composite="Place" optional="YES" transient="YES"/>
            <relationship name="one" destinationEntity="P"/>
            <relationship name="many" toMany="YES" destinationEntity="P"/>
            \(elements)</entity>
            <entity name="P"><attribute name="inherited" attributeType="Date"/></entity>
            <composite name="Place"><attribute name="city" attributeType="String"/>
            <attribute name="at" attributeType="Composite" composite="At"/></composite>
            <composite name="At"><attribute name="x" attributeType="Double"/></composite>
            """)
        return (try #require(document.model.entity(named: "E")).indexes, document.diagnostics)
    }
}
