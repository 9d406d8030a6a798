internal import ManagedModel
internal import Foundation

/// Checks the bytes of a file before the XML parser reads them. Refuses document types, entities, encodings other than
/// UTF-8, and sizes that would make parsing slow. Model files contain none of these.
///
/// The scan only distinguishes tags from comments and quoted strings, and finds the line of each tag.
struct MarkupScan {
    /// Bytes that are safe to parse, with the line of each start tag in the order of the file.
    struct Markup {
        var data: Data
        var lines: [Int]
    }

    static let byteLimit = 16 << 20
    static let depthLimit = 64
    static let elementLimit = 500_000
    /// The limit is needed because the parser compares each attribute of an element with all others.
    static let attributeLimit = 256

    private var bytes: [UInt8]
    private let file: String
    private var position = 0
    private var line = 1
    private var depth = 0
    private var lines: [Int] = []

    private init(bytes: [UInt8], file: String) {
        self.bytes = bytes
        self.file = file
    }

    static func check(_ data: Data, file: String) throws(ModelReaderError) -> Markup {
        guard data.count <= byteLimit else {
            throw ModelReaderError(.tooLarge, file: file, "The file is larger than \(byteLimit) bytes.")
        }
        if let line = ConflictMarker.firstLine(in: data) { throw .mergeConflict(file: file, line: line) }
        let bytes = try MarkupEncoding.utf8Bytes(of: data, file: file)
        var scan = MarkupScan(bytes: bytes, file: file)
        try scan.run()
        return Markup(data: Data(scan.bytes), lines: scan.lines)
    }

    private mutating func run() throws(ModelReaderError) {
        while try skipText() {
            let start = position - 1
            if starts(with: "!--") {
                try skipPast("-->", of: "a comment")
                blank(start..<position)
            } else if starts(with: "![CDATA[") {
                try skipPast("]]>", of: "a CDATA section")
                blank(start..<position)
            } else if starts(with: "!") {
                throw error(
                    .documentTypeRefused,
                    "The file declares a document type or an entity. Remove the declaration, which no model needs.")
            } else if starts(with: "?") {
                let isNamedXML = ["?xml ", "?xml\t", "?xml\n", "?xml\r", "?xml?"].contains { starts(with: $0) }
                if isNamedXML, start > 0 || starts(with: "?xml?") {
                    throw error(
                        .malformedXML,
                        "An XML declaration is allowed only at the start of the file, and needs a version.")
                }
                try skipPast("?>", of: "a processing instruction")
                if !isNamedXML { blank(start..<position) }
            } else if starts(with: "/") {
                depth -= 1
                guard depth >= 0 else { throw error(.malformedXML, "A closing tag has no opening tag.") }
                try endTag()
            } else {
                try startTag()
            }
        }
        guard depth == 0, !lines.isEmpty else {
            throw error(
                .malformedXML,
                lines.isEmpty ? "The file contains no element." : "The file ends before all its tags are closed.")
        }
    }

    /// Replaces a comment, a CDATA section or a processing instruction with spaces. None of the three has a meaning in a model,
    /// and on some platforms, an instruction without data crashes the parser.
    private mutating func blank(_ range: Range<Int>) {
        for index in range where bytes[index] != UInt8(ascii: "\n") { bytes[index] = UInt8(ascii: " ") }
    }

    private mutating func startTag() throws(ModelReaderError) {
        lines.append(line)
        guard lines.count <= Self.elementLimit else {
            throw error(.tooLarge, "The file has more than \(Self.elementLimit) elements.")
        }
        var attributeCount = 0
        while position < bytes.count {
            let byte = advance()
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                attributeCount += 1
                guard attributeCount <= Self.attributeLimit else {
                    throw error(.tooLarge, "An element has more than \(Self.attributeLimit) attributes.")
                }
                try attributeValue(endedBy: byte)
            } else if byte == UInt8(ascii: "<") {
                throw error(.malformedXML, "A tag begins inside another tag.")
            } else if byte == UInt8(ascii: ">") {
                let isEmpty = position >= 2 && bytes[position - 2] == UInt8(ascii: "/")
                if !isEmpty { depth += 1 }
                guard depth <= Self.depthLimit else {
                    throw error(.tooDeep, "Elements are nested more than \(Self.depthLimit) deep.")
                }
                return
            }
        }
        throw error(.malformedXML, "The file ends inside a tag.")
    }

    private mutating func attributeValue(endedBy quote: UInt8) throws(ModelReaderError) {
        while position < bytes.count {
            let byte = advance()
            if byte == quote { return }
            if byte == UInt8(ascii: "<") {
                throw error(.malformedXML, "The value of an attribute contains a <. Write &lt; instead.")
            }
        }
    }

    private mutating func endTag() throws(ModelReaderError) {
        while position < bytes.count {
            let byte = advance()
            if byte == UInt8(ascii: ">") { return }
            if byte == UInt8(ascii: "<") { throw error(.malformedXML, "A tag begins inside another tag.") }
        }
        throw error(.malformedXML, "The file ends inside a tag.")
    }

    private mutating func advance() -> UInt8 {
        let byte = bytes[position]
        position += 1
        if byte == UInt8(ascii: "\n") { line += 1 }
        return byte
    }

    /// Moves past the `<` of the next tag. Returns false at the end of the file.
    private mutating func skipText() throws(ModelReaderError) -> Bool {
        while position < bytes.count {
            let isLineStart = position == 0 || bytes[position - 1] == UInt8(ascii: "\n")
            if isLineStart, ConflictMarker.starts(bytes[position...]) { throw .mergeConflict(file: file, line: line) }
            if advance() == UInt8(ascii: "<") { return true }
        }
        return false
    }

    private func starts(with text: String) -> Bool {
        bytes[position...].starts(with: text.utf8)
    }

    private mutating func skipPast(_ end: String, of what: String) throws(ModelReaderError) {
        let first = end.utf8.first
        while position < bytes.count {
            if bytes[position] == first, starts(with: end) {
                position += end.utf8.count
                return
            }
            _ = advance()
        }
        throw error(.malformedXML, "The file ends inside \(what).")
    }

    private func error(_ code: ModelReaderError.Code, _ message: String) -> ModelReaderError {
        ModelReaderError(code, file: file, line: line, message)
    }
}
