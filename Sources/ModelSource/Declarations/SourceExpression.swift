internal import DeclarationRules
internal import Foundation

/// An expression that consists of literals: an argument of a macro, or a default value of an attribute.
package indirect enum SourceExpression: Sendable, Equatable {
    /// A number in the spelling of the source, with its sign but without underscores.
    case number(String)
    case string(String)
    case boolean(Bool)
    case none
    case list([SourceExpression])
    case dictionary([SourceArgument.Pair])
    /// `Name(label: value)`, without the name of a module. The name is empty for `.init(...)`, and begins with a dot for
    /// `.name(...)`.
    case call(String, [SourceArgument])
    /// `.name` or `Type.name`
    case member(type: String?, name: String)
    /// `Name.self`
    case type(String)
    /// A range. Either bound can be missing. The upper bound is excluded if the range is half open.
    case range(lower: SourceExpression?, upper: SourceExpression?, isHalfOpen: Bool)
}

package struct SourceArgument: Sendable, Equatable {
    package var label: String
    package var value: SourceExpression
    /// The byte offset of the value.
    package var offset: Int

    package struct Pair: Sendable, Equatable {
        package var key: SourceExpression
        package var value: SourceExpression

        package init(key: SourceExpression, value: SourceExpression) {
            (self.key, self.value) = (key, value)
        }
    }

    package init(label: String, value: SourceExpression, offset: Int) {
        (self.label, self.value, self.offset) = (label, value, offset)
    }

    package static func == (lhs: SourceArgument, rhs: SourceArgument) -> Bool {
        lhs.label == rhs.label && lhs.value == rhs.value
    }
}

