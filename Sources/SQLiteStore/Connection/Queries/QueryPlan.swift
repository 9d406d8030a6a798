internal import ManagedModel
internal import RowStore

/// A query as a shape and the values to bind, in the order of their parameters. Values are never part of the SQL.
struct QueryPlan {
    enum Value {
        case one(RowValue)
        /// A list that is too long for parameters.
        case list(ListedValues)
        /// A predicate that SQLite cannot express.
        case test(RowMatcher)
    }

    var shape: QueryShape
    var values: [Value] = []
    /// The work that is left for each row, if the predicate uses more columns than a function of SQLite can have.
    private(set) var filter: RowFilter?
    /// Whether SQLite can't calculate the joined columns, so that the related rows are read here.
    private(set) var isJoinedHere = false

    /// Whether the statement is worth keeping: one with very many terms is seldom repeated.
    var isKept: Bool { values.count <= 40 && shape.codes.count <= 400 }

    /// The tables that the terms refer to, the innermost one last.
    var scopes: [Scope]
    let schema: StoreSchema
    private let budget: QueryBudget
    private let limits: SQLLimits
    /// The most values; more would make the SQL too long.
    private let valueLimit: Int

    /// A table and its joined columns.
    struct Scope {
        let table: EntityTable
        let joined: [JoinedColumn]
    }

    private var layout: EntityLayout { scopes[scopes.count - 1].table.layout }

    /// The deepest nesting of terms: the parser of SQLite has a stack of 100 entries.
    static let nestingLimit = 20
    /// The longest list of values that is spelled out, filled up to a power of two, so that there are few shapes.
    private static let listLength = 32

    init(
        _ query: RowQuery, isCount: Bool = false, _ table: EntityTable, _ schema: StoreSchema, _ limits: SQLLimits
    ) {
        scopes = [Scope(table: table, joined: query.joined)]
        self.schema = schema
        budget = query.budget
        self.limits = limits
        valueLimit = min(10_000, limits.variables - 2, limits.length / (table.longestTerm + 64))
        shape = QueryShape(
            query, isCount: isCount, isInIndexedRange: query.predicate.isInRange(table))
        if query.predicate != .constant(true) { encode(query) }
        shape.hasPredicate = !shape.codes.isEmpty
        if !query.joined.isEmpty, !encodeSelected(query) { isJoinedHere = true }
        guard shape.hasWindow, !isJoinedHere else { return }
        if filter != nil {
            filter?.skip = max(0, query.offset)
            filter?.take = query.limit.map { max(0, $0) }
        }
        // A filtered query counts its rows here for limit and offset.
        let isFiltered = filter != nil
        values.append(.one(.integer(isFiltered ? .max : Int64(max(0, query.limit ?? Int.max)))))
        values.append(.one(.integer(isFiltered ? 0 : Int64(max(0, query.offset)))))
    }

    /// Why SQLite could not test a row, if that ended the statement.
    var failure: DataSourceError? {
        for case .test(let test) in values { if let failure = test.failure { return failure } }
        return nil
    }

    private mutating func encode(_ query: RowQuery) {
        let empty = shape
        if encode(query.predicate, isNegated: false, depth: 0) { return }
        // Too much for SQL: all of it is tested row by row, by SQLite if it can pass the columns on.
        shape = empty
        values = []
        if encodeTest(query.predicate, isNegated: false, depth: 0) { return }
        shape = empty
        values = []
        if query.predicate.asksJoined {
            isJoinedHere = true
            return
        }
        filter = RowFilter(query.predicate, budget)
        shape.columns = nil
    }

    /// - Returns: Whether SQL can express it.
    ///
    /// SQL has three truth values, ``RowPredicate`` has two. So a negation is pushed down to the comparisons, where `IS NOT
    /// TRUE` ends it: null counts as false below that, and nothing is negated above it.
    mutating func encode(_ predicate: RowPredicate, isNegated: Bool, depth: Int) -> Bool {
        guard values.count < valueLimit else { return false }
        guard depth < QueryPlan.nestingLimit else {
            return encodeTest(predicate, isNegated: isNegated, depth: depth)
        }
        if let test = RelatedTest(predicate, scopes[scopes.count - 1].joined, layout) {
            return encode(test, isNegated: isNegated, depth: depth + 1)
        }
        switch predicate {
        case .constant(let answer):
            shape.add(answer != isNegated ? .always : .never)
        case .compare(let column, let relation, let value):
            return encode(column, relation, value, isNegated: isNegated, depth: depth)
        case .isIn(let column, let list):
            return encode(column, list, isNegated: isNegated, depth: depth)
        case .compareKey(let relation, let key):
            shape.add(.compareKey)
            shape.add((isNegated ? relation.negated : relation).code)
            values.append(.one(.integer(key)))
        case .follows(let cursor, let sort) where sort.isEmpty:
            shape.add(.compareKey)
            shape.add((isNegated ? ComparisonOperator.lessOrEqual : .greater).code)
            values.append(.one(.integer(cursor.key)))
        case .follows(let cursor, let sort):
            if isNegated { return encodeTest(predicate, isNegated: true, depth: depth) }
            // A part that an index can use, followed by the whole test.
            let bound = cursor.bound(sort, layout)
            if let later = cursor.later(sort, layout) {
                return encode(.and([bound, later].compactMap(\.self)), isNegated: false, depth: depth)
            }
            guard let bound else { return encodeTest(predicate, isNegated: false, depth: depth) }
            shape.add(.and)
            shape.add(2)
            return encode(bound, isNegated: false, depth: depth + 1)
                && encodeTest(predicate, isNegated: false, depth: depth)
        case .isMember(.column(let column), let list) where list.order == .natural:
            return encode(column, list.elements, isNegated: isNegated, depth: depth)
        case .isMember(.key, let list) where list.order == .natural:
            return encode(QueryShape.key, list.elements, isNegated: isNegated, depth: depth)
        case .relate, .isMember, .text, .textOf:
            return encodeTest(predicate, isNegated: isNegated, depth: depth)
        case .not(let inner):
            return encode(inner, isNegated: !isNegated, depth: depth)
        case .and(let parts):
            return encode(parts, isNegated ? .or : .and, isNegated: isNegated, depth: depth)
        case .or(let parts):
            return encode(parts, isNegated ? .and : .or, isNegated: isNegated, depth: depth)
        }
        return true
    }

