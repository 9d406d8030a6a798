internal import Foundation

/// Ensures that a file is UTF-8 and that the XML parser reads it as UTF-8.
enum MarkupEncoding {
    /// Returns the bytes of the file without a byte order mark. Spaces replace the XML declaration, because a declared encoding
    /// could make the parser read characters that differ from the checked characters.
    static func utf8Bytes(of data: Data, file: String) throws(ModelReaderError) -> [UInt8] {
        var bytes = [UInt8](data)
        if bytes.starts(with: Array("bplist".utf8)) {
            throw ModelReaderError(
                .binaryModel, file: file,
                "The file is a binary archive instead of XML. Open the model in Xcode 4 or newer, and save the model again."
            )
        }
        guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
            throw ModelReaderError(
                .unsupportedEncoding, file: file, "The file is not in UTF-8. Save the file as UTF-8.")
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
        // A valid declaration is shorter than this limit.
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
                    "The file declares the encoding \(encoding). Save the file as UTF-8.")
            }
        }
        return end
    }
}

/// The lines that mark Git's merge conflicts.
package enum ConflictMarker {
    private static let characters: Set<UInt8> = Set("<=>|".utf8)
    private static let length = 7

    /// Whether a line starts like a marker: seven equal characters, followed by white space or the end of the line.
    package static func starts(_ line: some Collection<UInt8>) -> Bool {
        guard let first = line.first, characters.contains(first) else { return false }
        let head = line.prefix(length)
        guard head.count == length, head.allSatisfy({ $0 == first }) else { return false }
        return line.dropFirst(length).first.map { [0x20, 0x0A, 0x0D].contains($0) } ?? true
    }

    /// Returns the number of the first marker line, counted from 1.
    ///
    /// Ignores the marker between the two sides, because a line of equal signs can also be an underline in a comment.
    static func firstLine(in data: Data) -> Int? {
        data.withUnsafeBytes { bytes in
            var line = 1
            var start = 0
            while start < bytes.count {
                let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
                if bytes[start] != 0x3D, starts(bytes[start..<end]) { return line }
                line += 1
                start = end + 1
            }
            return nil
        }
    }
}

extension ModelReaderError {
    static func mergeConflict(file: String, line: Int) -> ModelReaderError {
        ModelReaderError(
            .mergeConflict, file: file, line: line,
            "Git left a merge conflict here. Resolve the conflict: keep one side of the marked lines, or both sides, and remove the marks."
        )
    }
}
