#if PostgreSQL
internal import ManagedModel
internal import MigrationSQL
internal import ModelMigration
internal import RowStore

/// The SQL of a migration as the server needs it.
struct PostgreSQLDialect: SQLDialect {
    // The server has other rules for letters.
    let derivesStrings = false

    func type(_ storage: ColumnStorage) -> String { storage.typeName }

    func parameter(_ number: Int, _ storage: ColumnStorage) -> String { "$\(number)::\(storage.typeName)" }

    func widened(_ term: String, _ widening: NumberWidening) -> String {
        switch widening {
        case .unchanged: return term
        case .decimal: return "\(term)::text"
        case .double, .float:
            let number = "\(term)::\(widening == .float ? "real" : "double precision")"
            // An integer above that number becomes 2^63 as a floating-point number, which no integer can be.
            let bound = widening == .float ? "9223371487098961920" : "9223372036854774784"
            return "CASE WHEN \(term) <= \(bound) AND \(number)::bigint = \(term) THEN \(number)::double precision END"
        }
    }

    func changed(_ term: String, _ change: TextChange) -> String { StoredTable.missing }
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
