import DebianControl
import ErrorExpectations
import Testing

@Suite struct ControlParserTests {
    @Test func recordsEndAtEmptyAndBlankLinesAndAtTheEnd() throws {
        let records = parse("\n\nPackage: a\n\n \t\nPackage: b\nSection: x\n\n\nPackage: c")
        #expect(try records.map { try $0.unfolded("Package") } == ["a", "b", "c"])
        #expect(records.map(\.line) == [3, 6, 10])
    }

    @Test func aContinuationLineBelongsToTheFieldAboveIt() throws {
        let text = "Package: a\nDepends: b,\n c,\n\t d\nDescription: short\n long\n .\n longer\n"
        let record = try #require(parse(text).first)
        #expect(try record.unfolded("Depends") == "b, c, d")
        #expect(try record.firstLine("Description") == "short")
        #expect(try record.unfolded("Description") == "short long . longer")
    }

    @Test func aFieldMayBeginOnItsContinuationLine() throws {
        let record = try #require(parse("Package: a\nDepends:\n b,\n c\nConffiles:\n").first)
        #expect(try record.unfolded("Depends") == "b, c")
        #expect(try record.unfolded("Conffiles") == nil)
        #expect(try record.unfolded("Tag") == nil)
    }

    @Test func carriageReturnsAreNoPartOfALine() throws {
        let records = parse("Package: a\r\nDepends: b,\r\n c\r\n\r\nPackage: d\r\n")
        #expect(try records.map { try $0.unfolded("Package") } == ["a", "d"])
        #expect(try records.first?.unfolded("Depends") == "b, c")
    }

    @Test func invalidUTF8IsRepaired() throws {
        let record = try #require(parse(Array("Package: a\nMaintainer: J".utf8) + [0xE9] + Array("r\n".utf8)).first)
        #expect(try record.unfolded("Maintainer") == "J\u{FFFD}r")
    }

    @Test func caseOfFieldNamesMattersForTheLeadingFieldOnly() throws {
        let records = parse("Package: a\nVERSION: 1\n\npackage: b\nVersion: 2\n")
        #expect(try records.map { try $0.unfolded("version") } == ["1", "2"])
        #expect(records.map(\.hasLeadingField) == [true, false])
    }

    @Test(arguments: ["no field", "# comment: x", "-a: b", "a b: c", ": d", "é: f"])
    func aLineThatIsNoFieldIsAFault(line: String) {
        let records = parse("Package: a\n\(line)\n\nPackage: b\n")
        #expect(records.map { $0.fault?.line } == [2, nil])
    }

    @Test func aContinuationOfNothingIsAFault() {
        #expect(parse(" x\nPackage: a\n").map { $0.fault?.line } == [1])
    }

    @Test func aFieldThatIsThereTwiceIsAFaultOfThatField() throws {
        let record = try #require(parse("Package: a\nVersion: 1\nSection: x\nversion: 2\n").first)
        expectThrows(ControlFault.self) { try record.unfolded("Version") }
        #expect(try record.unfolded("Section") == "x")
    }

    @Test func aSecondLeadingFieldBeginsTheNextRecord() throws {
        let records = parse("Package: a\nVersion: 1\nPackage: b\nVersion: 2\n\n")
        #expect(try records.map { try $0.unfolded("Version") } == ["1", "2"])
        #expect(records.map(\.line) == [1, 3])
        #expect(records.map { $0.fault?.line } == [3, nil])
    }

    @Test func nothingIsNoRecord() {
        #expect(parse("").isEmpty)
        #expect(parse("\n \n\r\n").isEmpty)
    }
}

/// The records of a text, in one piece.
func parse(_ text: String) -> [ControlRecord] {
    parse(Array(text.utf8))
}

/// The records of bytes, in pieces of that size.
func parse(_ bytes: [UInt8], piece: Int = .max) -> [ControlRecord] {
    var parser = ControlParser(leadingField: "Package")
    var rest = bytes[...]
    var records: [ControlRecord] = []
    while !rest.isEmpty {
        records += parser.parse(Array(rest.prefix(piece)))
        rest = rest.dropFirst(piece)
    }
    return records + parser.finish()
}
