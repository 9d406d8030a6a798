import Foundation
import ManagedModel
import ModelReader
import Testing

/// Names that are written in another form of Unicode are the same names, down to the bytes that the hash and the tables see.
@Suite struct UnicodeFormTests {
    private static let elements = """
        <entity name="Caf\u{e9}" elementID="Bistr\u{f4}" versionHashModifier="\u{fc}">
        <attribute name="na\u{ef}ve" optional="YES" attributeType="String" elementID="\u{f1}" defaultValueString="\u{e9}"/>
        <attribute name="lower" optional="YES" attributeType="String" derived="YES" derivationExpression="lowercase:(na\u{ef}ve)"/>
        <attribute name="at" optional="YES" attributeType="Composite" composite="Plac\u{e9}"/>
        <relationship name="h\u{f4}te" optional="YES" destinationEntity="H\u{f4}te" inverseName="caf\u{e9}s" inverseEntity="H\u{f4}te"/>
        <fetchIndex name="by"><fetchIndexElement property="na\u{ef}ve" type="Binary" order="ascending"/></fetchIndex>
        <uniquenessConstraints><uniquenessConstraint><constraint value="na\u{ef}ve"/></uniquenessConstraint></uniquenessConstraints>
        <userInfo><entry key="\u{e9}" value="\u{e9}"/></userInfo>
        </entity>
        <entity name="H\u{f4}te">
        <relationship name="caf\u{e9}s" optional="YES" toMany="YES" destinationEntity="Caf\u{e9}" inverseName="h\u{f4}te" inverseEntity="Caf\u{e9}"/>
        </entity>
        <composite name="Plac\u{e9}"><attribute name="\u{e5}" optional="YES" attributeType="Double"/></composite>
        <configuration name="\u{e9}t\u{e9}"><memberEntity name="H\u{f4}te"/><memberEntity name="Caf\u{e9}"/></configuration>
        """

    @Test func theUnicodeFormDoesNotChangeTheModel() throws {
        let composed = try readPlainly(Self.elements)
        let decomposed = try readPlainly(Self.elements.decomposedStringWithCanonicalMapping)
        #expect(composed.hash == decomposed.hash)
        #expect(composed.canonicalForm.utf8.elementsEqual(decomposed.canonicalForm.utf8))
        #expect(composed == decomposed)
        let (one, other) = (composed.entities, decomposed.entities)
        for (bytes, others) in zip(one.map(\.name.utf8), other.map(\.name.utf8)) {
            #expect(bytes.elementsEqual(others))
        }
        // What is no name is the author's.
        let text = other[0].attributes[0].defaultValue
        #expect(text == .string("e\u{301}") && other[0].userInfo.keys.first?.unicodeScalars.count == 2)
        guard case .string(let value) = text else { return }
        #expect(value.unicodeScalars.count == 2)
    }
}
