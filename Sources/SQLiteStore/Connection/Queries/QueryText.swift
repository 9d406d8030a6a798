internal import CSQLite
internal import ManagedModel
internal import RowStore

/// The SQL of a shape, and the contents of its rows.
struct QueryText {
    let sql: String
    /// The columns that each row has, in the order of the results after the key.
    let columns: ContiguousArray<EntityTable.Column>
    /// The joined columns that come after them.
    let joined: [Int]

    init(_ shape: QueryShape, _ table: EntityTable, _ schema: StoreSchema) {
        var writer = TermWriter(shape.codes, table, schema)
        let test = shape.hasPredicate ? " WHERE " + writer.term() : ""
        joined = shape.joined
        guard !shape.isCount else {
            let results =
                shape.aggregates.isEmpty ? "count(*)" : shape.aggregates.map { $0.sql(table) }.joined(separator: ", ")
            sql = "SELECT \(results) FROM \(writer.from(table))" + test
            columns = []
            return
        }
        if let wanted = shape.columns {
            let sorted = Set(wanted + shape.sort.map(\.column))
            columns = table.columns.filter { sorted.contains($0.index) }
        } else {
            columns = table.columns
        }
        let names =
            [EntityTable.keyName.quoted] + columns.map { table.terms[$0.index] }
            + joined.map { "\(writer.column()) AS \(QueryText.alias($0))" }
        var sql = "SELECT \(names.joined(separator: ", ")) FROM \(writer.from(table))" + test
        let key = EntityTable.keyName.quoted
        switch shape.order {
        case .none: break
        case .key: sql += " ORDER BY " + (shape.sort.map { table.sortTerm($0) } + [key]).joined(separator: ", ")
        // With the sign it is a calculation, so SQLite cannot read rows in this order.
        case .sortedKey: sql += " ORDER BY +\(key)"
        }
        if shape.hasWindow { sql += " LIMIT ?\(writer.parameters + 1) OFFSET ?\(writer.parameters + 2)" }
        self.sql = sql
    }

    /// The name of a joined column, which no attribute can have.
    fileprivate static func alias(_ column: Int) -> String { "joined \(column)".quoted }
}

/// Writes the terms of a shape, and counts their parameters.
struct TermWriter {
    private let codes: [Int32]
    let schema: StoreSchema
    /// The tables that the terms refer to, the innermost one last, each with the prefix of its columns.
    var scopes: [(table: EntityTable, name: String)]
    /// How many queries enclose the terms, and how many there have been.
    var (depth, queries) = (0, 0)
    private var position = 0
    private(set) var parameters = 0

    var table: EntityTable { scopes[scopes.count - 1].table }

    /// The most terms joined in one chain, because SQLite counts each as a level of depth.
    private static let chainLength = 40

    /// How many chains a chain of that many terms is divided into.
    static func extraLevels(_ count: Int) -> Int {
        var levels = 0
        var count = count
        while count > chainLength {
            count = (count + chainLength - 1) / chainLength
            levels += 1
        }
        return levels
    }

    init(_ codes: [Int32], _ table: EntityTable, _ schema: StoreSchema) {
        self.codes = codes
        self.schema = schema
        scopes = [(table, TermWriter.outermost)]
    }

    /// The prefix of the outermost table's columns inside other queries. No other alias has that name.
    private static let outermost = "t0"

    /// The outermost table, with an alias if there are other queries.
    func from(_ table: EntityTable) -> String {
        table.name.quoted + (queries > 0 ? " AS \(TermWriter.outermost)" : "")
    }

    mutating func next() -> Int {
        defer { position += 1 }
        return Int(codes[position])
    }

    private mutating func parameter() -> String {
        parameters += 1
        return "?\(parameters)"
    }

    mutating func column() -> String {
        let column = next()
        switch column {
        case QueryShape.joined: return joinedColumn()
        case QueryShape.outer:
            let scope = scopes.removeLast()
            defer { scopes.append(scope) }
            return self.column()
        case QueryShape.key: return qualified(EntityTable.keyName.quoted)
        default: return qualified(table.terms[column])
        }
    }

