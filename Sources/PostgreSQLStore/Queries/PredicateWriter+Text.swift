internal import RowStore

/// String operators that compare bytes. Folded strings, characters and regular expressions are tested on this side.
extension PredicateWriter {
    mutating func text(
        _ value: RowExpression, _ matcher: StringMatcher, isNegated: Bool, depth: Int
    ) -> SQLTerm {
        guard !matcher.options.folds, matcher.comparison != .matches, let value = self.value(value, depth: depth),
            value.storage == .text
        else { return .unknown }
        if matcher.comparison == .like {
            return like(value, WildcardLiterals(matcher.pattern), isNegated: isNegated)
        }
        // No string on a server contains NUL, so this string matches nothing.
        if matcher.pattern.hasNUL { return .constant(isNegated) }
        let pattern = add(.text(matcher.pattern), .text)
        return find(pattern, in: value.sql, matcher.comparison, isNegated: isNegated)
    }

    /// A right side that is calculated for each row.
    mutating func text(
        _ value: RowExpression, _ comparison: StringOperator, _ pattern: RowExpression, isNegated: Bool, depth: Int
    ) -> SQLTerm {
        guard comparison != .like, comparison != .matches, let value = self.value(value, depth: depth),
            let pattern = self.value(pattern, depth: depth), value.storage == .text, pattern.storage == .text
        else { return .unknown }
        return find(pattern.sql, in: value.sql, comparison, isNegated: isNegated)
    }

    private func find(
        _ pattern: String, in value: String, _ comparison: StringOperator, isNegated: Bool
    ) -> SQLTerm {
        let test =
            switch comparison {
            case .beginsWith: "starts_with(\(value), \(pattern))"
            // UTF-8 strings have the same ending if their last characters are the same.
            case .endsWith: "right(\(value), char_length(\(pattern))) = \(pattern)"
            default: "strpos(\(value), \(pattern)) > 0"
            }
        return SQLTerm(sql: isNegated ? "(\(test)) IS NOT TRUE" : test)
    }

    /// Wildcards match characters as a person sees them, which a server does not know. It can search for the literal parts.
    private mutating func like(_ value: SQLValue, _ literals: WildcardLiterals, isNegated: Bool) -> SQLTerm {
        guard literals.hasWildcards else {
            if literals.longest.hasNUL { return .constant(isNegated) }
            let pattern = add(.text(literals.longest), .text)
            return SQLTerm(sql: "\(value.sql) \(isNegated ? "IS DISTINCT FROM" : "=") \(pattern)")
        }
        if isNegated { return .unknown }
        if literals.longest.hasNUL || literals.prefix.hasNUL { return .constant(false) }
        if !literals.prefix.isEmpty {
            let pattern = add(.text(literals.prefix), .text)
            return SQLTerm(sql: find(pattern, in: value.sql, .beginsWith, isNegated: false).sql, isExact: false)
        }
        if literals.longest.isEmpty { return .unknown }
        let pattern = add(.text(literals.longest), .text)
        return SQLTerm(sql: find(pattern, in: value.sql, .contains, isNegated: false).sql, isExact: false)
    }
}
