internal import ManagedModel
internal import MigrationSQL
internal import ModelMigration
internal import RowStore

/// The SQL of a migration as SQLite needs it. It uses the functions that ``Connection/addMigrationFunctions()`` registers.
struct SQLiteDialect: SQLDialect {
    let derivesStrings = true

    func type(_ storage: ColumnStorage) -> String { storage.typeName }

    func parameter(_ number: Int, _ storage: ColumnStorage) -> String { "?\(number)" }

    func widened(_ term: String, _ widening: NumberWidening) -> String { widening.sql(term) }

    func changed(_ term: String, _ change: TextChange) -> String {
        "\(TextChange.functionName)(\(change.rawValue.quotedText), \(term))"
    }
}

extension StoreSchema {
    /// The tables as a migration reads and fills them.
    var storedModel: StoredModel {
        StoredModel(
            layout, format: format, tables: tables.map { $0.map(StoredTable.init) }, joins: joins.map(StoredJoin.init))
    }
}

extension StoredTable {
    init(_ table: EntityTable) {
        self.init(table.layout, name: table.name.quoted, terms: table.terms, createSQL: table.shape.sql)
    }
}

extension StoredJoin {
    init(_ join: JoinTable) {
        func end(_ end: JoinTable.End) -> End {
            End(key: end.key.quoted, entity: end.entity?.quoted, position: end.position?.quoted)
        }
        self.init(
            join.relationship, name: join.name.quoted, source: end(join.source), destination: end(join.destination),
            createSQL: join.createSQL)
    }
}
