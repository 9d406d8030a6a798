#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A pattern. `?` matches one character, `*` matches any number of characters, and `\` escapes the next character.
///
/// As people expect, a character includes its diacritics. The asterisks divide the pattern into parts. A part without `?` is found
/// in time proportional to the length of the string. A part with many `?` can take more steps than the query's budget allows.
struct WildcardPattern: Sendable {
    /// The parts of the pattern, separated by `*`. The first part must match the beginning of the string, and the last part the
    /// end.
    private let parts: [WildcardPart]
    private let options: StringOptions

    /// The number of free character comparisons for each character of a string.
    private static let freeSteps = 4

    init(_ pattern: String, _ options: StringOptions) {
        self.options = options
        var parts: [[WildcardPart.Token]] = [[]]
        var literal = ""
        var isEscaped = false
        func end() {
            if literal.isEmpty { return }
            let folded = TextFolding.bytes(literal, options)
            folded.withUnsafeBytes { bytes in
                parts[parts.count - 1] += WildcardPattern.characters(bytes).map { .character(Array(bytes[$0])) }
            }
            literal = ""
        }
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "?" where !isEscaped:
                end()
                parts[parts.count - 1].append(.anyCharacter)
            case "*" where !isEscaped:
                end()
                parts.append([])
            default: literal.unicodeScalars.append(scalar)
            }
            isEscaped = false
        }
        if isEscaped { literal.append("\\") }
        end()
        self.parts = parts.map { WildcardPart($0) }
    }

    func matchResult(_ text: UnsafeRawBufferPointer, _ budget: QueryBudget) -> StringMatcher.MatchResult {
        guard options.folds else { return match(text, budget) }
        return TextFolding.bytes(text, options).withUnsafeBytes { match($0, budget) }
    }

    private func match(_ bytes: UnsafeRawBufferPointer, _ budget: QueryBudget) -> StringMatcher.MatchResult {
        let text = WildcardText(bytes: bytes, characters: WildcardPattern.characters(bytes))
        let (first, last) = (parts[0], parts[parts.count - 1])
        if parts.count == 1 { return first.count == text.count && first.occurs(at: 0, in: text) ? .yes : .no }
        let end = text.count - last.count
        guard first.count <= end, first.occurs(at: 0, in: text), last.occurs(at: end, in: text) else { return .no }
        // Take the first match of each part, because it leaves the most room for the next parts.
        var position = first.count
        let free = text.count * WildcardPattern.freeSteps
        var steps = free + max(0, budget.stepsLeft)
        defer { spendExtraSteps(steps, free, budget) }
        for part in parts.dropFirst().dropLast() {
            guard let start = part.find(in: text, position..<end, &steps) else {
                return steps <= 0 ? .tooManySteps : .no
            }
            position = start + part.count
        }
        return .yes
    }

    /// Spends the steps that exceed the free steps.
    private func spendExtraSteps(_ left: Int, _ free: Int, _ budget: QueryBudget) {
        let spent = free + max(0, budget.stepsLeft) - left
        if spent > free { _ = budget.spend(spent - free) }
    }

    /// Returns the byte range of each character.
    static func characters(_ text: UnsafeRawBufferPointer) -> [Range<Int>] {
        // In ASCII, only a carriage return can be part of a longer character.
        if text.allSatisfy({ $0 < 0x80 && $0 != 0x0D }) { return text.indices.map { $0..<$0 + 1 } }
        var characters: [Range<Int>] = []
        var start = 0
        let string = String(decoding: text, as: UTF8.self)
        guard string.utf8.count == text.count else { return text.indices.map { $0..<$0 + 1 } }
        for character in string {
            let end = start + character.utf8.count
            characters.append(start..<end)
            start = end
        }
        return characters
    }
}

/// A string as a list of characters.
struct WildcardText {
    let bytes: UnsafeRawBufferPointer
    let characters: [Range<Int>]

    var count: Int { characters.count }
}

/// Consecutive characters of a pattern, which may include `?`.
struct WildcardPart: Sendable {
    enum Token: Hashable {
        case anyCharacter
        /// The folded bytes of a character.
        case character([UInt8])
    }

    private let tokens: [Token]
    /// For each token, the length of the longest proper suffix of the tokens up to this token that is also a prefix of the part.
    /// This is the failure function of Knuth, Morris and Pratt. Nil if the part has a `?`.
    private let borders: [Int]?

