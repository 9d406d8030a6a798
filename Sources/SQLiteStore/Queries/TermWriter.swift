internal import ManagedModel
internal import RowStore

/// Writes predicates as SQL, with a parameter for each value: values are never part of the SQL.
struct TermWriter {
    /// The values of the parameters, from the first one on.
    private(set) var values: [BoundValue] = []
    let schema: StoreSchema
    /// The tables that the terms refer to, the innermost one last.
    var scopes: [Scope]
    /// How many queries enclose the terms, and how many there have been.
    var (depth, queries) = (0, 0)
    /// How many terms there are.
    private(set) var termCount = 0
    private let budget: QueryBudget
    private let limits: SQLLimits
    /// The most values; more would make the SQL too long.
    private let valueLimit: Int

    /// A table with its joined columns, and the prefix of its columns.
    struct Scope {
        let table: EntityTable
        let joined: [JoinedColumn]
        let name: String
    }

    /// The number of the row's own key, as if it were a column.
    static let key = -1
    /// The prefix of the outermost table's columns inside other queries. No other alias has that name.
    static let outermost = "t0"
    /// The deepest nesting of terms: the parser of SQLite has a stack of 100 entries.
    static let nestingLimit = 20
    /// The longest list of values that is spelled out, filled up to a power of two, so that there are few statements.
    private static let listLength = 32
    /// The most terms joined in one chain, because SQLite counts each as a level of depth.
    private static let chainLength = 40

    init(_ query: RowQuery, from table: EntityTable, schema: StoreSchema, limits: SQLLimits) {
        self.schema = schema
        self.limits = limits
        scopes = [Scope(table: table, joined: query.joined, name: TermWriter.outermost)]
        budget = query.budget
        valueLimit = min(10_000, limits.variables - 2, limits.length / (table.longestTerm + 64))
    }

    var scope: Scope { scopes[scopes.count - 1] }
    private var layout: EntityLayout { scope.table.layout }

    mutating func parameter(_ value: BoundValue) -> String {
        values.append(value)
        return "?\(values.count)"
    }

    /// The name of a column of the innermost table.
    func qualified(_ name: String) -> String {
        depth == 0 || name == EntityTable.missing ? name : scope.name + "." + name
    }

    // MARK: Terms

    /// A predicate as SQL; nil if SQL cannot express it.
    ///
    /// SQL has three truth values, ``RowPredicate`` has two. So a negation is pushed down to the comparisons, where `IS NOT
    /// TRUE` ends it: null counts as false below that, and nothing is negated above it.
    ///
    /// - Parameter level: How many terms enclose it.
    mutating func term(_ predicate: RowPredicate, isNegated: Bool = false, level: Int = 0) -> String? {
        termCount += 1
        guard values.count < valueLimit else { return nil }
        guard level < TermWriter.nestingLimit else { return test(predicate, isNegated: isNegated, level: level) }
        if let test = RelatedMatcher(predicate, scope.joined, layout) {
            return term(test, isNegated: isNegated, level: level + 1)
        }
        switch predicate {
        case .constant(let answer): return TermWriter.constant(answer != isNegated)
        case .compare(let column, let relation, let value):
            return comparison(column, relation, value, isNegated: isNegated, level: level)
        case .isIn(let column, let list):
            return membership(column, list, isNegated: isNegated, level: level)
        case .compareKey(let relation, let key):
            return keyComparison(isNegated ? relation.negated : relation, key)
        case .follows(let cursor, let sort) where sort.isEmpty:
            return keyComparison(isNegated ? .lessOrEqual : .greater, cursor.key)
        case .follows(let cursor, let sort):
            return isNegated
                ? test(predicate, isNegated: true, level: level) : continuation(predicate, cursor, sort, level: level)
        case .isMember(.column(let column), let list) where list.order == .natural:
            return membership(column, list.elements, isNegated: isNegated, level: level)
        case .isMember(.key, let list) where list.order == .natural:
            return membership(TermWriter.key, list.elements, isNegated: isNegated, level: level)
        case .relate, .isMember, .text, .textOf:
            return test(predicate, isNegated: isNegated, level: level)
        case .not(let inner):
            return term(inner, isNegated: !isNegated, level: level)
        case .and(let parts):
            return chain(parts, isAnd: !isNegated, isNegated: isNegated, level: level)
        case .or(let parts):
            return chain(parts, isAnd: isNegated, isNegated: isNegated, level: level)
        }
    }

    private static func constant(_ answer: Bool) -> String { answer ? "1" : "0" }

    private mutating func chain(_ parts: [RowPredicate], isAnd: Bool, isNegated: Bool, level: Int) -> String? {
        // A part that decides nothing would keep SQLite from using an index for the others.
        let idle = isAnd != isNegated
        let parts = parts.filter { $0.truth(layout) != idle }
        if parts.isEmpty { return TermWriter.constant(isAnd) }
        let levels = 1 + TermWriter.extraLevels(parts.count)
        var terms: [String] = []
        for part in parts {
            guard let term = term(part, isNegated: isNegated, level: level + levels) else { return nil }
            terms.append(term)
        }
        return TermWriter.chain(terms, isAnd ? " AND " : " OR ")
    }

    /// All terms in one chain, or in chains of chains if they are many.
    private static func chain(_ terms: [String], _ connective: String) -> String {
        var terms = terms
        while terms.count > 1 {
            terms = stride(from: 0, to: terms.count, by: chainLength).map { start in
                let part = terms[start..<min(start + chainLength, terms.count)]
                return part.count == 1 ? part[start] : "(" + part.joined(separator: connective) + ")"
            }
        }
        return terms[0]
    }

