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
            return comparison(of: name, order: layout.order(of: column), relation, value, isNegated: isNegated)
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

/// Comparisons and lists.
extension PredicateWriter {
    /// The SQL for a column of the innermost table; nil if a server cannot calculate it.
    mutating func column(_ column: Int, depth: Int) -> String? {
        guard !JoinedColumn.isJoined(column) else { return joinedColumn(column, depth: depth) }
        // Columns that are not stored are null in every row.
        return scope.table.columns[column].map { "\(scope.alias).\($0)" }
            ?? "NULL::\(layout.order(of: column).storage.castName)"
    }

    /// A column, or an expression for it, and a value.
    mutating func comparison(
        of name: String, order: ColumnOrder, _ relation: ComparisonOperator, _ value: RowValue, isNegated: Bool
    ) -> SQLTerm {
        if relation == .equal || relation == .notEqual {
            return equality(name, order.storage, value, isEqual: (relation == .equal) != isNegated)
        }
        guard value != .null, value.fits(order.storage) else { return .constant(isNegated) }
        // Decimals are stored as strings: equal ones are equal on the server too, but only this side can order them by value.
        if order.isDecimal { return .unknown }
        let (bound, isExclusive) = value.withoutNUL
        let relation = isExclusive ? relation.beforeNUL : relation
        // In a negation, null passes.
        guard isNegated else { return SQLTerm(sql: "\(name) \(relation.sql) \(add(bound, order.storage))") }
        let sql = "\(name) \(relation.negated.sql) \(add(bound, order.storage))"
        return SQLTerm(sql: "(\(sql) OR \(name) IS NULL)")
    }

    private mutating func equality(
        _ name: String, _ storage: ColumnStorage, _ value: RowValue, isEqual: Bool
    ) -> SQLTerm {
        if value == .null { return SQLTerm(sql: "\(name) IS \(isEqual ? "" : "NOT ")NULL") }
        guard value.fits(storage), value.isOnServers else { return .constant(!isEqual) }
        return SQLTerm(sql: "\(name) \(isEqual ? "=" : "IS DISTINCT FROM") \(add(value, storage))")
    }

    mutating func compareKey(_ relation: ComparisonOperator, _ other: Int64) -> SQLTerm {
        SQLTerm(sql: "\(key) \(relation.sql) \(add(.integer(other), .integer))")
    }

    mutating func membership(
        _ value: RowExpression, _ list: [RowValue], isNegated: Bool, depth: Int
    ) -> SQLTerm {
        guard let value = self.value(value, depth: depth) else { return .unknown }
        let hasNull = list.contains(.null)
        guard let wanted = QueryParameter(list, value.storage) else {
            return hasNull ? SQLTerm(sql: "\(value.sql) IS \(isNegated ? "NOT " : "")NULL") : .constant(isNegated)
        }
        var test = "\(value.sql) = ANY(\(add(wanted))::\(value.storage.castName)[])"
        if hasNull { test = "(\(value.sql) IS NULL OR \(test))" }
        return SQLTerm(sql: isNegated ? "(\(test)) IS NOT TRUE" : test)
    }

    /// Two values with the same storage.
    mutating func relation(
        _ one: RowExpression, _ relation: ComparisonOperator, _ other: RowExpression, isNegated: Bool, depth: Int
    ) -> SQLTerm {
        guard let left = value(one, depth: depth), let right = value(other, depth: depth),
            left.storage == right.storage
        else { return .unknown }
        let isEquality = relation == .equal || relation == .notEqual
        let relation = isNegated && isEquality ? relation.negated : relation
        switch relation {
        // Only this form can use an index.
        case .equal where one.isNeverNull || other.isNeverNull: return SQLTerm(sql: "\(left.sql) = \(right.sql)")
        case .equal: return SQLTerm(sql: "\(left.sql) IS NOT DISTINCT FROM \(right.sql)")
        case .notEqual: return SQLTerm(sql: "\(left.sql) IS DISTINCT FROM \(right.sql)")
        default:
            let test = "\(left.sql) \(relation.sql) \(right.sql)"
            return SQLTerm(sql: isNegated ? "(\(test)) IS NOT TRUE" : test)
        }
    }
}

extension RowExpression {
    /// Whether it has a value in every row.
    fileprivate var isNeverNull: Bool {
        switch self {
        case .key: true
        case .constant(let value): value != .null
        default: false
        }
    }
}

extension RowValue {
    /// Whether a column on a server can hold it.
    var isOnServers: Bool {
        if case .text(let text) = self { !text.hasNUL } else { true }
    }

    /// A value at the same place among those that a server can hold, and whether it comes before this one.
    ///
    /// Of strings without NUL, those that are less than `a\0b` are `a` and everything less than `a`.
    fileprivate var withoutNUL: (value: RowValue, isBefore: Bool) {
        guard case .text(let text) = self, let end = text.utf8.firstIndex(of: 0) else { return (self, false) }
        return (.text(String(text[..<end])), true)
    }
}

extension ComparisonOperator {
    var sql: String {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    /// How to compare with the value before another one instead of that one, if no row can have the other.
    fileprivate var beforeNUL: ComparisonOperator {
        switch self {
        case .less, .lessOrEqual: .lessOrEqual
        case .greater, .greaterOrEqual: .greater
        case .equal, .notEqual: self
        }
    }
}

/// The condition for rows after a row in the order of a query.
extension PredicateWriter {
    mutating func follows(
        _ cursor: RowCursor, _ sort: [SortKey], isNegated: Bool, depth: Int
    ) -> SQLTerm {
        let fits = zip(sort, cursor.values).allSatisfy { $1.fits(layout.order(of: $0.column).storage) }
        guard fits, cursor.values.count == sort.count else { return .unknown }
        let later = cursor.later(sort, layout)
        if isNegated { return later.map { term($0, isNegated: true, depth: depth) } ?? .unknown }
        if later != nil, let term = rowComparison(cursor, sort, depth: depth) { return term }
        // A part that an index can use, followed by the whole test.
        guard let bound = cursor.bound(sort, layout) else {
            return later.map { term($0, depth: depth) } ?? .unknown
        }
        if let later { return term(.and([bound, later]), depth: depth) }
        var found = term(bound, depth: depth)
        found.isExact = found.isNever
        return found
    }

    /// One comparison of all columns, which can use an index as a whole. Where null comes first, no null comes after a value.
    private mutating func rowComparison(_ cursor: RowCursor, _ sort: [SortKey], depth: Int) -> SQLTerm? {
        guard !sort.isEmpty, sort.allSatisfy(\.isAscending),
            cursor.values.allSatisfy({ $0 != .null && $0.isOnServers })
        else { return nil }
        var (names, values): ([String], [String]) = ([], [])
        let mark = parameters.count
        for (key, value) in zip(sort, cursor.values) {
            guard let name = column(key.column, depth: depth) else {
                takeBack(to: mark)
                return nil
            }
            names.append(name)
            values.append(add(value, layout.order(of: key.column).storage))
        }
        names.append(key)
        values.append(add(.integer(cursor.key), .integer))
        return SQLTerm(sql: "(\(names.joined(separator: ", "))) > (\(values.joined(separator: ", ")))")
    }
}
