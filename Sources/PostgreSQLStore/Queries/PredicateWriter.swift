internal import RowStore

/// Translates predicates to SQL, as far as a server gives the same answers, and collects their values.
///
/// SQL has three truth values, `RowPredicate` has two. So a negation is pushed down to the comparisons, which handle null.
/// Above them null counts as false, and nothing is negated.
struct PredicateWriter {
    /// The tables that the terms refer to, the innermost one last.
    var scopes: [Scope]
    /// The tables of all entities, by their numbers.
    let tables: [Int: QueryTable]
    private(set) var parameters: [QueryParameter] = []
    /// How many aliases have been used.
    private(set) var aliasCount = 0

    /// A table, the prefix of its columns, and its joined columns.
    struct Scope {
        let table: QueryTable
        let alias: String
        let joined: [JoinedColumn]
    }

    /// The deepest nesting of terms, because of the server's stack; deeper terms are tested on this side.
    static let depthLimit = 50
    /// The most values. The protocol has 16 bits for their number.
    private static let parameterLimit = 10_000

    var scope: Scope { scopes[scopes.count - 1] }
    var layout: EntityLayout { scope.table.layout }
    var key: String { "\(scope.alias).\(scope.table.key)" }

    init(_ table: QueryTable, joined: [JoinedColumn], _ tables: [Int: QueryTable]) {
        scopes = []
        self.tables = tables
        scopes.append(Scope(table: table, alias: claimAlias(), joined: joined))
    }

    /// A name that no other table of the statement has.
    mutating func claimAlias() -> String {
        aliasCount += 1
        return "t\(aliasCount - 1)"
    }

    /// Adds a value.
    ///
    /// - Returns: The placeholder, cast to its type.
    mutating func add(_ value: RowValue, _ storage: ColumnStorage) -> String {
        add(.value(value)) + "::" + storage.castName
    }

    mutating func add(_ parameter: QueryParameter) -> String {
        parameters.append(parameter)
        return "$\(parameters.count)"
    }

    mutating func term(_ predicate: RowPredicate, isNegated: Bool = false, depth: Int = 0) -> SQLTerm {
        guard depth < PredicateWriter.depthLimit, parameters.count < PredicateWriter.parameterLimit else {
            return .unknown
        }
        let mark = parameters.count
        let term = written(predicate, isNegated: isNegated, depth: depth + 1)
        if term.isAlways || term.isNever { takeBack(to: mark) }
        return term
    }

    /// Removes values again, because a server refuses values that the SQL does not use.
    mutating func takeBack(to count: Int) {
        parameters.removeSubrange(count...)
    }

    private mutating func written(_ predicate: RowPredicate, isNegated: Bool, depth: Int) -> SQLTerm {
        if !scope.joined.isEmpty, let test = RelatedMatcher(predicate, scope.joined, layout),
            let term = relatedTerm(test, isNegated: isNegated, depth: depth)
        {
            return term
        }
        switch predicate {
        case .constant(let answer): return .constant(answer != isNegated)
        case .compare(let column, let relation, let value):
            guard let name = self.column(column, depth: depth) else { return .unknown }
            return comparison(name, layout.order(of: column), relation, value, isNegated: isNegated)
        case .compareKey(let relation, let key):
            return compareKey(isNegated ? relation.negated : relation, key)
        case .isIn(let column, let values):
            return membership(.column(column), values, isNegated: isNegated, depth: depth)
        case .isMember(let value, let list) where list.order == .natural:
            return membership(value, list.elements, isNegated: isNegated, depth: depth)
        case .relate(let one, let relation, let other, .natural):
            return self.relation(one, relation, other, isNegated: isNegated, depth: depth)
        case .text(let value, let matcher): return text(value, matcher, isNegated: isNegated, depth: depth)
        case .textOf(let value, let comparison, let pattern, let options) where !options.folds:
            return text(value, comparison, pattern, isNegated: isNegated, depth: depth)
        case .relate, .isMember, .textOf: return .unknown
        case .follows(let cursor, let sort): return follows(cursor, sort, isNegated: isNegated, depth: depth)
        case .not(let inner): return term(inner, isNegated: !isNegated, depth: depth)
        case .and(let parts): return chain(parts, isAnd: !isNegated, isNegated: isNegated, depth: depth)
        case .or(let parts): return chain(parts, isAnd: isNegated, isNegated: isNegated, depth: depth)
        }
    }

    private mutating func chain(_ parts: [RowPredicate], isAnd: Bool, isNegated: Bool, depth: Int) -> SQLTerm {
        var terms: [String] = []
        var isExact = true
        for part in parts {
            let term = term(part, isNegated: isNegated, depth: depth)
            if isAnd ? term.isNever : term.isAlways { return term }
            isExact = isExact && term.isExact
            // A part that decides nothing is left out.
            if isAnd ? !term.isAlways : !term.isNever { terms.append(term.sql) }
        }
        guard terms.count > 1 else {
            return SQLTerm(sql: terms.first ?? SQLTerm.constant(isAnd).sql, isExact: isExact)
        }
        return SQLTerm(sql: "(" + terms.joined(separator: isAnd ? " AND " : " OR ") + ")", isExact: isExact)
    }

    /// The part of a conjunction that a server can test, and the part that is left.
    mutating func split(_ predicate: RowPredicate) -> (sql: SQLTerm, filter: RowPredicate?) {
        var terms: [String] = []
        var rest: [RowPredicate] = []
        let mark = parameters.count
        for (part, isNegated) in predicate.conjuncts {
            let term = term(part, isNegated: isNegated)
            if term.isNever {
                takeBack(to: mark)
                return (term, nil)
            }
            if !term.isAlways { terms.append(term.sql) }
            if !term.isExact { rest.append(isNegated ? .not(part) : part) }
        }
        let sql = terms.isEmpty ? SQLTerm.alwaysSQL : terms.joined(separator: " AND ")
        return (
            SQLTerm(sql: sql, isExact: rest.isEmpty), rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .and(rest)
        )
    }
}

extension RowPredicate {
    /// The parts that must all hold or, if they are negated, must all not hold.
    fileprivate var conjuncts: [(part: RowPredicate, isNegated: Bool)] {
        var found: [(part: RowPredicate, isNegated: Bool)] = []
        var rest = [(part: self, isNegated: false)]
        while let next = rest.popLast() {
            switch next.part {
            case .not(let inner): rest.append((inner, !next.isNegated))
            case .and(let parts) where !next.isNegated, .or(let parts) where next.isNegated:
                rest += parts.reversed().map { ($0, next.isNegated) }
            default: found.append(next)
            }
        }
        return found
    }
}
