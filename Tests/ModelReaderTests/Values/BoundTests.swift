import Foundation
import ManagedModel
import ModelReader
import Testing

@Suite struct BoundTests {
    @Test func boundsAreOfTheAttributesType() throws {
        #expect(try bounds("Integer 16", "-5", "5") == [.integer(-5), .integer(5)])
        #expect(try bounds("Double", "0", "1.5") == [.double(0), .double(1.5)])
        #expect(try bounds("Decimal", "0.1", "30") == [.decimal(Decimal(1) / 10), .decimal(30)])
    }

    @Test func boundsOfAStringAreLengths() throws {
        #expect(try bounds("String", "1", "64") == [.integer(1), .integer(64)])
    }

    @Test func boundsOfADateAreSeconds() throws {
        let (attribute, diagnostics) = try readAttribute(
            "attributeType=\"Date\" minDateTimeInterval=\"-1\" maxDateTimeInterval=\"2.5\"")
        #expect([attribute.minimum, attribute.maximum] == [.date(-1), .date(2.5)])
        #expect(diagnostics.isEmpty)
    }

    @Test func aBoundOutsideTheTypesRangeIsKeptWithADiagnostic() throws {
        let (attribute, diagnostics) = try readAttribute(
            "attributeType=\"Integer 32\" maxValueString=\"99999999999\"")
        #expect(attribute.maximum == .integer(99_999_999_999))
        #expect(diagnostics.count == 1)
    }

    @Test(arguments: [
        ("Integer 64", "99999999999999999999"), ("Integer 32", "many"), ("Double", "1e999"), ("String", "x"),
        ("Boolean", "1"), ("Decimal", "1x"), ("Date", "1"),
    ])
    func aBoundThatIsNoneIsPassedOver(_ type: String, _ text: String) throws {
        let (attribute, diagnostics) = try readAttribute("attributeType=\"\(type)\" minValueString=\"\(text)\"")
        #expect(attribute.minimum == nil)
        #expect(diagnostics.count == 1)
    }

    @Test func aPatternIsRead() throws {
        let attribute = try readAttribute("attributeType=\"String\" regularExpressionString=\"[a-z]+\"").attribute
        #expect(attribute.pattern == "[a-z]+")
    }

    private func bounds(_ type: String, _ minimum: String, _ maximum: String) throws -> [AttributeValue?] {
        let (attribute, diagnostics) = try readAttribute(
            "attributeType=\"\(type)\" minValueString=\"\(minimum)\" maxValueString=\"\(maximum)\"")
        #expect(diagnostics.isEmpty)
        return [attribute.minimum, attribute.maximum]
    }
}
