package import RowStore

/// The names that queries need of the table of one concrete entity, or of links, all of them quoted.
package struct QueryTable: Sendable {
    package let layout: EntityLayout
    /// The table, with its schema.
    package let name: String
    /// The column with the rows' keys.
    package let key: String
    /// The stored columns, by their numbers.
    package let columns: [Int: String]

    package init(_ layout: EntityLayout, name: String, key: String, columns: [Int: String]) {
        self.layout = layout
        self.name = name
        self.key = key
        self.columns = columns
    }
}
