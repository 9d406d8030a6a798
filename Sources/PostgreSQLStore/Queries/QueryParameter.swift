package import RowStore

/// A value of a statement. Values are never part of the SQL.
///
/// Strings have no NUL character, and reals are not NaN: comparisons with such values have been decided before.
package enum QueryParameter: Sendable, Equatable {
    case value(RowValue)
    case integers([Int64])
    case reals([Double])
    case texts([String])
    case blobs([[UInt8]])

    /// The values that a column with that storage can have on a server; nil if there are none.
    init?(_ values: [RowValue], _ storage: ColumnStorage) {
        switch storage {
        case .integer:
            self = .integers(values.compactMap { if case .integer(let value) = $0 { value } else { nil } })
        case .real:
            self = .reals(values.compactMap { if case .real(let value) = $0, !value.isNaN { value } else { nil } })
        case .text:
            self = .texts(values.compactMap { if case .text(let text) = $0, !text.hasNUL { text } else { nil } })
        case .blob:
            self = .blobs(values.compactMap { if case .blob(let bytes) = $0 { bytes } else { nil } })
        }
        if isEmpty { return nil }
    }

    private var isEmpty: Bool {
        switch self {
        case .value: false
        case .integers(let list): list.isEmpty
        case .reals(let list): list.isEmpty
        case .texts(let list): list.isEmpty
        case .blobs(let list): list.isEmpty
        }
    }
}

extension ColumnStorage {
    /// The type that a parameter is cast to, so that the server need not guess.
    var castName: String {
        switch self {
        case .integer: "bigint"
        case .real: "float8"
        case .text: "text"
        case .blob: "bytea"
        }
    }
}

extension String {
    /// Whether it contains a character that a string on a server cannot have.
    var hasNUL: Bool { utf8.contains(0) }
}

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