/// Parses expressions that consist of literals. Returns nil for any other expression.
package struct ExpressionParser {
    private let source: SwiftSource
    private let end: Int
    private(set) var index: Int
    private var depth = 0
    static let nestingLimit = 32

    package init(_ source: SwiftSource, in range: Range<Int>) {
        self.source = source
        index = range.lowerBound
        end = range.upperBound
    }

    /// Returns the expression that fills the range.
    package static func expression(_ source: SwiftSource, in range: Range<Int>) -> SourceExpression? {
        var parser = ExpressionParser(source, in: range)
        guard let value = parser.expression(), parser.index == parser.end else { return nil }
        return value
    }

    /// Returns the arguments of a call or an attribute. The value is nil if an argument does not consist of literals.
    package static func arguments(
        _ source: SwiftSource, in range: Range<Int>
    ) -> [(label: String, value: SourceExpression?, tokens: Range<Int>)] {
        var found: [(String, SourceExpression?, Range<Int>)] = []
        var start = range.lowerBound
        while start < range.upperBound {
            var next = start
            while next < range.upperBound, !source.isSymbol(next, ",") {
                let partner = source.matchingBrackets[next]
                next = partner > next ? partner + 1 : next + 1
            }
            var label = ""
            if start + 1 < next, source.tokens[start].kind == .identifier, source.isSymbol(start + 1, ":") {
                label = source.text(of: start)
                start += 2
            }
            next = min(next, range.upperBound)
            let tokens = start..<max(start, next)
            found.append((label, expression(source, in: tokens), tokens))
            start = next + 1
        }
        return found
    }

    private mutating func expression() -> SourceExpression? {
        guard depth < Self.nestingLimit else { return nil }
        depth += 1
        defer { depth -= 1 }
        if isDots(index) { return range(from: nil) }
        guard let value = primary() else { return nil }
        return isDots(index) ? range(from: value) : value
    }

    private func symbol(_ offset: Int, _ symbol: Unicode.Scalar) -> Bool {
        index + offset < end && source.isSymbol(index + offset, symbol)
    }

    private func isDots(_ index: Int) -> Bool {
        guard index + 2 < source.tokens.count, index + 1 < end, source.isSymbol(index, "."),
            source.isSymbol(index + 1, "."),
            source.isAdjacentToPrevious(index + 1)
        else { return false }
        return index + 2 < end && source.isAdjacentToPrevious(index + 2)
            && (source.isSymbol(index + 2, ".") || source.isSymbol(index + 2, "<"))
    }

    private mutating func range(from lower: SourceExpression?) -> SourceExpression? {
        let isHalfOpen = source.isSymbol(index + 2, "<")
        index += 3
        guard index < end else { return lower.map { .range(lower: $0, upper: nil, isHalfOpen: false) } }
        guard let upper = primary() else { return nil }
        return .range(lower: lower, upper: upper, isHalfOpen: isHalfOpen)
    }

    private mutating func primary() -> SourceExpression? {
        guard index < end else { return nil }
        switch source.tokens[index].kind {
        case .string:
            index += 1
            return source.stringValue(of: index - 1).map { .string($0) }
        case .number:
            index += 1
            return .number(source.text(of: index - 1).replacing("_", with: ""))
        case .symbol: return symbolic()
        case .identifier: return named()
        case .regex, .end: return nil
        }
    }

    private mutating func symbolic() -> SourceExpression? {
        if symbol(0, "-"), index + 1 < end, source.tokens[index + 1].kind == .number {
            index += 2
            return .number("-" + source.text(of: index - 1).replacing("_", with: ""))
        }
        if symbol(0, "["), source.matchingBrackets[index] > index { return collection() }
        if symbol(0, "("), source.matchingBrackets[index] > index { return parenthesized() }
        if symbol(0, "."), index + 1 < end, source.tokens[index + 1].kind == .identifier {
            let name = source.text(of: index + 1)
            index += 2
            if symbol(0, "(") { return arguments().map { .call(name == "init" ? "" : "." + name, $0) } }
            return .member(type: nil, name: name)
        }
        return nil
    }

    private mutating func parenthesized() -> SourceExpression? {
        let close = source.matchingBrackets[index]
        index += 1
        guard close < end, let value = expression(), index == close else { return nil }
        index = close + 1
        return value
    }

    private mutating func named() -> SourceExpression? {
        if source.isWord(index, "true") || source.isWord(index, "false") || source.isWord(index, "nil") {
            index += 1
            return source.isWord(index - 1, "nil") ? SourceExpression.none : .boolean(source.isWord(index - 1, "true"))
        }
        var names = [source.text(of: index)]
        index += 1
        while symbol(0, "."), index + 1 < end, source.tokens[index + 1].kind == .identifier, !isDots(index) {
            names.append(source.text(of: index + 1))
            index += 2
        }
        if symbol(0, "("), source.isAdjacentToPrevious(index) {
            if names.last == "init" { names.removeLast() }
            if names.count > 1, SourceNames.modules.contains(names[0]) { names.removeFirst() }
            let name = names.joined(separator: ".")
            return arguments().map { .call(name, $0) }
        }
        guard let last = names.popLast(), !names.isEmpty else { return nil }
        let type = names.joined(separator: ".")
        return last == "self" ? .type(type) : .member(type: type, name: last)
    }

    private mutating func arguments() -> [SourceArgument]? {
        let close = source.matchingBrackets[index]
        guard close > index, close < end, depth < Self.nestingLimit else { return nil }
        index += 1
        var found: [SourceArgument] = []
        while index < close {
            var label = ""
            if source.tokens[index].kind == .identifier, symbol(1, ":") {
                label = source.text(of: index)
                index += 2
            }
            let offset = source.tokens[index].start
            guard let value = expression() else { return nil }
            found.append(SourceArgument(label: label, value: value, offset: offset))
            guard symbol(0, ",") || index == close else { return nil }
            if index < close { index += 1 }
        }
        index = close + 1
        return found
    }

    private mutating func collection() -> SourceExpression? {
        let close = source.matchingBrackets[index]
        guard close < end else { return nil }
        index += 1
        if symbol(0, ":"), index + 1 == close {
            index = close + 1
            return .dictionary([])
        }
        var elements: [SourceExpression] = []
        var pairs: [SourceArgument.Pair] = []
        while index < close {
            guard let element = expression() else { return nil }
            if symbol(0, ":") {
                index += 1
                guard let value = expression() else { return nil }
                pairs.append(SourceArgument.Pair(key: element, value: value))
            } else {
                elements.append(element)
            }
            guard symbol(0, ",") || index == close else { return nil }
            if index < close { index += 1 }
        }
        index = close + 1
        guard elements.isEmpty || pairs.isEmpty else { return nil }
        return pairs.isEmpty ? .list(elements) : .dictionary(pairs)
    }
}
