/// What a server can say of a predicate.
struct SQLTerm: Equatable {
    /// It holds for every row for which the predicate holds.
    var sql: String
    /// Whether it holds for no other row.
    var isExact = true

    static let alwaysSQL = "TRUE"
    static let neverSQL = "FALSE"

    /// Nothing can be said: each row has to be tested here.
    static let unknown = SQLTerm(sql: alwaysSQL, isExact: false)

    static func constant(_ answer: Bool) -> SQLTerm { SQLTerm(sql: answer ? alwaysSQL : neverSQL) }

    var isAlways: Bool { sql == SQLTerm.alwaysSQL }
    var isNever: Bool { sql == SQLTerm.neverSQL }
}
