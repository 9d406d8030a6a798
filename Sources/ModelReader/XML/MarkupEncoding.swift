internal import Foundation

/// Makes sure that a file is UTF-8 and that the parser reads it as such.
enum MarkupEncoding {
    /// The file's bytes without a byte order mark, and with spaces instead of the XML declaration: a declared encoding would
    /// make the parser read other characters than the ones that were checked.
    static func plainBytes(of data: Data, file: String) throws(ModelReaderError) -> [UInt8] {
        var bytes = [UInt8](data)
        if bytes.starts(with: Array("bplist".utf8)) {
            throw ModelReaderError(
                .binaryModel, file: file,
                "This is a binary archive, not XML. Open the model in Xcode 4 or newer and save it again.")
        }
        guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
            throw ModelReaderError(.unsupportedEncoding, file: file, "The file is not in UTF-8. Save it as UTF-8.")
        }
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes.removeFirst(3) }
        guard let end = try endOfDeclaration(in: bytes, file: file) else { return bytes }
        for index in 0..<end where bytes[index] != UInt8(ascii: "\n") {
            bytes[index] = UInt8(ascii: " ")
        }
        return bytes
    }

    private static func endOfDeclaration(in bytes: [UInt8], file: String) throws(ModelReaderError) -> Int? {
        guard bytes.starts(with: Array("<?xml".utf8)), bytes.count > 5, bytes[5] <= UInt8(ascii: " ") else {
            return nil
        }
        // No declaration is longer than this.
        guard let end = bytes.prefix(256).firstRange(of: Array("?>".utf8))?.upperBound else {
            throw ModelReaderError(.malformedXML, file: file, line: 1, "The XML declaration does not end.")
        }
        let declaration = String(decoding: bytes[..<end], as: UTF8.self).lowercased()
        if let start = declaration.range(of: "encoding")?.upperBound {
            let encoding = declaration[start...].drop { !$0.isASCII || $0.isWhitespace || "='\"".contains($0) }
                .prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
            guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(encoding) else {
                throw ModelReaderError(
                    .unsupportedEncoding, file: file, line: 1,
                    "The file declares the encoding \(encoding). Save it as UTF-8.")
            }
        }
        return end
    }
}