    /// The name of a column of the innermost table.
    func qualified(_ name: String) -> String {
        depth == 0 || name == EntityTable.missing ? name : scopes[scopes.count - 1].name + "." + name
    }

    mutating func term() -> String {
        switch QueryShape.Code(rawValue: Int32(next())) {
        case .never: return "0"
        case .always, nil: return "1"
        case .and: return chain(" AND ")
        case .or: return chain(" OR ")
        case .isNull: return "\(column()) IS NULL"
        case .isNotNull: return "\(column()) IS NOT NULL"
        case .compare: return comparison()
        case .isIn: return membership()
        case .isListed:
            let column = column()
            return alternatives("\(column) IN \(ListedValues.sql(parameter()))", column)
        case .compareKey:
            let relation = ComparisonOperator(code: Int32(next()))
            return "\(qualified(EntityTable.keyName.quoted)) \(relation.sql) \(parameter())"
        case .test: return test()
        case .isRelated: return relatedTest()
        }
    }

    /// All terms in one chain, or in chains of chains if they are many.
    private mutating func chain(_ connective: String) -> String {
        var terms = (0..<next()).map { _ in term() }
        while terms.count > 1 {
            terms = stride(from: 0, to: terms.count, by: TermWriter.chainLength).map { start in
                let part = terms[start..<min(start + TermWriter.chainLength, terms.count)]
                return part.count == 1 ? part[start] : "(" + part.joined(separator: connective) + ")"
            }
        }
        return terms[0]
    }

    private mutating func comparison() -> String {
        let column = column()
        let relation = ComparisonOperator(code: Int32(next()))
        let isNegated = next() == 1
        let isByValue = next() == 1
        let test = "\(column)\(isByValue ? " COLLATE decimal" : "") \(relation.sql) \(parameter())"
        return isNegated ? "(\(test)) IS NOT TRUE" : test
    }

    private mutating func membership() -> String {
        let column = column()
        let marks = (0..<next()).map { _ in parameter() }
        return alternatives("\(column) IN (\(marks.joined(separator: ", ")))", column)
    }

    /// The test, including null if that is one of the values, or its negation.
    private mutating func alternatives(_ test: String, _ column: String) -> String {
        let test = next() == 1 ? "(\(column) IS NULL OR \(test))" : test
        return next() == 1 ? "(\(test)) IS NOT TRUE" : test
    }

    private mutating func test() -> String {
        let isNegated = next() == 1
        let key = next() == 1 ? [qualified(EntityTable.keyName.quoted)] : []
        let count = next()
        let matcher = parameter()
        let columns = (0..<count).map { _ in column() }
        let call = "row_test(\(([matcher] + key + columns).joined(separator: ", ")))"
        return isNegated ? "NOT \(call)" : call
    }
}

extension EntityTable {
    fileprivate func sortTerm(_ key: SortKey) -> String {
        let direction = key.isAscending ? " ASC" : " DESC"
        let order = layout.order(of: key.column)
        let term = JoinedColumn.isJoined(key.column) ? QueryText.alias(key.column) : terms[key.column]
        switch key.order {
        case .folded(let options) where order.storage == .text:
            return "text_sort_key(\(term), \(options.rawValue))" + direction
        case .collation(let collation) where order.storage == .text:
            return term + " COLLATE " + collation.name.quoted + direction
        default: return term + (order.isDecimal ? " COLLATE decimal" : "") + direction
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

/// The limits of this build of SQLite.
struct SQLLimits: Sendable {
    var variables: Int
    /// The most arguments of a function.
    var arguments: Int
    var length: Int
}

extension Connection {
    func readLimits() -> SQLLimits {
        SQLLimits(
            variables: Int(sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1)),
            arguments: Int(sqlite3_limit(handle, SQLITE_LIMIT_FUNCTION_ARG, -1)),
            length: Int(sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, -1)))
    }
}
