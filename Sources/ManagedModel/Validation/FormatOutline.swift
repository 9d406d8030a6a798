/// A rough check of a predicate format, without a full parser. Finds the variables, the first names of key paths, unmatched
/// brackets and quotes, and values and operators that do not alternate.
package struct FormatOutline {
    /// The variables without the `$` and without duplicates, in the order of the format. Variables that a SUBQUERY
    /// declares are left out.
    package private(set) var variables: [String] = []
    /// The variables whose values must be objects, because the format uses their keys or a SUBQUERY uses them as its
    /// collection. Without duplicates, in the order of the format.
    package private(set) var objectVariables: [String] = []
    /// The first name of each key path that begins at the object itself. Without duplicates, in the order of the format.
    package private(set) var names: [String] = []
    /// The reason why the format is invalid.
    package private(set) var syntaxError: String?
    /// The reason why the format is probably invalid.
    package private(set) var likelyError: String?

    private var tokens: [FormatToken] = []
    /// The open SUBQUERYs, with the depth of their parentheses. The variable is nil until it is found.
    private var subqueries: [(depth: Int, variable: String?)] = []

    package init(_ format: String) {
        var scanner = FormatScanner(format)
        while let token = scanner.next() { tokens.append(token) }
        syntaxError = scanner.syntaxError
        findNames()
        if syntaxError == nil { likelyError = findLikelyError() }
    }

    private mutating func findNames() {
        var depth = 0
        for (index, token) in tokens.enumerated() {
            switch token {
            case .open:
                depth += 1
                if index > 0, case .word(let word) = tokens[index - 1], word.uppercased() == "SUBQUERY" {
                    subqueries.append((depth, nil))
                }
            case .close:
                if subqueries.last?.depth == depth { subqueries.removeLast() }
                depth -= 1
            case .variable(let name, let hasKeys): addVariable(name, hasKeys, at: index, depth)
            case .word(let word):
                let isCall = index + 1 < tokens.count && tokens[index + 1] == .open
                // Skips a bare name in the predicate of a SUBQUERY, because it is not certain which object has the key.
                guard !isCall, subqueries.last?.variable == nil, !FormatToken.isReserved(word), !names.contains(word)
                else { continue }
                names.append(word)
            case .name(let name):
                if subqueries.last?.variable == nil, !names.contains(name) { names.append(name) }
            case .comma, .value, .relation, .arithmetic: continue
            }
        }
    }

    private mutating func addVariable(_ name: String, _ hasKeys: Bool, at index: Int, _ depth: Int) {
        let before = index > 0 ? tokens[index - 1] : nil
        var isCollection = false
        if let last = subqueries.indices.last, subqueries[last].variable == nil, subqueries[last].depth == depth {
            if before == .comma {
                subqueries[last].variable = name
                return
            }
            isCollection = before == .open
        }
        if subqueries.contains(where: { $0.variable == name }) { return }
        if !variables.contains(name) { variables.append(name) }
        if hasKeys || isCollection, !objectVariables.contains(name) { objectVariables.append(name) }
    }

    /// Finds two values or two operators in a row, or an operator without a value before or after it.
    private func findLikelyError() -> String? {
        var before: FormatToken.Role?
        for (index, token) in tokens.enumerated() {
            let isCall = index + 1 < tokens.count && tokens[index + 1] == .open
            let role = token.role(isCall: isCall)
            switch (before, role) {
            case (.value, .value), (.value, .opening):
                return "its predicate has two values without an operator between them"
            case (.relation, .relation), (.opening, .relation):
                return "an operator in its predicate has no value before it"
            case (.relation, .closing): return "an operator in its predicate has no value after it"
            case (nil, .relation): return "its predicate begins with an operator"
            default: break
            }
            // A name before parentheses is the name of a function.
            if case .call = role { before = nil } else { before = role == .closing ? .value : role }
            if role == .separator || role == .prefix { before = .separator }
        }
        return before == .relation ? "its predicate ends with an operator" : nil
    }
}
