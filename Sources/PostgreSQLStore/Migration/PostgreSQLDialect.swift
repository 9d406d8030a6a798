#if PostgreSQL
internal import ManagedModel
internal import MigrationSQL
internal import RowStore

/// The SQL of a migration as the server needs it.
struct PostgreSQLDialect: SQLDialect {
    let integerType = "bigint"
    let createLookup = "CREATE TEMPORARY TABLE"

    func parameter(_ number: Int, _ storage: ColumnStorage) -> String { "$\(number)::\(storage.typeName)" }

    func widened(_ term: String, _ widening: NumberWidening) -> String {
        switch widening {
        case .unchanged: return term
        case .decimal: return "\(term)::text"
        case .double, .float:
            // An integer above that number becomes 2^63 as a floating-point number, which no integer can be.
            let real = "\(term)::double precision"
            return "CASE WHEN \(term) <= 9223372036854774784 AND \(real)::bigint = \(term) THEN \(real) END"
        }
    }

    /// The server has other rules for letters.
    func changed(_ term: String, _ change: TextChange) -> String? { nil }
}

extension PostgreSQLSchema {
    /// The tables as a migration reads and fills them.
    var storedModel: StoredModel {
        let tables = tables.map { $0.map(StoredTable.init) }
        return StoredModel(
            layout, format: ManagedObjectModel.storeFormat, tables: tables,
            joins: tables.compactMap { $0.flatMap(StoredJoin.init) })
    }
}

extension StoredTable {
    init(_ table: PostgreSQLTable) {
        self.init(
            table.layout, name: table.name,
            terms: table.layout.columns.indices.map { table.columns[$0] ?? StoredTable.missing },
            createSQL: table.createSQL)
    }
}
#endif
