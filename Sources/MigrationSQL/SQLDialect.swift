package import ManagedModel
package import RowStore

/// Where the SQL of two stores differs.
package protocol SQLDialect: Sendable {
    /// The type of keys and numbers.
    var integerType: String { get }
    /// The beginning of the statement that makes a table for the time of the migration.
    var createLookup: String { get }

    /// The term for a parameter.
    ///
    /// - Parameters:
    ///   - number: Its number, the first being 1.
    ///   - storage: The type of its value.
    func parameter(_ number: Int, _ storage: ColumnStorage) -> String
    /// The wider form of a number; NULL if that would change the number.
    func widened(_ term: String, _ widening: NumberWidening) -> String
    /// A string that is derived from another one; nil if the store cannot say it, and the rows are completed later.
    func changed(_ term: String, _ change: TextChange) -> String?
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
