package import ManagedModel
package import ModelMigration
package import RowStore

/// Where the SQL of two stores differs.
package protocol SQLDialect: Sendable {
    /// Whether it derives strings as a save does. If not, the rows are completed later.
    var derivesStrings: Bool { get }
    /// The type of columns with such values.
    func type(_ storage: ColumnStorage) -> String

    /// The term for a parameter.
    ///
    /// - Parameters:
    ///   - number: Its number, the first being 1.
    ///   - storage: The type of its value.
    func parameter(_ number: Int, _ storage: ColumnStorage) -> String
    /// The wider form of a number; NULL if that would change the number.
    func widened(_ term: String, _ widening: NumberWidening) -> String
    /// A string that is derived from another one, if the store can derive them.
    func changed(_ term: String, _ change: TextChange) -> String
}

/// A statement with the values of its parameters, from the first one on.
package struct MigrationStatement: Sendable {
    package let sql: String
    package let values: [RowValue]

    init(_ sql: String, _ values: [RowValue] = []) {
        self.sql = sql
        self.values = values
    }
}
