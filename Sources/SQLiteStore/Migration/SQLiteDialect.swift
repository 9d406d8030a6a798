internal import ManagedModel
internal import MigrationSQL
internal import ModelMigration
package import RowStore

/// The SQL for a migration in SQLite. Some statements call the functions that ``Connection/addMigrationFunctions()`` registers.
struct SQLiteDialect: SQLDialect {
    let derivesStrings = true

    func type(_ storage: ColumnStorage) -> String { storage.typeName }

    func parameter(_ number: Int, _ storage: ColumnStorage) -> String { "?\(number)" }

    func widened(_ expression: String, _ widening: NumberWidening) -> String { widening.sql(expression) }

    func transformed(_ expression: String, _ change: StringTransformation) -> String {
        "\(StringTransformation.functionName)(\(change.rawValue.quotedText), \(expression))"
    }
}

extension StoreSchema {
    /// The tables in the form that a migration reads and fills.
    var storedModel: StoredModel {
        StoredModel(
            layout, format: format, tables: tables.map { $0.map(StoredTable.init) }, joins: joins.map(StoredJoin.init))
    }
}

extension StoredTable {
    init(_ table: EntityTable) {
        self.init(table.layout, name: table.name.quoted, expressions: table.expressions, createSQL: table.shape.sql)
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

extension NumberWidening {
    /// Converts a number to the stored form of the wider type.
    ///
    /// - Returns: Nil if the conversion would change the number, or if the value is not a number.
    package func callAsFunction(_ value: RowValue) -> RowValue? {
        switch (self, value) {
        case (.unchanged, _), (_, .null): value
        case (.decimal, .integer(let number)): .text(String(number))
        case (.double, .integer(let number)): Double(exactly: number).map { .real($0) }
        case (.float, .integer(let number)): Float(exactly: number).map { .real(Double($0)) }
        default: nil
        }
    }

    static let functionName = "widen_number"

    /// Returns SQL that converts a number to the wider type. The SQL yields NULL if the conversion would change the number.
    func sql(_ expression: String) -> String {
        self == .unchanged ? expression : "\(NumberWidening.functionName)(\(rawValue.quotedText), \(expression))"
    }
}
