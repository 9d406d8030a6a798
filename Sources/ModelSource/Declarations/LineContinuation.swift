/// Decides whether a type or an expression continues in the next line.
extension SwiftSource {
    /// Whether a token at the start of a line continues the type on the line before.
    func continuesType(_ index: Int) -> Bool {
        if [".", "?", "&", "<"].contains(where: { isSymbol(index, $0) }) || isArrow(index) { return true }
        if [".", "&", ":"].contains(where: { isSymbol(index - 1, $0) }) { return true }
        return index > 1 && isArrow(index - 2) || isOneOf(["async", "throws", "rethrows"], index)
            || isOneOf(["any", "some", "inout", "sending", "borrowing", "consuming", "async", "throws"], index - 1)
    }

    private func isArrow(_ index: Int) -> Bool {
        isSymbol(index, "-") && isSymbol(index + 1, ">") && isAdjacentToPrevious(index + 1)
    }

    /// Whether a token at the start of a line continues the expression on the line before.
    func continuesExpression(_ index: Int) -> Bool {
        let token = tokens[index]
        switch token.kind {
        case .symbol:
            let symbol = bytes[token.start]
            if symbol == UInt8(ascii: "@") || symbol == UInt8(ascii: "#") { return endsInOperator(index - 1) }
            return symbol != UInt8(ascii: "(") && symbol != UInt8(ascii: "[") && symbol != UInt8(ascii: "}")
                || endsInOperator(index - 1)
        case .identifier where isOneOf(["as", "is", "else"], index): return true
        // The label of a further trailing closure.
        case .identifier where isSymbol(index + 1, ":") && index + 2 < tokens.count && isSymbol(index + 2, "{"):
            return true
        default: return endsInOperator(index - 1) || isOneOf(Self.wordsBeforeExpressions, index - 1)
        }
    }

    private static let wordsBeforeExpressions: Set<String> = [
        "try", "await", "as", "is", "else", "in", "unsafe", "consume", "copy", "any", "some", "if", "switch",
    ]

    private func isOneOf(_ words: Set<String>, _ index: Int) -> Bool {
        let token = tokens[index]
        return token.kind == .identifier && words.contains(text(token.start..<token.end))
    }

    /// Whether an expression that ends its line with this token continues in the next line. The expression continues after a
    /// binary operator, which has a space before it. An operator that touches the token before it is a postfix operator, or the
    /// end of a generic type.
    func endsInOperator(_ index: Int) -> Bool {
        guard tokens[index].kind == .symbol else { return false }
        switch bytes[tokens[index].start] {
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): return false
        case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: ":"), UInt8(ascii: ","),
            UInt8(ascii: "\\"):
            return true
        case UInt8(ascii: "."): if !isAdjacentToPrevious(index) || !isSymbol(index - 1, ".") { return true }
        default: break
        }
        var first = index
        while isAdjacentToPrevious(first), tokens[first - 1].kind == .symbol, !isBracket(first - 1) { first -= 1 }
        return !isAdjacentToPrevious(first) || isOpeningBracket(first - 1)
    }

    private func isBracket(_ index: Int) -> Bool {
        "()[]{}".utf8.contains(bytes[tokens[index].start])
    }

    private func isOpeningBracket(_ index: Int) -> Bool {
        tokens[index].kind == .symbol && "([{".utf8.contains(bytes[tokens[index].start])
    }

    /// Whether the tokens between the braces of a property begin with an observer. The words `didSet` and `willSet` alone
    /// do not make an observer, because a getter can also begin with a name of this spelling.
    func beginsObservers(_ range: Range<Int>) -> Bool {
        var index = range.lowerBound
        while index + 1 < range.upperBound, isSymbol(index, "@") {
            index += 2
            if isSymbol(index, "("), isAdjacentToPrevious(index), matchingBrackets[index] > index {
                index = matchingBrackets[index] + 1
            }
        }
        guard index < range.upperBound, isWord(index, "didSet") || isWord(index, "willSet") else { return false }
        index += 1
        if index < range.upperBound, isSymbol(index, "("), matchingBrackets[index] > index {
            index = matchingBrackets[index] + 1
        }
        return index < range.upperBound && isSymbol(index, "{")
    }
}
