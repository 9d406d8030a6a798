import ErrorExpectations
import ManagedModel
import Testing

struct ScalarSplitTests {
    @Test func aSeparatorWithACombiningMarkSeparates() {
        #expect("a.\u{301}b.c".parts(separatedBy: ".") == ["a", "\u{301}b", "c"])
        #expect("..a".parts(separatedBy: ".") == ["", "", "a"])
        #expect("..a".parts(separatedBy: ".", omittingEmpty: true) == ["a"])
        #expect("a\r\nb".parts(separatedBy: "\n") == ["a\r", "b"])
    }

    @Test func aPrefixEndsInsideACharacter() {
        #expect("entity \u{301}x".remainder(afterPrefix: "entity ") == "\u{301}x")
        #expect("entity x".remainder(afterPrefix: "key ") == nil)
    }

    @Test func aConstraintFindsALeafWhoseNameBeginsWithACombiningMark() throws {
        let leaf = AttributeDescription(name: "\u{301}x", type: .string, isOptional: true)
        let model = ManagedObjectModel(
            name: "Marks",
            entities: [
                EntityDescription(
                    name: "Item",
                    attributes: [
                        AttributeDescription(
                            name: "place", type: .composite, isOptional: true, compositeName: "Place")
                    ], uniquenessConstraints: [["place.\u{301}x"]])
            ], composites: [CompositeDescription(name: "Place", attributes: [leaf])])
        try model.validate()
    }

    @Test func aDotWithACombiningMarkIsADot() {
        let attribute = AttributeDescription(name: "a.\u{301}", type: .string, isOptional: true)
        let model = ManagedObjectModel(
            name: "Marks", entities: [EntityDescription(name: "Item", attributes: [attribute])])
        let error = expectThrows(ModelError.self) { try model.validate() }
        #expect(error?.code == .invalidName)
    }

    @Test func aDerivationFindsItsPathBehindACombiningMark() {
        #expect(DerivationExpression("uppercase:(\u{301}x)") == .transformed(["\u{301}x"], .uppercase))
    }
}
