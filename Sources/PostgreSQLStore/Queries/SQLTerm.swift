/// The SQL for a predicate, as far as a server can test it.
struct SQLTerm: Equatable {
    /// It is true for every row for which the predicate is true.
    var sql: String
    /// Whether it is true for no other row.
    var isExact = true

    static let alwaysSQL = "TRUE"
    static let neverSQL = "FALSE"

    /// The server can test nothing: each row must be tested on this side.
    static let unknown = SQLTerm(sql: alwaysSQL, isExact: false)

    static func constant(_ answer: Bool) -> SQLTerm { SQLTerm(sql: answer ? alwaysSQL : neverSQL) }

    var isAlways: Bool { sql == SQLTerm.alwaysSQL }
    var isNever: Bool { sql == SQLTerm.neverSQL }
}