    /// How many chains a chain of that many terms is divided into.
    private static func extraLevels(_ count: Int) -> Int {
        var levels = 0
        var count = count
        while count > chainLength {
            count = (count + chainLength - 1) / chainLength
            levels += 1
        }
        return levels
    }

    // MARK: Comparisons

    private mutating func keyComparison(_ relation: ComparisonOperator, _ key: Int64) -> String {
        "\(qualified(EntityTable.quotedKey)) \(relation.sql) \(parameter(.one(.integer(key))))"
    }

    private mutating func comparison(
        _ column: Int, _ relation: ComparisonOperator, _ value: RowValue, isNegated: Bool, level: Int
    ) -> String? {
        let isEquality = relation == .equal || relation == .notEqual
        let relation = isNegated && isEquality ? relation.negated : relation
        let isNegated = isNegated && !isEquality
        if value == .null {
            switch relation {
            case .equal: return self.column(column, level).map { "\($0) IS NULL" }
            case .notEqual: return self.column(column, level).map { "\($0) IS NOT NULL" }
            default: return TermWriter.constant(isNegated)
            }
        }
        let order = layout.order(of: column)
        guard value.fits(order.storage) else { return TermWriter.constant((relation == .notEqual) != isNegated) }
        guard let term = self.column(column, level) else { return nil }
        // Decimals are equal if their strings are, and ordered by value.
        let collation = !isEquality && order.isDecimal ? " COLLATE decimal" : ""
        let test = "\(term)\(collation) \(relation.sql) \(parameter(.one(value)))"
        return isNegated ? "(\(test)) IS NOT TRUE" : test
    }

    private mutating func membership(_ column: Int, _ list: [RowValue], isNegated: Bool, level: Int) -> String? {
        let storage = column == TermWriter.key ? .integer : layout.order(of: column).storage
        let wanted = list.filter { $0 != .null && $0.fits(storage) }
        let withNull = wanted.count != list.count && list.contains(.null)
        guard let last = wanted.last else {
            if !withNull { return TermWriter.constant(isNegated) }
            return self.column(column, level).map { isNegated ? "\($0) IS NOT NULL" : "\($0) IS NULL" }
        }
        guard let term = self.column(column, level) else { return nil }
        var count = 1
        while count < wanted.count { count *= 2 }
        var test: String
        if wanted.count > TermWriter.listLength || values.count + count > valueLimit {
            test = "\(term) IN \(ListedValues.sql(parameter(.list(ListedValues(wanted)))))"
        } else {
            let filled = wanted + repeatElement(last, count: count - wanted.count)
            test = "\(term) IN (\(filled.map { parameter(.one($0)) }.joined(separator: ", ")))"
        }
        if withNull { test = "(\(term) IS NULL OR \(test))" }
        return isNegated ? "(\(test)) IS NOT TRUE" : test
    }

    /// The rows after a cursor: a part that an index can use, followed by the whole test.
    private mutating func continuation(
        _ predicate: RowPredicate, _ cursor: RowCursor, _ sort: [SortKey], level: Int
    ) -> String? {
        let bound = cursor.bound(sort, layout)
        if let later = cursor.later(sort, layout) {
            return term(.and([bound, later].compactMap(\.self)), level: level)
        }
        guard let bound else { return test(predicate, isNegated: false, level: level) }
        guard let limit = term(bound, level: level + 1),
            let whole = test(predicate, isNegated: false, level: level)
        else { return nil }
        return "(\(limit) AND \(whole))"
    }

    /// A test that SQLite passes back, with the columns that it needs.
    mutating func test(_ predicate: RowPredicate, isNegated: Bool, level: Int) -> String? {
        let matcher = RowMatcher(predicate, layout, budget)
        guard matcher.columns.count + 2 <= limits.arguments else { return nil }
        // Its own parameter is the first.
        var arguments = [parameter(.test(matcher))]
        if matcher.asksKey { arguments.append(qualified(EntityTable.quotedKey)) }
        for column in matcher.columns {
            guard let term = self.column(column, level) else { return nil }
            arguments.append(term)
        }
        let call = "row_test(\(arguments.joined(separator: ", ")))"
        return isNegated ? "NOT \(call)" : call
    }
}

extension RowPredicate {
    /// The result if it is the same for all stored rows; nil if the rows must be tested.
    fileprivate func truth(_ layout: EntityLayout) -> Bool? {
        switch self {
        case .constant(let answer): answer
        case .compare(let column, .equal, .null) where layout.isNeverNull(column): false
        case .compare(let column, .notEqual, .null) where layout.isNeverNull(column): true
        default: nil
        }
    }

    /// Whether all matching rows are in a range of a column that an index can find.
    func isInRange(_ table: EntityTable) -> Bool {
        switch self {
        case .compare(let column, let relation, let value):
            return relation != .equal && relation != .notEqual && value != .null
                && table.indexedColumns.contains(column)
        case .and(let parts): return parts.contains { $0.isInRange(table) }
        case .or(let parts):
            let rest = parts.filter { $0.truth(table.layout) != false }
            return rest.count == 1 && rest[0].isInRange(table)
        default: return false
        }
    }
}

extension ComparisonOperator {
    /// `=` is not true for null, which is right for a value that is not null, and it can use an index.
    fileprivate var sql: String {
        switch self {
        case .equal: "="
        case .notEqual: "IS NOT"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}
