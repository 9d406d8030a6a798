package import RowStore

/// Writes predicates as SQL, with a parameter for each value. A predicate is written only if its SQL gives the same results in
/// the store as the predicate gives in memory.
///
/// SQL has three truth values, and ``RowPredicate`` has two. So a negation moves inward to the comparisons, which handle NULL.
/// In chains of AND and OR, NULL counts as false, and no chain is negated.
package struct PredicateWriter {
    /// The values of the parameters, in the order of the parameters' numbers.
    package private(set) var parameters: [SQLParameter] = []
    package let budget: QueryBudget
    let dialect: any PredicateDialect
    let limits: PredicateLimits
    /// The tables of all entities and links, by the indexes of their layouts.
    let tables: [Int: QueryTable]
    /// The tables of related rows that were written so far.
    package internal(set) var relatedTables: [RelatedTable] = []
    /// The tables that enclose the current predicate, from the outermost to the innermost.
    var scopes: [Scope]
    /// Whether columns need the prefix of their table.
    var isQualified: Bool
    /// The number of tables of related rows, and the number of predicates, that were written so far.
    var (tableCount, predicateCount) = (0, 0)

    /// A table, the prefix of its columns, and its joined columns.
    struct Scope {
        let table: QueryTable
        let alias: String
        let joined: [JoinedColumn]
    }

    /// The alias of the outermost table, which is the prefix of its columns. No other table has this alias.
    package static let outermost = "t0"
    /// The largest number of predicates in one chain. SQLite counts each predicate of a chain as a level of depth.
    private static let chainLength = 40

    package init(
        _ query: RowQuery, from table: QueryTable, tables: [Int: QueryTable], _ dialect: any PredicateDialect
    ) {
        budget = query.budget
        self.dialect = dialect
        limits = dialect.limits
        self.tables = tables
        scopes = [Scope(table: table, alias: PredicateWriter.outermost, joined: query.joined)]
        isQualified = dialect.qualifiesAllColumns
    }

    package var layout: EntityLayout { scope.table.layout }
    var scope: Scope { scopes[scopes.count - 1] }

    /// Whether the statement must give the outermost table the alias ``outermost``.
    package var needsOutermostAlias: Bool { isQualified || tableCount > 0 }

    /// Adds a parameter with a value.
    ///
    /// - Returns: The SQL for the parameter.
    package mutating func add(_ value: RowValue, _ storage: ColumnStorage) -> String {
        add(.value(value), storage)
    }

    package mutating func add(_ parameter: SQLParameter, _ storage: ColumnStorage) -> String {
        parameters.append(parameter)
        return dialect.parameter(parameters.count, storage)
    }

    /// Whether the statement can have `count` more parameters.
    package func hasRoom(for count: Int) -> Bool { parameters.count + count <= limits.values }

    /// Removes all parameters after the first `count`, because a statement refuses values that its SQL does not use.
    mutating func truncate(to count: Int) {
        parameters.removeSubrange(count...)
    }

    // MARK: Predicates

    /// The SQL for a predicate of the innermost table.
    ///
    /// - Parameter level: The number of predicates around this predicate.
    package mutating func predicate(
        _ predicate: RowPredicate, isNegated: Bool = false, level: Int = 0
    ) -> SQLPredicate {
        predicateCount += 1
        guard parameters.count < limits.values else { return .unknown }
        let mark = parameters.count
        let written =
            level < limits.nesting
            ? written(predicate, isNegated: isNegated, level: level)
            : fallback(predicate, isNegated: isNegated, level: level)
        if parameters.count > mark, written.isAlways || written.isNever { truncate(to: mark) }
        return written
    }

    private mutating func written(_ predicate: RowPredicate, isNegated: Bool, level: Int) -> SQLPredicate {
        if !scope.joined.isEmpty, let (related, isNone) = predicate.ofRelatedRows(scope.joined, layout),
            let written = existence(of: related, isNegated: isNegated != isNone, level: level + 1)
        {
            return written
        }
        switch predicate {
        case .constant(let answer): return .constant(answer != isNegated)
        case .compare(let column, let relation, let value):
            return comparison(column, relation, value, isNegated: isNegated, level: level)
        case .compareKey(let relation, let key):
            return compareKey(isNegated ? relation.negated : relation, key)
        case .isIn(let column, let list):
            return membership(ofColumn: column, in: list, isNegated: isNegated, level: level)
        case .isMember(.column(let column), let list) where list.order == .natural:
            return membership(ofColumn: column, in: list.elements, isNegated: isNegated, level: level)
        case .isMember(.key, let list) where list.order == .natural:
            return membership(of: key, in: list.elements, .integer, isNegated: isNegated)
        case .follows(let cursor, let sort):
            return follows(predicate, cursor, sort, isNegated: isNegated, level: level)
        case .not(let inner): return self.predicate(inner, isNegated: !isNegated, level: level)
        case .and(let parts): return chain(parts, isAnd: !isNegated, isNegated: isNegated, level: level)
        case .or(let parts): return chain(parts, isAnd: isNegated, isNegated: isNegated, level: level)
        case .compareExpressions, .isMember, .text, .dynamicText:
            return fallback(predicate, isNegated: isNegated, level: level)
        }
    }

    /// The dialect's own SQL for a predicate, if it has any.
    package mutating func fallback(
        _ predicate: RowPredicate, isNegated: Bool = false, level: Int = 0
    ) -> SQLPredicate {
        let dialect = dialect
        return dialect.fallback(predicate, isNegated: isNegated, level: level, &self)
    }

    // MARK: Chains

    private mutating func chain(
        _ predicates: [RowPredicate], isAnd: Bool, isNegated: Bool, level: Int
    ) -> SQLPredicate {
        let level = level + 1 + PredicateWriter.extraLevels(predicates.count)
        var parts: [SQLPredicate] = []
        for predicate in predicates {
            // Leave out a constant that does not affect the result: it would keep SQLite from using an index for the other
            // predicates.
            if predicate.truth(layout) == (isAnd != isNegated) { continue }
            let part = self.predicate(predicate, isNegated: isNegated, level: level)
            if part.isConstant(!isAnd) { return part }
            parts.append(part)
        }
        return PredicateWriter.joined(parts, isAnd: isAnd)
    }

    /// Joins predicates in one chain, or in chains of chains if there are many.
    static func joined(_ parts: [SQLPredicate], isAnd: Bool) -> SQLPredicate {
        if let decided = parts.first(where: { $0.isConstant(!isAnd) }) { return decided }
        var links = parts.filter { !$0.isConstant(isAnd) }.map(\.sql)
        while links.count > 1 {
            links = links.chunks(ofSize: chainLength).map { part in
                part.count == 1 ? part[part.startIndex] : "(" + part.joined(separator: isAnd ? " AND " : " OR ") + ")"
            }
        }
        return SQLPredicate(
            links.first ?? SQLPredicate.constant(isAnd).sql, isExact: parts.allSatisfy(\.isExact))
    }

    /// The number of levels of chains inside a chain of `count` predicates.
    private static func extraLevels(_ count: Int) -> Int {
        var levels = 0
        var count = count
        while count > chainLength {
            count = (count + chainLength - 1) / chainLength
            levels += 1
        }
        return levels
    }

    /// Splits a predicate into the conjuncts that the store can evaluate, and the rest.
    package mutating func split(_ predicate: RowPredicate) -> (sql: SQLPredicate, rest: RowPredicate?) {
        var parts: [String] = []
        var rest: [RowPredicate] = []
        let mark = parameters.count
        for (conjunct, isNegated) in predicate.conjuncts {
            let written = self.predicate(conjunct, isNegated: isNegated)
            if written.isNever {
                truncate(to: mark)
                return (written, nil)
            }
            if !written.isAlways { parts.append(written.sql) }
            if !written.isExact { rest.append(isNegated ? .not(conjunct) : conjunct) }
        }
        let sql = parts.isEmpty ? SQLPredicate.constant(true).sql : parts.joined(separator: " AND ")
        return (SQLPredicate(sql, isExact: rest.isEmpty), rest.count > 1 ? .and(rest) : rest.first)
    }
}

extension RowPredicate {
    /// The conjuncts of the predicate. The predicate is true if each negated conjunct is false and each other conjunct is true.
    fileprivate var conjuncts: [(predicate: RowPredicate, isNegated: Bool)] {
        var found: [(predicate: RowPredicate, isNegated: Bool)] = []
        var rest = [(predicate: self, isNegated: false)]
        while let next = rest.popLast() {
            switch next.predicate {
            case .not(let inner): rest.append((inner, !next.isNegated))
            case .and(let parts) where !next.isNegated, .or(let parts) where next.isNegated:
                rest += parts.reversed().map { ($0, next.isNegated) }
            default: found.append(next)
            }
        }
        return found
    }

    /// The result if it is the same for all stored rows; nil if it can depend on the row.
    package func truth(_ layout: EntityLayout) -> Bool? {
        switch self {
        case .constant(let answer): answer
        case .compare(let column, .equal, .null) where layout.isNeverNull(column): false
        case .compare(let column, .notEqual, .null) where layout.isNeverNull(column): true
        default: nil
        }
    }
}
