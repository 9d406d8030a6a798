/// A pattern in which `?` is any one character and `*` any number of characters; `\` escapes the next character.
///
/// A character is what a person sees as one, including its marks. Parts without `?` are found in time proportional to the
/// length of the string; a part with many of them can take more steps than the query's budget allows.
struct WildcardPattern: Sendable {
    /// The parts between two `*`, the beginning and the end; the first and the last have fixed positions.
    private let parts: [WildcardPart]
    private let options: StringOptions

    /// How many character comparisons are free for each character of a string.
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
                parts[parts.count - 1].append(.one)
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

    func answer(_ text: UnsafeRawBufferPointer, _ budget: QueryBudget) -> StringMatcher.Answer {
        guard options.folds else { return match(text, budget) }
        return TextFolding.bytes(text, options).withUnsafeBytes { match($0, budget) }
    }

    private func match(_ bytes: UnsafeRawBufferPointer, _ budget: QueryBudget) -> StringMatcher.Answer {
        let text = WildcardText(bytes: bytes, characters: WildcardPattern.characters(bytes))
        let (first, last) = (parts[0], parts[parts.count - 1])
        if parts.count == 1 { return first.count == text.count && first.stands(at: 0, in: text) ? .yes : .no }
        let end = text.count - last.count
        guard first.count <= end, first.stands(at: 0, in: text), last.stands(at: end, in: text) else { return .no }
        // The first position for each part leaves the most room for the others.
        var position = first.count
        let free = text.count * WildcardPattern.freeSteps
        var steps = free + max(0, budget.stepsLeft)
        defer { pay(steps, free, budget) }
        for part in parts.dropFirst().dropLast() {
            guard let place = part.find(in: text, position..<end, &steps) else {
                return steps <= 0 ? .tooManySteps : .no
            }
            position = place + part.count
        }
        return .yes
    }

    /// Pays for the steps beyond the free ones.
    private func pay(_ left: Int, _ free: Int, _ budget: QueryBudget) {
        let spent = free + max(0, budget.stepsLeft) - left
        if spent > free { _ = budget.spend(spent - free) }
    }

    /// The position of each character.
    static func characters(_ text: UnsafeRawBufferPointer) -> [Range<Int>] {
        // Of ASCII, only a carriage return can be part of a longer character.
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
