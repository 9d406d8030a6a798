/// A string, character by character.
struct WildcardText {
    let bytes: UnsafeRawBufferPointer
    let characters: [Range<Int>]

    var count: Int { characters.count }
}

/// Consecutive characters, some of which may be any character.
struct WildcardPart: Sendable {
    enum Token: Hashable {
        case one
        /// The folded bytes of a character.
        case character([UInt8])
    }

    private let tokens: [Token]
    /// How many tokens before each position, including it, equal those at the beginning. Nil if there is a character that may
    /// be any.
    private let borders: [Int]?

    var count: Int { tokens.count }

    init(_ tokens: [Token]) {
        self.tokens = tokens
        if tokens.contains(.one) {
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

    /// Whether the part occurs at a position of a string that is long enough.
    func stands(at place: Int, in text: WildcardText) -> Bool {
        tokens.indices.allSatisfy { matches($0, place + $0, text) }
    }

    /// The first position of the part in a range.
    ///
    /// - Parameter steps: How many characters may be compared; less than 1 afterwards if that was not enough.
    func find(in text: WildcardText, _ range: Range<Int>, _ steps: inout Int) -> Int? {
        if count > range.count { return nil }
        if let borders { return find(in: text, range, borders) }
        for place in range.lowerBound...(range.upperBound - count) {
            var index = 0
            while index < count, matches(index, place + index, text) { index += 1 }
            if index == count { return place }
            steps -= index + 1
            if steps <= 0 { return nil }
        }
        return nil
    }

    /// The algorithm of Knuth, Morris and Pratt: no character of the string is compared again after a mismatch.
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
