import ErrorExpectations
import Foundation
import ManagedModel
import RowStore
import StoreTestModel
import Testing

/// Rows that an encoder writes.
struct CodableRowTests {
    private let layout: EntityLayout

    init() throws {
        let types: [AttributeType] = [.boolean, .integer64, .double, .date, .string, .binary]
        let attributes = types.map { AttributeDescription(name: "\($0)", type: $0, isOptional: true) }
        let transient = AttributeDescription(name: "hidden", type: .string, isOptional: true, isTransient: true)
        let model = ManagedObjectModel(
            name: "Rows", entities: [EntityDescription(name: "Item", attributes: attributes + [transient])])
        layout = try #require(ModelLayout(model).entity(named: "Item"))
    }

    private func json(_ values: [RowValue]) throws -> String {
        let row = try layout.row(values)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(CodableRow(row, layout)), as: UTF8.self)
    }

    private func row(_ json: String) throws -> [RowValue] {
        layout.values(of: try layout.row(JSONDecoder().decode(CodableRow.self, from: Data(json.utf8))))
    }

    @Test func rowsAreWrittenForPeople() throws {
        let text = try json([
            .integer(1), .integer(-5), .real(2.5), .real(0.25), .text("Guan\nYu"), .blob([0, 255]), .text("hidden"),
        ])
        #expect(
            text == #"{"binary":"AP8=","boolean":true,"date":"2001-01-01T00:00:00.25Z","double":2.5,"#
                + #""integer64":-5,"string":"Guan\nYu"}"#)
        #expect(try json(Array(repeating: .null, count: 7)) == "{}")
    }

    @Test func everyValueComesBackAsItWas() throws {
        let reals: [Double] = [
            0, -0.0, 1, 0.1, -1e300, .infinity, -.infinity, .leastNonzeroMagnitude, 812_345_678.123_456_7, -1e11,
        ]
        for (index, real) in reals.enumerated() {
            let values: [RowValue] = [
                .integer(Int64(index % 2)), .integer(index == 0 ? .min : .max - Int64(index)), .real(real), .real(real),
                .text(index == 0 ? "" : "é\0\u{1F600} \(index)"), .blob(Array(repeating: UInt8(index), count: index)),
                .null,
            ]
            #expect(try row(json(values)) == values, "\(real)")
        }
        // A boolean that another program has written.
        let odd: [RowValue] = [.integer(7), .null, .null, .null, .null, .null, .null]
        #expect(try row(json(odd)) == odd)
    }

    @Test(arguments: [
        #"{"integer64": "five"}"#, #"{"integer64": 0.5}"#, #"{"double": "much"}"#, #"{"date": true}"#,
        #"{"string": 5}"#,
        #"{"binary": "no Base64"}"#, #"{"boolean": "yes"}"#,
    ])
    func valuesOfOtherTypesAreDamage(json: String) {
        #expect(code { _ = try row(json) } == .storeCorrupt)
    }

    @Test(arguments: [
        "2020-02-30T12:00:00.0Z", "2020-01-01T25:60:00.0Z", "1500-02-29T00:00:00.0Z", "2020-13-01T00:00:00Z", "0x10",
        "12", "", "yesterday",
    ])
    func aMomentThatDoesNotExistIsDamageThatTheErrorNames(text: String) throws {
        let error = expectError(.storeCorrupt) { try row(#"{"date": "\#(text)"}"#) }
        #expect(error?.attributeName == "date")
        let message = try #require(error?.message)
        #expect(message.contains("\"\(text)\"") && message.contains("2026-11-26T12:00:00Z"), "\(message)")
    }

    @Test func datesBeforeTheReformAreThoseOfTheGregorianCalendar() throws {
        let empty = [RowValue](repeating: .null, count: 3)
        let text = try json(empty + [.real(-13_197_686_400)] + empty)
        #expect(text == #"{"date":"1582-10-14T00:00:00.0Z"}"#)
        #expect(try row(text)[3] == .real(-13_197_686_400))
    }

    @Test func keysThatTheEntityDoesNotStoreAreIgnored() throws {
        #expect(try row(#"{"other": 1, "hidden": "x", "string": "y"}"#)[4...] == [.text("y"), .null, .null])
    }
}
