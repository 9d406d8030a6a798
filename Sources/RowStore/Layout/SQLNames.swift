internal import ManagedModel

/// Makes a unique database name for each element of a model.
///
/// The same calls in the same order always make the same names. A store therefore finds its tables again.
package struct SQLNames<Key: Hashable> {
    private var taken: Set<Key>
    private let key: (String) -> Key
    private let fitting: (String) -> String

    /// - Parameters:
    ///   - key: Returns a value for a name. The values must be equal for names that the database treats as the same.
    ///   - fitting: Returns a name that the database accepts.
    package init(reserved: [String], key: @escaping (String) -> Key, fitting: @escaping (String) -> String) {
        taken = Set(reserved.map(key))
        self.key = key
        self.fitting = fitting
    }

    /// Returns a name that the database accepts. Appends underscores until the name is unique.
    package mutating func claim(_ name: String) throws(DataSourceError) -> String {
        guard !name.isEmpty, !name.utf8.contains(0) else {
            throw DataSourceError(
                .unreadableModel, "The model has a name that is empty or contains a NUL character. Choose another name."
            )
        }
        var wanted = name
        while true {
            let claimed = fitting(wanted)
            if taken.insert(key(claimed)).inserted { return claimed }
            wanted += "_"
        }
    }

    /// Returns the names of an entity's stored columns, by column index.
    ///
    /// - Parameter limit: The maximum number of columns in a table, including the key.
    package mutating func claimColumns(of entity: EntityLayout, limit: Int) throws(DataSourceError) -> [Int: String] {
        guard entity.storedColumns.count < limit else {
            throw DataSourceError(
                .unreadableModel,
                "\(entity.name) has \(entity.storedColumns.count) stored columns, but a table can have only \(limit - 1). "
                    + "Divide the entity.", entityName: entity.name)
        }
        var names: [Int: String] = [:]
        // Sort the columns by name, because their order in the model can change without a reset.
        let sorted = entity.storedColumns.sorted {
            entity.columns[$0].name.utf8.lexicographicallyPrecedes(entity.columns[$1].name.utf8)
        }
        for column in sorted { names[column] = try claim(entity.columns[column].name) }
        return names
    }
}

extension String {
    /// The name as an SQL identifier. All names are quoted, because they may be keywords, or contain spaces or quotes.
    package var quoted: String {
        utf8.contains(UInt8(ascii: "\""))
            ? "\"" + parts(separatedBy: "\"").joined(separator: "\"\"") + "\"" : "\"\(self)\""
    }
    /// The string as an SQL literal.
    package var quotedText: String {
        "'" + parts(separatedBy: "'").joined(separator: "''") + "'"
    }
}

/// A statement with the values of its parameters, in the order of the parameters.
package struct SQLStatement: Sendable {
    package let sql: String
    package let values: [RowValue]

    package init(_ sql: String, _ values: [RowValue] = []) {
        self.sql = sql
        self.values = values
    }
}
