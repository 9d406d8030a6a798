extension SwiftSource {
    /// Returns the value of a string literal. Returns nil if the literal has an interpolation or an invalid escape.
    package func stringValue(of index: Int) -> String? {
        let token = tokens[index]
        guard token.kind == .string else { return nil }
        var start = token.start
        while bytes[start] == UInt8(ascii: "#") { start += 1 }
        let pounds = start - token.start
        // A raw string that begins with three quotes and ends on the same line is not multiline.
        let isMultiline =
            token.end - token.start - 2 * pounds >= 6
            && bytes[start..<start + 3].allSatisfy { $0 == UInt8(ascii: "\"") }
            && (pounds == 0
                || bytes[start..<token.end].contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") })
        let quotes = isMultiline ? 3 : 1
        let content = bytes[start + quotes..<max(start + quotes, token.end - pounds - quotes)]
        guard isMultiline else { return StringUnescaping(pounds: pounds).string(of: content) }
        guard let lines = SwiftSource.lines(of: content) else { return nil }
        return StringUnescaping(pounds: pounds).string(of: lines)
    }

    /// Returns the content of a multiline literal, without the indentation of its last line.
    private static func lines(of content: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        lines = lines.map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
        guard lines.count >= 2, let first = lines.first, first.allSatisfy(\.isBlank), let indentation = lines.last,
            indentation.allSatisfy(\.isBlank)
        else { return nil }
        var result: [UInt8] = []
        for (number, line) in lines.dropFirst().dropLast().enumerated() {
            if number > 0 { result.append(UInt8(ascii: "\n")) }
            if line.starts(with: indentation) {
                result += line.dropFirst(indentation.count)
            } else if !line.allSatisfy(\.isBlank) {
                return nil
            }
        }
        return result[...]
    }
}

/// Replaces the escapes in the content of a string literal.
private struct StringUnescaping {
    let pounds: Int

    func string(of content: ArraySlice<UInt8>) -> String? {
        var result: [UInt8] = []
        result.reserveCapacity(content.count)
        var rest = content
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), rest.prefix(pounds).count == pounds,
                rest.prefix(pounds).allSatisfy({ $0 == UInt8(ascii: "#") })
            else {
                result.append(byte)
                continue
            }
            rest = rest.dropFirst(pounds)
            guard append(&rest, to: &result) else { return nil }
        }
        return String(validating: result, as: UTF8.self)
    }

    private func append(_ rest: inout ArraySlice<UInt8>, to result: inout [UInt8]) -> Bool {
        switch rest.popFirst() {
        case UInt8(ascii: "n"): result.append(UInt8(ascii: "\n"))
        case UInt8(ascii: "r"): result.append(UInt8(ascii: "\r"))
        case UInt8(ascii: "t"): result.append(UInt8(ascii: "\t"))
        case UInt8(ascii: "0"): result.append(0)
        case UInt8(ascii: "\\"): result.append(UInt8(ascii: "\\"))
        case UInt8(ascii: "\""): result.append(UInt8(ascii: "\""))
        case UInt8(ascii: "'"): result.append(UInt8(ascii: "'"))
        case UInt8(ascii: "\n"): break
        case UInt8(ascii: "u"):
            guard rest.popFirst() == UInt8(ascii: "{"), let end = rest.firstIndex(of: UInt8(ascii: "}")),
                let number = UInt32(String(decoding: rest[rest.startIndex..<end], as: UTF8.self), radix: 16),
                let scalar = Unicode.Scalar(number)
            else { return false }
            rest = rest[(end + 1)...]
            result += Array(String(Character(scalar)).utf8)
        default: return false
        }
        return true
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
