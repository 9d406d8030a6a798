internal import PredicateSQL
internal import RowStore

/// The table of one concrete entity: its names, and SQL that does not depend on a query.
final class EntityTable: Sendable {
    /// A stored column: its index in a row and its storage. Its position among these plus 1 is its index in SQL results.
    struct Column {
        let index: Int
        let storage: ColumnStorage
        /// Whether it holds strings or blobs.
        let isBytes: Bool
        /// Whether the statement returns a size instead of a large value.
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
    /// The same as SQL.
    let quotedName: String
    /// The names for predicates.
    let queryTable: QueryTable
    let columns: ContiguousArray<Column>
    /// The same for ``deferredTerms``.
    let deferredColumns: ContiguousArray<Column>
    /// How many columns a row has in memory, including transient ones.
    let columnCount: Int
    /// How many of the columns hold strings or blobs.
    let byteColumnCount: Int
    /// The name of each column of the layout, quoted; `NULL` for those that are not stored.
    let terms: [String]
    /// The length of the longest of them, in bytes.
    let longestTerm: Int
    /// The same without quotes, for stored columns, to compare with SQLite's messages.
    private let names: [Int: String]
    /// The columns whose ranges an index can find.
    let indexedColumns: Set<Int>
    /// Columns with large values come last, because SQLite has to pass over a value to reach what follows it in the row.
    let createSQL: String
    /// What identifies the table: an existing one may have its columns in another order, since the model's flag was set or cleared.
    let shape: TableShape
    /// The number of ``insertSQL`` among the statements of a connection; the others follow it.
    let firstStatement: Int
    let insertSQL: String
    let deleteSQL: String
    let selectSQL: String
    /// The terms that are selected for a row whose large values lie apart: their sizes instead of them. Nil if no value may lie
    /// apart.
    let deferredTerms: [String]?
    /// Finds a row by its key.
    let keySQL: String
    /// Finds a row by each of the uniqueness constraints.
    let constraintSQL: [String]

    static let keyName = "_key"
    /// The same as SQL.
    static let quotedKey = keyName.quoted
    /// The term for a column that is not stored.
    static let missing = "NULL"

    var insertStatement: Int { firstStatement }
    var deleteStatement: Int { firstStatement + 1 }
    var keyStatement: Int { firstStatement + 2 }
    func constraintStatement(_ constraint: Int) -> Int { firstStatement + 3 + constraint }
    func unquotedName(_ column: Int) -> String { names[column] ?? "" }
    var statementCount: Int { 3 + constraintSQL.count }

    /// - Parameter names: The name of each stored column by its index, unquoted.
    init(
        _ layout: EntityLayout, name: String, names: [Int: String], indexedColumns: Set<Int>, firstStatement: Int
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
        let terms = layout.columns.indices.map { names[$0]?.quoted ?? EntityTable.missing }
        self.terms = terms
        longestTerm = terms.reduce(0) { max($0, $1.utf8.count) }

        let table = name.quoted
        quotedName = table
        let key = EntityTable.quotedKey
        queryTable = QueryTable(layout, name: table, key: key, columns: names.mapValues(\.quoted))
        let declarations = EntityTable.declarations(layout, terms)
        createSQL = "CREATE TABLE \(table) (" + declarations.joined(separator: ", ") + ")"
        shape = TableShape(name: name, declarations)

        let list = ([key] + layout.storedColumns.map { terms[$0] }).joined(separator: ", ")
        let marks = (1...layout.storedColumns.count + 1).map { "?\($0)" }.joined(separator: ", ")
        insertSQL = "INSERT INTO \(table) (\(list)) VALUES (\(marks))"
        deleteSQL = "DELETE FROM \(table) WHERE \(key) = ?1"
        let select = "SELECT \(list) FROM \(table)"
        selectSQL = select
        deferredTerms = layout.deferredColumns.isEmpty ? nil : deferredColumns.map { $0.term(terms[$0.index]) }
        keySQL = "\(select) WHERE \(key) = ?1"
        constraintSQL = layout.constraints.map { columns in
            let tests = columns.enumerated().map { "\(terms[$1]) = ?\($0 + 1)" }.joined(separator: " AND ")
            return "\(select) WHERE \(tests)"
        }
    }
}

extension EntityTable {
    /// The columns of a new table, sorted by name, because the order in the model may change without changing the model.
    private static func declarations(_ layout: EntityLayout, _ terms: [String]) -> [String] {
        let isDeferred = Set(layout.deferredColumns)
        func sorted(_ columns: [Int]) -> [String] {
            columns.map { "\(terms[$0]) \(layout.columns[$0].storage.typeName)" }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
        return ["\(quotedKey) INTEGER PRIMARY KEY"]
            + sorted(layout.storedColumns.filter { !isDeferred.contains($0) }) + sorted(layout.deferredColumns)
    }
}

extension EntityTable.Column {
    /// What is selected for the column: of a large value that lies apart its size, which SQLite knows without reading it.
    fileprivate func term(_ name: String) -> String {
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
