import Foundation
import ManagedModel
import ModelReader
import Testing

@Suite struct DefaultValueTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var type: AttributeType
        var text: String
        var value: AttributeValue?
        var isOdd: Bool

        var testDescription: String { "\(type.rawValue) \"\(text)\"" }

        init(_ type: AttributeType, _ text: String, _ value: AttributeValue?, isOdd: Bool = false) {
            self.type = type
            self.text = text
            self.value = value
            self.isOdd = isOdd
        }
    }

    static let plain: [Case] = [
        Case(.boolean, "YES", .boolean(true)), Case(.boolean, "NO", .boolean(false)),
        Case(.boolean, "0", .boolean(false)), Case(.boolean, "true", .boolean(true)),
        Case(.integer16, "-32768", .integer(-32_768)), Case(.integer32, "0", .integer(0)),
        Case(.integer64, "9223372036854775807", .integer(.max)),
        Case(.integer64, "-9223372036854775808", .integer(.min)),
        Case(.double, "0.0", .double(0)), Case(.double, "-1e300", .double(-1e300)), Case(.float, "0.5", .double(0.5)),
        Case(.decimal, "0.1", .decimal(Decimal(1) / 10)), Case(.decimal, "30", .decimal(30)),
        Case(.string, "", .string("")), Case(.string, "NO", .string("NO")), Case(.string, " ", .string(" ")),
        Case(.uri, "http://a.b/", .string("http://a.b/")),
        Case(
            .uuid, "00000000-0000-0000-0000-000000000001",
            .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))),
    ]

    static let odd: [Case] = [
        Case(.integer32, "NO", .integer(0), isOdd: true), Case(.integer64, "YES", .integer(1), isOdd: true),
        Case(.integer16, "0.0", .integer(0), isOdd: true),
        Case(.integer64, "9007199254740993.0", .integer(9_007_199_254_740_993), isOdd: true),
        Case(.boolean, "0.0", .boolean(false), isOdd: true), Case(.boolean, "2", .boolean(true), isOdd: true),
        Case(.double, "NO", .double(0), isOdd: true), Case(.decimal, "YES", .decimal(1), isOdd: true),
    ]

    static let refused: [Case] = [
        Case(.integer16, "32768", nil, isOdd: true), Case(.integer32, "99999999999", nil, isOdd: true),
        Case(.integer16, "40000.0", nil, isOdd: true), Case(.integer64, "9223372036854775808", nil, isOdd: true),
        Case(.integer64, "99999999999999999999", nil, isOdd: true), Case(.integer64, "1.5", nil, isOdd: true),
        Case(.integer64, "", nil, isOdd: true), Case(.integer64, "1e3", nil, isOdd: true),
        Case(.boolean, "maybe", nil, isOdd: true), Case(.double, "1e999", nil, isOdd: true),
        Case(.double, "nan", nil, isOdd: true), Case(.double, "0x10", nil, isOdd: true),
        Case(.double, "0,5", nil, isOdd: true), Case(.float, "1e300", nil, isOdd: true),
        Case(.decimal, "12abc", nil, isOdd: true), Case(.decimal, "1e400", nil, isOdd: true),
        Case(.decimal, "1e-400", nil, isOdd: true), Case(.decimal, String(repeating: "9", count: 39), nil, isOdd: true),
        Case(.decimal, "", nil, isOdd: true), Case(.decimal, "e5", nil, isOdd: true),
        Case(.date, "0", nil, isOdd: true), Case(.date, "NO", nil, isOdd: true),
        Case(.uuid, "empy", nil, isOdd: true), Case(.binary, "x", nil, isOdd: true),
        Case(.transformable, "x", nil, isOdd: true),
    ]

    @Test(arguments: plain + odd + refused)
    func aDefaultIsReadByItsTypeAndElseWithADiagnostic(_ example: Case) throws {
        let (attribute, diagnostics) = try readAttribute(
            "attributeType=\"\(example.type.rawValue)\" defaultValueString=\"\(example.text)\"")
        #expect(attribute.defaultValue == example.value)
        #expect(diagnostics.count == (example.isOdd ? 1 : 0))
    }

    @Test func noDefaultIsNotAnEmptyString() throws {
        #expect(try readAttribute("attributeType=\"String\"").attribute.defaultValue == nil)
        #expect(
            try readAttribute("attributeType=\"String\" defaultValueString=\"\"").attribute.defaultValue == .string(""))
    }

    /// These digits do not survive a `Double`.
    @Test(arguments: ["0.1234567890123456789012345678901234567", "99999999999999999999999999999999999999", "-0.1"])
    func decimalsKeepEveryDigit(_ text: String) throws {
        let value = try readAttribute("attributeType=\"Decimal\" defaultValueString=\"\(text)\"").attribute.defaultValue
        guard case .decimal(let decimal) = value else {
            Issue.record("read as \(String(describing: value))")
            return
        }
        #expect(decimal.description == text)
    }

    @Test(arguments: [("631123200", 631_123_200), ("0", 0), ("-86400.5", -86_400.5)])
    func datesAreSecondsSince2001(_ text: String, _ seconds: TimeInterval) throws {
        let (attribute, diagnostics) = try readAttribute(
            "attributeType=\"Date\" defaultDateTimeInterval=\"\(text)\"")
        #expect(attribute.defaultValue == .date(seconds))
        #expect(diagnostics.isEmpty)
    }

    @Test(arguments: ["yesterday", "", "inf", "1e999"])
    func aDateThatIsNoNumberIsPassedOver(_ text: String) throws {
        let (attribute, diagnostics) = try readAttribute(
            "attributeType=\"Date\" defaultDateTimeInterval=\"\(text)\"")
        #expect(attribute.defaultValue == nil)
        #expect(diagnostics.count == 1)
    }
}
