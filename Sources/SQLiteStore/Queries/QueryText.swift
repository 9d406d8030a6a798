internal import CSQLite
internal import ManagedModel
internal import RowStore

/// The SQL of a shape, and what its rows hold.
struct QueryText {
    let sql: String
    /// The columns that each row has, in the order of the results after the key.
    let columns: ContiguousArray<EntityTable.Column>

    init(_ shape: QueryShape, _ table: EntityTable) {
        var writer = TermWriter(shape.codes, table)
        let test = shape.codes.isEmpty ? "" : " WHERE " + writer.term()
        guard !shape.isCount else {
            sql = "SELECT count(*) FROM \(table.name.quoted)" + test
            columns = []
            return
        }
        var sql = table.selectSQL
        if let wanted = shape.columns {
            let sorted = Set(wanted + shape.sort.map(\.column))
            columns = table.columns.filter { sorted.contains($0.index) }
            let names = [EntityTable.keyName.quoted] + columns.map { table.terms[$0.index] }
            sql = "SELECT \(names.joined(separator: ", ")) FROM \(table.name.quoted)"
        } else {
            columns = table.columns
        }
        sql += test
        let key = EntityTable.keyName.quoted
        switch shape.order {
        case .none: break
        case .key: sql += " ORDER BY " + (shape.sort.map { table.sortTerm($0) } + [key]).joined(separator: ", ")
        // With the sign it is a calculation, for which no order of reading is of use.
        case .sortedKey: sql += " ORDER BY +\(key)"
        }
        if shape.hasWindow { sql += " LIMIT ?\(writer.parameters + 1) OFFSET ?\(writer.parameters + 2)" }
        self.sql = sql
    }
}

/// Writes the terms of a shape, and counts their parameters.
struct TermWriter {
    private let codes: [Int32]
    private let table: EntityTable
    private var position = 0
    private(set) var parameters = 0

    /// The most terms joined in one chain; SQLite counts each as a level of depth.
    private static let chainLength = 40

    /// How many chains of chains a chain of so many terms becomes.
    static func extraLevels(_ count: Int) -> Int {
        var levels = 0
        var count = count
        while count > chainLength {
            count = (count + chainLength - 1) / chainLength
            levels += 1
        }
        return levels
    }

    init(_ codes: [Int32], _ table: EntityTable) {
        self.codes = codes
        self.table = table
    }

    private mutating func next() -> Int {
        defer { position += 1 }
        return Int(codes[position])
    }

    private mutating func parameter() -> String {
        parameters += 1
        return "?\(parameters)"
    }

    private mutating func column() -> String {
        let column = next()
        return column == QueryShape.key ? EntityTable.keyName.quoted : table.terms[column]
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
            return "\(EntityTable.keyName.quoted) \(relation.sql) \(parameter())"
        case .test: return test()
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
        let index = next()
        let relation = ComparisonOperator(code: Int32(next()))
        let isNegated = next() == 1
        // Decimals are equal if their texts are, and ordered by value.
        let isByValue = table.layout.columns[index].isDecimal && relation != .equal && relation != .notEqual
        let test = "\(table.terms[index])\(isByValue ? " COLLATE decimal" : "") \(relation.sql) \(parameter())"
        return isNegated ? "(\(test)) IS NOT TRUE" : test
    }

    private mutating func membership() -> String {
        let column = column()
        let marks = (0..<next()).map { _ in parameter() }
        return alternatives("\(column) IN (\(marks.joined(separator: ", ")))", column)
    }

    /// The test, or null if that is one of the values, and its negation if that is wanted.
    private mutating func alternatives(_ test: String, _ column: String) -> String {
        let test = next() == 1 ? "(\(column) IS NULL OR \(test))" : test
        return next() == 1 ? "(\(test)) IS NOT TRUE" : test
    }

    private mutating func test() -> String {
        let isNegated = next() == 1
        let key = next() == 1 ? [EntityTable.keyName.quoted] : []
        let columns = (0..<next()).map { _ in column() }
        let call = "row_test(\(([parameter()] + key + columns).joined(separator: ", ")))"
        return isNegated ? "NOT \(call)" : call
    }
}

extension EntityTable {
    fileprivate func sortTerm(_ key: SortKey) -> String {
        let direction = key.isAscending ? " ASC" : " DESC"
        let isText = layout.columns[key.column].storage == .text
        switch key.order {
        case .folded(let options) where isText:
            return "text_sort_key(\(terms[key.column]), \(options.rawValue))" + direction
        case .collation(let collation) where isText:
            return terms[key.column] + " COLLATE " + collation.name.quoted + direction
        default:
            return terms[key.column] + (layout.columns[key.column].isDecimal ? " COLLATE decimal" : "") + direction
        }
    }
}

extension ComparisonOperator {
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

/// How much SQL this build of SQLite takes.
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
