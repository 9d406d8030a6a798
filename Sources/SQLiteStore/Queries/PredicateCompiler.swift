internal import RowStore

/// Turns a predicate into an SQL expression that is true for the same rows.
///
/// SQL has three truth values where ``RowPredicate`` has two. So a negation is pushed down to the comparisons, where
/// `IS NOT TRUE` ends it: null counts as false below, and nothing above ever negates it.
struct PredicateCompiler {
    private let table: EntityTable
    private let limits: SQLLimits
    private(set) var values: [QueryText.Value] = []

    /// The deepest nesting of parentheses: the parser of SQLite has a stack of 100 places.
    private static let nestingLimit = 20
    /// The most terms joined in one chain; SQLite counts each as a level of depth.
    private static let chainLength = 40
    /// The longest list of values that is spelled out; longer ones are looked up one row at a time.
    private static let listLength = 1000
    /// Places for parameters that other parts of a query may need.
    private static let spareVariables = 8

    init(_ table: EntityTable, _ limits: SQLLimits) {
        self.table = table
        self.limits = limits
    }

    /// The expression, or nil if SQLite could not take it.
    mutating func compile(_ predicate: RowPredicate) -> String? {
        guard let test = term(predicate, isNegated: false, depth: 0), test.utf8.count < limits.length / 2,
            values.count + PredicateCompiler.spareVariables <= limits.variables
        else { return nil }
        return test
    }

    private mutating func term(_ predicate: RowPredicate, isNegated: Bool, depth: Int) -> String? {
        guard depth < PredicateCompiler.nestingLimit else { return nil }
        switch predicate {
        case .constant(let answer):
            return answer != isNegated ? "1" : "0"
        case .compare(let column, let relation, let value):
            return comparison(column, relation, value, isNegated: isNegated)
        case .isIn(let column, let values):
            return membership(column, values, isNegated: isNegated)
        case .not(let predicate):
            return term(predicate, isNegated: !isNegated, depth: depth)
        case .and(let predicates):
            return chain(predicates, isAnd: !isNegated, isNegated: isNegated, depth: depth)
        case .or(let predicates):
            return chain(predicates, isAnd: isNegated, isNegated: isNegated, depth: depth)
        }
    }

    /// All terms in one chain, or in chains of chains if they are many.
    private mutating func chain(
        _ predicates: [RowPredicate], isAnd: Bool, isNegated: Bool, depth: Int
    ) -> String? {
        var terms: [String] = []
        for predicate in predicates {
            guard let term = term(predicate, isNegated: isNegated, depth: depth + 1) else { return nil }
            terms.append(term)
        }
        guard !terms.isEmpty else { return isAnd ? "1" : "0" }
        let connective = isAnd ? " AND " : " OR "
        while terms.count > 1 {
            terms = stride(from: 0, to: terms.count, by: PredicateCompiler.chainLength).map { start in
                let part = terms[start..<min(start + PredicateCompiler.chainLength, terms.count)]
                return "(" + part.joined(separator: connective) + ")"
            }
        }
        return terms[0]
    }

    private mutating func comparison(
        _ column: Int, _ relation: ComparisonOperator, _ value: RowValue, isNegated: Bool
    ) -> String {
        let layout = table.layout.columns[column]
        let term = table.terms[column]
        let relation = isNegated && relation.isEquality ? relation.negated : relation
        let isNegated = isNegated && !relation.isEquality
        guard value != .null else {
            switch relation {
            case .equal: return "\(term) IS NULL"
            case .notEqual: return "\(term) IS NOT NULL"
            default: return isNegated ? "1" : "0"
            }
        }
        guard value.fits(layout.storage) else {
            return (relation == .notEqual) != isNegated ? "1" : "0"
        }
        values.append(.one(value))
        // Decimals are equal if their texts are, and ordered by value.
        let collation = layout.isDecimal && !relation.isEquality ? " COLLATE decimal" : ""
        let test = "\(term)\(collation) \(relation.sql) ?\(values.count)"
        return isNegated ? "(\(test)) IS NOT TRUE" : test
    }

    private mutating func membership(_ column: Int, _ list: [RowValue], isNegated: Bool) -> String {
        let term = table.terms[column]
        let storage = table.layout.columns[column].storage
        let wanted = list.filter { $0 != .null && $0.fits(storage) }
        var tests: [String] = []
        if wanted.count != list.count, list.contains(.null) { tests.append("\(term) IS NULL") }
        if wanted.count > PredicateCompiler.listLength
            || values.count + wanted.count + PredicateCompiler.spareVariables > limits.variables
        {
            values.append(.set(ValueSet(wanted)))
            tests.append("is_in_set(?\(values.count), \(term))")
        } else if !wanted.isEmpty {
            let first = values.count + 1
            values += wanted.map { .one($0) }
            let marks = (first...values.count).map { "?\($0)" }.joined(separator: ", ")
            tests.append("\(term) IN (\(marks))")
        }
        guard !tests.isEmpty else { return isNegated ? "1" : "0" }
        let test = tests.joined(separator: " OR ")
        return isNegated ? "(\(test)) IS NOT TRUE" : "(\(test))"
    }
}

extension ComparisonOperator {
    fileprivate var isEquality: Bool { self == .equal || self == .notEqual }

    /// `=` is not true for null, which is what is wanted of a value that is not null; and an index serves it.
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