    private mutating func encode(
        _ parts: [RowPredicate], _ connective: QueryShape.Code, isNegated: Bool, depth: Int
    ) -> Bool {
        // A part that decides nothing would keep SQLite from using an index for the others.
        let idle = (connective == .and) != isNegated
        let parts = parts.filter { $0.truth(layout) != idle }
        if parts.isEmpty {
            shape.add(connective == .and ? .always : .never)
            return true
        }
        if parts.count > 1 {
            shape.add(connective)
            shape.add(parts.count)
        }
        // Long chains are written as chains of chains.
        let levels = 1 + TermWriter.extraLevels(parts.count)
        return parts.allSatisfy { encode($0, isNegated: isNegated, depth: depth + levels) }
    }

    private mutating func encode(
        _ column: Int, _ relation: ComparisonOperator, _ value: RowValue, isNegated: Bool, depth: Int
    ) -> Bool {
        let isEquality = relation == .equal || relation == .notEqual
        let relation = isNegated && isEquality ? relation.negated : relation
        let isNegated = isNegated && !isEquality
        if value == .null {
            switch relation {
            case .equal: return add(.isNull, column: column, depth)
            case .notEqual: return add(.isNotNull, column: column, depth)
            default: shape.add(isNegated ? .always : .never)
            }
        } else if value.fits(layout.order(of: column).storage) {
            guard add(.compare, column: column, depth) else { return false }
            // Decimals are equal if their strings are, and ordered by value.
            let isByValue = !isEquality && layout.order(of: column).isDecimal
            shape.add(relation.code, isNegated ? 1 : 0, isByValue ? 1 : 0)
            values.append(.one(value))
        } else {
            shape.add((relation == .notEqual) != isNegated ? .always : .never)
        }
        return true
    }

    private mutating func encode(_ column: Int, _ list: [RowValue], isNegated: Bool, depth: Int) -> Bool {
        let storage = column == QueryShape.key ? .integer : layout.order(of: column).storage
        let wanted = list.filter { $0 != .null && $0.fits(storage) }
        let withNull = wanted.count != list.count && list.contains(.null) ? 1 : 0
        let negation = isNegated ? 1 : 0
        guard let last = wanted.last else {
            if withNull == 1 {
                return add(isNegated ? .isNotNull : .isNull, column: column, depth)
            } else {
                shape.add(isNegated ? .always : .never)
            }
            return true
        }
        var count = 1
        while count < wanted.count { count *= 2 }
        if wanted.count > QueryPlan.listLength || values.count + count > valueLimit {
            guard add(.isListed, column: column, depth) else { return false }
            shape.add(withNull, negation)
            values.append(.list(ListedValues(wanted)))
            return true
        }
        guard add(.isIn, column: column, depth) else { return false }
        shape.add(count, withNull, negation)
        values += wanted.map { .one($0) }
        values += repeatElement(.one(last), count: count - wanted.count)
        return true
    }

    private mutating func encodeTest(_ predicate: RowPredicate, isNegated: Bool, depth: Int) -> Bool {
        let test = RowMatcher(predicate, layout, budget)
        guard test.columns.count + 2 <= limits.arguments else { return false }
        shape.add(.test)
        shape.add(isNegated ? 1 : 0, test.asksKey ? 1 : 0, test.columns.count)
        // Its own parameter is the first.
        values.append(.test(test))
        return test.columns.allSatisfy { add(column: $0, depth) }
    }

    private mutating func add(_ code: QueryShape.Code, column: Int, _ depth: Int) -> Bool {
        shape.add(code)
        return add(column: column, depth)
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
    fileprivate func isInRange(_ table: EntityTable) -> Bool {
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
