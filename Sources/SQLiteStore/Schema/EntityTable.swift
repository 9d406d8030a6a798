internal import PredicateSQL
internal import RowStore

/// The table of one concrete entity, or of the links of a relationship. Contains the names of the table and its columns, and
/// the SQL that does not depend on a query.
final class EntityTable: Sendable {
    /// A stored column: its index in a row, and its storage. In a statement's results, the key comes first, and the stored
    /// columns follow in their order.
    struct Column {
        let index: Int
        let storage: ColumnStorage
        /// Whether the column has strings or blobs.
        let isBytes: Bool
        /// Whether the statement returns the size of a large value instead of the value.
        let mayBeDeferred: Bool

        init(_ index: Int, _ storage: ColumnStorage, mayBeDeferred: Bool = false) {
            self.index = index
            self.storage = storage
            self.mayBeDeferred = mayBeDeferred
            isBytes = storage == .text || storage == .blob
        }
    }

    let layout: EntityLayout
    let name: String
    let quotedName: String
    /// The names that are used in predicates.
    let queryTable: QueryTable
    let columns: ContiguousArray<Column>
    /// The stored columns, for rows with deferred values. In these columns, ``Column/mayBeDeferred`` can be true.
    let deferredColumns: ContiguousArray<Column>
    /// The number of columns in a row in memory. Transient columns count, too.
    let columnCount: Int
    /// The number of stored columns with strings or blobs.
    let byteColumnCount: Int
    /// The quoted name of each column of the layout; `NULL` for a column that is not stored.
    let expressions: [String]
    /// The length of the longest of ``expressions``, in bytes.
    let longestExpression: Int
    /// The unquoted names of the stored columns. They are compared with the names in SQLite's messages.
    private let names: [Int: String]
    /// The columns that have an index for ranges of their values.
    let indexedColumns: Set<Int>
    /// The SQL that makes the table. Columns with large values are last, because SQLite must read past a value to reach the
    /// next columns.
    let createSQL: String
    /// The identity of the table, which does not depend on the order of its columns. The columns of an existing table have
    /// another order if a flag in the model has changed since the table was made.
    let shape: TableShape
    /// The slot of the statement ``insertSQL`` in a connection. The next slots are those of the table's other statements.
    let firstStatement: StatementSlot
    let insertSQL: String
    let deleteSQL: String
    let selectSQL: String
    /// The expressions to select for a row with deferred values. They return the sizes of large values instead of the values.
    /// Nil if no column may be deferred.
    let deferredExpressions: [String]?
    /// The SQL that finds a row by its key.
    let keySQL: String
    /// For each uniqueness constraint, the SQL that finds a row by the values of the constraint.
    let constraintSQL: [String]

    static let keyName = "_key"
    static let quotedKey = keyName.quoted
    /// The SQL for a column that is not stored.
    static let missing = "NULL"

    var insertStatement: StatementSlot { firstStatement }
    var deleteStatement: StatementSlot { firstStatement.advanced(by: 1) }
    var keyStatement: StatementSlot { firstStatement.advanced(by: 2) }
    func constraintStatement(_ constraint: Int) -> StatementSlot { firstStatement.advanced(by: 3 + constraint) }
    func unquotedName(_ column: Int) -> String { names[column] ?? "" }
    var statementCount: Int { 3 + constraintSQL.count }

    /// - Parameter names: The unquoted name of each stored column, by the column's index.
    init(
        _ layout: EntityLayout, name: String, names: [Int: String], indexedColumns: Set<Int>,
        firstStatement: StatementSlot
    ) {
        self.layout = layout
        self.name = name
        self.names = names
        self.indexedColumns = indexedColumns
        self.firstStatement = firstStatement
        columns = ContiguousArray(layout.storedColumns.map { Column($0, layout.columns[$0].storage) })
        let isDeferred = Set(layout.deferredColumns)
        deferredColumns = ContiguousArray(
            layout.storedColumns.map { Column($0, layout.columns[$0].storage, mayBeDeferred: isDeferred.contains($0)) })
        columnCount = layout.columns.count
        byteColumnCount = columns.count { $0.isBytes }
        let expressions = layout.columns.indices.map { names[$0]?.quoted ?? EntityTable.missing }
        self.expressions = expressions
        longestExpression = expressions.reduce(0) { max($0, $1.utf8.count) }

        let table = name.quoted
        quotedName = table
        let key = EntityTable.quotedKey
        queryTable = QueryTable(layout, name: table, key: key, columns: names.mapValues(\.quoted))
        let declarations = EntityTable.declarations(layout, expressions)
        createSQL = "CREATE TABLE \(table) (" + declarations.joined(separator: ", ") + ")"
        shape = TableShape(name: name, declarations)

        let list = ([key] + layout.storedColumns.map { expressions[$0] }).joined(separator: ", ")
        let marks = (1...layout.storedColumns.count + 1).map { "?\($0)" }.joined(separator: ", ")
        insertSQL = "INSERT INTO \(table) (\(list)) VALUES (\(marks))"
        deleteSQL = "DELETE FROM \(table) WHERE \(key) = ?1"
        let select = "SELECT \(list) FROM \(table)"
        selectSQL = select
        deferredExpressions =
            layout.deferredColumns.isEmpty ? nil : deferredColumns.map { $0.expression(expressions[$0.index]) }
        keySQL = "\(select) WHERE \(key) = ?1"
        constraintSQL = layout.constraints.map { columns in
            let conditions = columns.enumerated().map { "\(expressions[$1]) = ?\($0 + 1)" }.joined(separator: " AND ")
            return "\(select) WHERE \(conditions)"
        }
    }
}

extension EntityTable {
    /// Returns the declarations of the columns, for a new table: the key first, and columns with large values last. The columns
    /// are sorted by name, because their order in the model can change without a change of the model's hash.
    private static func declarations(_ layout: EntityLayout, _ expressions: [String]) -> [String] {
        let isDeferred = Set(layout.deferredColumns)
        func sorted(_ columns: [Int]) -> [String] {
            columns.map { "\(expressions[$0]) \(layout.columns[$0].storage.typeName)" }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
        return ["\(quotedKey) INTEGER PRIMARY KEY"]
            + sorted(layout.storedColumns.filter { !isDeferred.contains($0) }) + sorted(layout.deferredColumns)
    }
}

extension EntityTable.Column {
    /// Returns the expression to select for the column. For a large deferred value, the result is the size, which SQLite knows
    /// without reading the value.
    fileprivate func expression(_ name: String) -> String {
        guard mayBeDeferred else { return name }
        return "CASE WHEN length(\(name)) > \(RowSnapshot.longestInlineValue) THEN length(\(name)) ELSE \(name) END"
    }
}

extension ColumnStorage {
    var typeName: String {
        switch self {
        case .integer: "INTEGER"
        case .real: "REAL"
        case .text: "TEXT"
        case .blob: "BLOB"
        }
    }
}
