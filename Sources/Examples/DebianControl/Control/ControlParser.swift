/// Splits the bytes of a Debian control file into records. The bytes can be passed in pieces of any size.
///
/// ```swift
/// var parser = ControlParser(leadingField: "Package")
/// for chunk in chunks { take(parser.parse(chunk)) }
/// take(parser.finish())
/// ```
///
/// Records end at empty and blank lines. A line that begins with a blank continues the field above. Lines end with LF or CR LF.
/// A line that is neither a field nor a continuation adds a fault to its record. The parser continues after a fault.
///
/// The parser keeps each byte only until its record ends.
public struct ControlParser: Sendable {
    private let leadingField: [UInt8]
    private var record = ControlRecord(line: 1)
    private var records: [ControlRecord] = []
    private var line = 1
    private var lineStart = 0

    /// - Parameter leadingField: The field that every valid record has once, in this exact spelling. If a record has the
    ///   field a second time, the next record begins there. The first of the two records gets a fault, because the empty
    ///   line and possibly other lines are missing.
    public init(leadingField: String) {
        self.leadingField = Array(leadingField.utf8)
    }

    /// Parses the next bytes, and returns the records that end within these bytes.
    public mutating func parse(_ chunk: [UInt8]) -> [ControlRecord] {
        var rest = chunk[...]
        while let end = rest.firstIndex(of: .newline) {
            record.bytes.append(contentsOf: rest[..<end])
            endLine()
            rest = rest[(end + 1)...]
        }
        record.bytes.append(contentsOf: rest)
        return takeRecords()
    }

    /// Ends the last record, and returns it if no empty line has ended it before.
    public mutating func finish() -> [ControlRecord] {
        endLine()
        endRecord()
        return takeRecords()
    }

    private mutating func takeRecords() -> [ControlRecord] {
        defer { records.removeAll() }
        return records
    }

    // MARK: Lines

    private mutating func endLine() {
        let content = record.bytes[lineStart...]
        if content.allSatisfy(\.isBlank) {
            endRecord()
        } else {
            add(content)
            record.bytes.append(.newline)
        }
        line += 1
        lineStart = record.bytes.count
    }

    private mutating func add(_ content: ArraySlice<UInt8>) {
        if content[content.startIndex].isBlank {
            continueField(to: content.endIndex)
        } else if let colon = content.firstIndex(where: { !$0.isNameCharacter }), isField(content, colon) {
            addField(ControlRecord.Field(name: lineStart..<colon, value: colon + 1..<content.endIndex, line: line))
        } else {
            addFault("this line is neither a field nor a continuation")
        }
    }

    private func isField(_ content: ArraySlice<UInt8>, _ colon: Int) -> Bool {
        let first = content[content.startIndex]
        return content[colon] == .colon && colon > lineStart && first != UInt8(ascii: "#") && first != UInt8(ascii: "-")
    }

    private mutating func continueField(to end: Int) {
        guard let last = record.fields.indices.last else {
            return addFault("there is no field that this line could continue")
        }
        record.fields[last].value = record.fields[last].value.lowerBound..<end
    }

    private mutating func addField(_ field: ControlRecord.Field) {
        let isLeading = record.bytes[field.name].elementsEqual(leadingField)
        if isLeading && record.hasLeadingField { return beginNextRecord() }
        record.hasLeadingField = record.hasLeadingField || isLeading
        record.fields.append(field)
    }

    private mutating func addFault(_ message: String) {
        if record.fault == nil { record.fault = ControlFault(line: line, message: message) }
    }

    // MARK: Records

    private mutating func endRecord() {
        if lineStart > 0 { records.append(record) }
        record = ControlRecord(line: line + 1)
        lineStart = 0
    }

    /// Ends the record before this line, and begins the next record with this line.
    private mutating func beginNextRecord() {
        addFault("the next record begins here, without an empty line between")
        let content = Array(record.bytes[lineStart...])
        record.bytes.removeSubrange(lineStart...)
        endRecord()
        record.line = line
        record.bytes = content
        add(record.bytes[...])
    }
}
