internal import Foundation

/// The lines that Git puts into a file that it could not merge.
package enum ConflictMarker {
    private static let characters: Set<UInt8> = Set("<=>|".utf8)
    private static let length = 7

    /// Whether a line begins like such a line: seven times the same character, followed by nothing or a space.
    package static func starts(_ line: some Collection<UInt8>) -> Bool {
        guard let first = line.first, characters.contains(first) else { return false }
        let head = line.prefix(length)
        guard head.count == length, head.allSatisfy({ $0 == first }) else { return false }
        return line.dropFirst(length).first.map { [0x20, 0x0A, 0x0D].contains($0) } ?? true
    }

    /// The number of the first line, counted from 1, that begins one of the two sides of a conflict.
    ///
    /// The line between the sides is ignored, because alone it can be an underline in a comment.
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
            "Git left a merge conflict here. Resolve it: keep one side of the marked lines, or both, and remove the marks."
        )
    }
}