    var count: Int { tokens.count }

    init(_ tokens: [Token]) {
        self.tokens = tokens
        if tokens.contains(.anyCharacter) {
            borders = nil
            return
        }
        var borders: [Int] = []
        borders.reserveCapacity(tokens.count)
        for index in tokens.indices {
            guard index > 0 else {
                borders.append(0)
                continue
            }
            var length = borders[index - 1]
            while length > 0, tokens[index] != tokens[length] { length = borders[length - 1] }
            borders.append(tokens[index] == tokens[length] ? length + 1 : length)
        }
        self.borders = borders
    }

    /// Returns whether the part occurs at a position of the string. From this position on, the string must have at least as many
    /// characters as the part.
    func occurs(at index: Int, in text: WildcardText) -> Bool {
        tokens.indices.allSatisfy { matches($0, index + $0, text) }
    }

    /// Returns the first position of the part in a range; nil if there is none.
    ///
    /// - Parameter steps: The number of characters that may be compared. After the call, the number that is left; less than 1
    ///   if the given number was not enough.
    func find(in text: WildcardText, _ range: Range<Int>, _ steps: inout Int) -> Int? {
        if count > range.count { return nil }
        if let borders { return find(in: text, range, borders) }
        for start in range.lowerBound...(range.upperBound - count) {
            var index = 0
            while index < count, matches(index, start + index, text) { index += 1 }
            if index == count { return start }
            steps -= index + 1
            if steps <= 0 { return nil }
        }
        return nil
    }

    /// Finds the part with the algorithm of Knuth, Morris and Pratt. The characters before a mismatch are not compared again.
    private func find(in text: WildcardText, _ range: Range<Int>, _ borders: [Int]) -> Int? {
        if tokens.isEmpty { return range.lowerBound }
        var length = 0
        for position in range {
            while length > 0, !matches(length, position, text) { length = borders[length - 1] }
            if matches(length, position, text) { length += 1 }
            if length == count { return position - count + 1 }
        }
        return nil
    }

    private func matches(_ token: Int, _ position: Int, _ text: WildcardText) -> Bool {
        guard case .character(let bytes) = tokens[token] else { return true }
        return UnsafeRawBufferPointer(rebasing: text.bytes[text.characters[position]]).elementsEqual(bytes)
    }
}

enum ByteSearch {
    /// The maximum number of bytes that a simple loop searches for. The loop can take time proportional to the product of the
    /// length of these bytes and the length of the text. More bytes are searched for by an algorithm whose time is proportional
    /// to the sum of both lengths.
    private static let longWanted = 64

    static func contains(_ needle: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
        guard let first = needle.first else { return true }
        if needle.count > longWanted { return containsLong(needle, in: text) }
        guard let start = text.baseAddress, let other = needle.baseAddress else { return false }
        var position = 0
        while position + needle.count <= text.count {
            let room = text.count - needle.count - position + 1
            guard let hit = memchr(start + position, Int32(first), room) else { return false }
            if memcmp(hit, other, needle.count) == 0 { return true }
            position = UnsafeRawPointer(hit) - start + 1
        }
        return false
    }

    static func begins(_ text: UnsafeRawBufferPointer, with needle: UnsafeRawBufferPointer) -> Bool {
        needle.count <= text.count && compareBytes(UnsafeRawBufferPointer(rebasing: text[..<needle.count]), needle) == 0
    }

    static func ends(_ text: UnsafeRawBufferPointer, with needle: UnsafeRawBufferPointer) -> Bool {
        needle.count <= text.count
            && compareBytes(UnsafeRawBufferPointer(rebasing: text[(text.count - needle.count)...]), needle) == 0
    }

    /// Finds the bytes with the algorithm of Knuth, Morris and Pratt. The bytes before a mismatch are not compared again.
    private static func containsLong(_ needle: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
        if needle.count > text.count { return false }
        var borders = [0]
        borders.reserveCapacity(needle.count)
        var length = 0
        for index in 1..<needle.count {
            while length > 0, needle[index] != needle[length] { length = borders[length - 1] }
            if needle[index] == needle[length] { length += 1 }
            borders.append(length)
        }
        length = 0
        for byte in text {
            while length > 0, byte != needle[length] { length = borders[length - 1] }
            if byte == needle[length] { length += 1 }
            if length == needle.count { return true }
        }
        return false
    }
}
