internal import ManagedModel
internal import RowStore

/// A query without its values: queries with one shape have the same SQL, and so the same prepared statement.
struct QueryShape: Hashable {
    /// The predicate, each term before its parts. Positive numbers are counts, columns and operators.
    private(set) var codes: [Int32] = []
    /// Whether the codes begin with a predicate.
    var hasPredicate = false
    let entity: Int
    let isCount: Bool
    let sort: [SortKey]
    let order: Order
    var columns: [Int]?
    /// The returned joined columns. Their definitions follow the predicate.
    var joined: [Int] = []
    let hasWindow: Bool
    /// What is calculated from the rows, instead of their number, if they are only counted.
    var aggregates: [AggregateTerm] = []

    /// The order of rows with equal sort keys.
    enum Order {
        case none
        /// By key, which SQLite reads in this order.
        case key
        /// By key, sorted after an index has found the rows.
        case sortedKey
    }

    /// The code for the row's own key instead of a column.
    static let key = -1
    /// The code before a joined column instead of a column.
    static let joined = -2
    /// The code before a column of the outer row instead of a column.
    static let outer = -3

    /// The first code of a term of the predicate.
    enum Code: Int32 {
        case never, always
        /// A count, followed by that many terms.
        case and, or
        /// A column.
        case isNull, isNotNull
        /// A column, an operator, whether it is negated, and whether decimals are compared by value.
        case compare
        /// A column, or -1 for the key, the number of values, whether null is one more, and whether it is negated.
        case isIn
        /// A column, or -1 for the key, whether null is one more value, and whether it is negated.
        case isListed
        /// An operator.
        case compareKey
        /// Whether it is negated, whether the key is used, a count, and that many columns.
        case test
        /// Whether it is negated, a link, a count, and that many entities, each with a term.
        case isRelated
    }

    /// The first code of a joined column. A link follows, a count, and that many entities, each with a term and, except for
    /// `exists` and `count`, a column.
    enum Joined: Int32 {
        case value
        case exists
        case count
        /// The code of the aggregate, before the link.
        case aggregate
    }

    /// The first code of a link.
    enum Link: Int32 {
        /// A column of the source.
        case destination
        /// A column of the destinations.
        case source
        /// A layout and two of its columns.
        case pairs
    }

    init(_ query: RowQuery, isCount: Bool, isInIndexedRange: Bool) {
        entity = query.entity
        self.isCount = isCount
        hasWindow = !isCount && (query.limit != nil || query.offset > 0)
        let isOrdered = !isCount && query.isOrdered
        sort = isOrdered ? query.sort : []
        // Otherwise SQLite would read all rows in their order instead of a few by an index.
        order = !isOrdered ? .none : isInIndexedRange && sort.isEmpty && !hasWindow ? .sortedKey : .key
        columns = isCount ? nil : query.columns
    }

    mutating func add(_ code: Code) {
        codes.append(code.rawValue)
    }

    mutating func add(_ details: Int...) {
        for detail in details { codes.append(Int32(detail)) }
    }
}

extension ComparisonOperator {
    private static let all: [ComparisonOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]

    var code: Int {
        switch self {
        case .equal: 0
        case .notEqual: 1
        case .less: 2
        case .lessOrEqual: 3
        case .greater: 4
        case .greaterOrEqual: 5
        }
    }

    init(code: Int32) {
        self = ComparisonOperator.all[Int(code)]
    }
}
