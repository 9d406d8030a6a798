/// Finds the declarations in a range of tokens. The parser skips the contents of braces, which need a parser of their own.
///
/// The parser does not check Swift. If it does not know the syntax, it skips a line or a pair of brackets, and keeps the
/// place in ``strayTokens``.
package struct DeclarationParser {
    let source: SwiftSource
    private let end: Int
    private var index: Int
    /// The number of open `#if` directives.
    private var conditions = 0
    /// The first token of each skipped part that begins no declaration. Such a part is a statement or a fault.
    package private(set) var strayTokens: [Int] = []

    package init(_ source: SwiftSource, in range: Range<Int>? = nil) {
        self.source = source
        index = range?.lowerBound ?? 0
        end = range?.upperBound ?? source.tokens.count - 1
    }

    /// Returns all declarations in their order, and skips statements. Returns no declarations if the source has a
    /// fault.
    package mutating func declarations() -> [Declaration] {
        guard source.syntaxError == nil else { return [] }
        var found: [Declaration] = []
        while index < end {
            if directive() { continue }
            if let declaration = declaration() { found.append(declaration) }
        }
        return found
    }

    /// Skips a directive such as `#if` or `#else`. Returns whether there is one.
    private mutating func directive() -> Bool {
        guard source.isSymbol(index, "#"), index + 1 < end, source.isAdjacentToPrevious(index + 1) else { return false }
        let word = source.text(of: index + 1)
        guard ["if", "elseif", "else", "endif"].contains(word) else { return false }
        if word == "if" { conditions += 1 }
        if word == "endif" { conditions = max(0, conditions - 1) }
        index += 2
        while index < end, !source.tokens[index].startsLine || source.endsInOperator(index - 1) { skipOne() }
        return true
    }

    private mutating func declaration() -> Declaration? {
        let start = index
        var declaration = Declaration(kind: .other, offset: source.tokens[start].start)
        declaration.isConditional = conditions > 0
        while index < end, source.isSymbol(index, "@"), let use = attributeUse() { declaration.attributes.append(use) }
        modifiers(&declaration)
        guard index < end, source.tokens[index].kind == .identifier, let kind = kind(at: index) else {
            skipOther(since: start)
            // Return the attributes before a misspelled keyword.
            return declaration.attributes.isEmpty ? nil : declaration
        }
        declaration.kind = kind
        declaration.offset = source.tokens[index].start
        index += 1
        switch kind {
        case .class, .struct, .enum, .actor, .protocol, .extension: nominal(&declaration)
        case .variable, .constant: property(&declaration)
        case .function, .initializer: function(&declaration)
        case .enumCase, .other:
            if source.isWord(index - 1, "typealias"), index < end, source.tokens[index].kind == .identifier {
                declaration.name = source.text(of: index)
                declaration.offset = source.tokens[index].start
            }
            rest(&declaration)
        }
        return declaration
    }

    /// Skips a part that has no keyword of a declaration: a semicolon, a use of a macro, or a stray part.
    private mutating func skipOther(since start: Int) {
        guard index < end, !source.isSymbol(index, ";") else {
            if start < index { strayTokens.append(start) }
            index += 1
            return
        }
        let isMacro =
            source.isSymbol(index, "#") && index + 1 < end && source.tokens[index + 1].kind == .identifier
            && source.isAdjacentToPrevious(index + 1)
        // A line inside of an #if that begins with a dot can continue the initial value before the #if.
        if !isMacro, conditions == 0 || !source.isSymbol(index, ".") { strayTokens.append(index) }
        repeat { skipOne() } while index < end && !isStartOfNextPart
    }

    /// Whether a token can begin a declaration after a part that is not a declaration.
    private var isStartOfNextPart: Bool {
        source.tokens[index].startsLine || source.isSymbol(index, ";") || source.isSymbol(index, "@")
            || isKeyword(index) && !source.isSymbol(index - 1, ".")
    }

    /// Whether a token is a word that Swift allows only as the keyword of a declaration.
    private func isKeyword(_ index: Int) -> Bool {
        source.tokens[index].kind == .identifier && kind(at: index) != nil
            && !source.isWord(index, "actor") && !source.isWord(index, "macro")
    }

    private func kind(at index: Int) -> Declaration.Kind? {
        let token = source.tokens[index]
        guard source.bytes[token.start] != UInt8(ascii: "`") else { return nil }
        let word = source.text(of: index)
        if let kind = Declaration.Kind(rawValue: word), kind != .other { return kind }
        return Self.otherKeywords.contains(word) ? .other : nil
    }

    private static let otherKeywords: Set<String> = [
        "subscript", "deinit", "typealias", "associatedtype", "import", "operator", "precedencegroup", "macro",
    ]

    // MARK: Before the keyword

    private mutating func attributeUse() -> AttributeUse? {
        let offset = source.tokens[index].start
        guard index + 1 < end, source.tokens[index + 1].kind == .identifier else { return nil }
        var names = [source.text(of: index + 1)]
        index += 2
        while let separator = lengthOfSeparator {
            names.append(source.text(of: index + separator))
            index += separator + 1
        }
        if names.count > 1, names[0] == "CoreDataSource" { names.removeFirst() }
        var use = AttributeUse(name: names.joined(separator: "."), offset: offset)
        if index < end, source.isSymbol(index, "<") { skipAngles() }
        // There can be a space before the parenthesis. In the language mode of Swift 5, the compiler warns of such a space. In
        // the language mode of Swift 6, the compiler refuses the space.
        if index < end, source.isSymbol(index, "("), !source.tokens[index].startsLine, let arguments = brackets() {
            use.arguments = arguments
        }
        return use
    }

    /// The number of symbols between two parts of an attribute's name: a dot, or the two colons after a module. Nil if
    /// no further part follows.
    private var lengthOfSeparator: Int? {
        let length = index < end && source.isSymbol(index, ".") ? 1 : 2
        guard index + length < end, source.tokens[index + length].kind == .identifier else { return nil }
        guard length == 1 || source.isSymbol(index, ":") && source.isSymbol(index + 1, ":") else { return nil }
        return length
    }

    private mutating func modifiers(_ declaration: inout Declaration) {
        while index < end, source.tokens[index].kind == .identifier {
            let word = source.text(of: index)
            let isModifier = Self.modifiers.contains(word) || word == "class" && isModifierClass
            guard isModifier, source.bytes[source.tokens[index].start] != UInt8(ascii: "`") else { return }
            index += 1
            if index < end, source.isSymbol(index, "("), let arguments = brackets() {
                declaration.modifiers.insert("\(word)(\(source.text(ofTokens: arguments)))")
            } else {
                declaration.modifiers.insert(word)
            }
        }
    }

    /// Whether `class` is a modifier of a member, and not the keyword of a class. The name of a class can be a keyword in
    /// backticks, or a word that is also a modifier, as in `class open: Base`.
    private var isModifierClass: Bool {
        guard index + 1 < end else { return false }
        let token = source.tokens[index + 1]
        let next = source.text(token.start..<token.end)
        if ["var", "let", "func", "subscript"].contains(next) { return true }
        let isName = index + 2 < end && [":", "{", "<"].contains { source.isSymbol(index + 2, $0) }
        return Self.modifiers.contains(next) && !isName
    }

    private static let modifiers: Set<String> = [
        "public", "private", "fileprivate", "internal", "package", "open", "final", "static", "override", "required",
        "convenience", "lazy", "weak", "unowned", "nonisolated", "isolated", "dynamic", "mutating", "nonmutating",
        "indirect",
        "prefix", "postfix", "infix", "optional", "borrowing", "consuming", "distributed", "unsafe", "safe",
        "_const", "__consuming", "__owned", "__shared",
    ]

    // MARK: After the keyword

    private mutating func nominal(_ declaration: inout Declaration) {
        if index < end, source.tokens[index].kind == .identifier {
            declaration.offset = source.tokens[index].start
            declaration.name = source.text(of: index)
            index += 1
            // The name of the extended type can have several parts.
            while declaration.kind == .extension, index + 1 < end, source.isSymbol(index, ".") {
                declaration.name += "." + source.text(of: index + 1)
                index += 2
            }
        }
        if index < end, source.isSymbol(index, "<") {
            declaration.hasGenericParameters = true
            skipAngles()
        }
        if index < end, source.isSymbol(index, ":") {
            index += 1
            inherited(&declaration)
        }
        while index < end, !source.isSymbol(index, "{"), !isStartOfNextDeclaration { skipOne() }
        if index < end, source.isSymbol(index, "{") { declaration.body = brackets() }
    }

    private mutating func inherited(_ declaration: inout Declaration) {
        var start = index
        while index < end {
            if source.isSymbol(index, "{") || source.isWord(index, "where") { break }
            if source.isSymbol(index, ",") {
                declaration.inherited.append(start..<index)
                index += 1
                start = index
            } else if source.isSymbol(index, "<") {
                skipAngles()
            } else {
                skipOne()
            }
        }
        if start < index { declaration.inherited.append(start..<index) }
    }

    private mutating func function(_ declaration: inout Declaration) {
        if index < end, source.tokens[index].kind == .identifier, declaration.kind == .function {
            declaration.offset = source.tokens[index].start
            declaration.name = source.text(of: index)
        }
        rest(&declaration)
    }

    /// Skips tokens up to the end of the body, or up to the next declaration.
    private mutating func rest(_ declaration: inout Declaration) {
        while index < end, !isStartOfNextDeclaration {
            if source.isSymbol(index, "{") {
                declaration.body = brackets()
                return
            }
            if source.isSymbol(index, ";") || source.isSymbol(index, "}") { return index += 1 }
            skipOne()
        }
    }

    private mutating func property(_ declaration: inout Declaration) {
        guard index < end, source.tokens[index].kind == .identifier || source.isSymbol(index, "(") else {
            declaration.isPattern = true
            return rest(&declaration)
        }
        if source.tokens[index].kind == .identifier {
            declaration.offset = source.tokens[index].start
            declaration.name = source.text(of: index)
        } else {
            declaration.isPattern = true
        }
        skipOne()
        if index < end, source.isSymbol(index, ":") {
            index += 1
            declaration.type = type()
        }
        if index < end, source.isSymbol(index, "=") {
            index += 1
            declaration.initialValue = value()
        }
        if index < end, source.isSymbol(index, "{") { declaration.accessors = brackets() }
        if index < end, source.isSymbol(index, ",") {
            declaration.isPattern = true
            while index < end, !isStartOfNextDeclaration { skipOne() }
        }
        if index < end, source.isSymbol(index, ";") { index += 1 }
    }

    private mutating func type() -> Range<Int> {
        let start = index
        while index < end {
            if source.isSymbol(index, "=") || source.isSymbol(index, "{") || source.isSymbol(index, ",")
                || source.isSymbol(index, ";")
            {
                break
            }
            if index > start, source.tokens[index].startsLine, !source.continuesType(index) { break }
            if source.isSymbol(index, "<") { skipAngles() } else { skipOne() }
        }
        return start..<index
    }

    /// Returns the initial value. The value ends before a comma, a semicolon, the braces of observers, or a line that
    /// does not continue the expression.
    private mutating func value() -> Range<Int> {
        let start = index
        while index < end {
            if source.isSymbol(index, ",") || source.isSymbol(index, ";") { break }
            if index > start, source.isSymbol(index, "{"), hasObservers { break }
            if source.tokens[index].startsLine, index == start ? isKeyword(index) : !continuesValue {
                break
            }
            skipOne()
        }
        return start..<index
    }

    private var hasObservers: Bool {
        let close = source.matchingBrackets[index]
        return close > index && source.beginsObservers(index + 1..<min(close, end))
    }

    /// Whether a token at the start of a line continues the initial value. The keyword of a declaration never does.
    private var continuesValue: Bool {
        (!isKeyword(index) || source.isSymbol(index - 1, ".")) && source.continuesExpression(index)
    }

    // MARK: Skipping

    private var isStartOfNextDeclaration: Bool {
        guard source.tokens[index].startsLine, index > 0 else { return false }
        if source.isSymbol(index, "@") || source.isSymbol(index, "#") { return !source.endsInOperator(index - 1) }
        if source.isSymbol(index, "}") { return true }
        guard source.tokens[index].kind == .identifier else { return false }
        return kind(at: index) != nil || Self.modifiers.contains(source.text(of: index))
    }

    /// Skips one token, or a pair of brackets with its contents.
    private mutating func skipOne() {
        let partner = source.matchingBrackets[index]
        index = partner > index ? min(partner + 1, end) : index + 1
    }

    private mutating func brackets() -> Range<Int>? {
        let partner = source.matchingBrackets[index]
        guard partner > index else {
            index += 1
            return nil
        }
        let content = index + 1..<partner
        index = min(partner + 1, end)
        return content
    }

    /// Skips generic parameters or arguments. The `>` of an arrow does not close them.
    private mutating func skipAngles() {
        var depth = 0
        while index < end {
            if source.isSymbol(index, "<") { depth += 1 }
            if source.isSymbol(index, ">"), !(source.isSymbol(index - 1, "-") && source.isAdjacentToPrevious(index)) {
                depth -= 1
            }
            if source.isSymbol(index, "{") || source.isSymbol(index, ";") { return }
            skipOne()
            if depth == 0 { return }
        }
    }
}
