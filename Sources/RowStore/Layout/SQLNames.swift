internal import ManagedModel

/// Gives each element of a model a unique name in a database.
///
/// The names depend only on the order of the requests, so a store finds its tables again.
package struct SQLNames<Key: Hashable> {
    private var taken: Set<Key>
    private let key: (String) -> Key
    private let fitting: (String) -> String

    /// - Parameters:
    ///   - key: Maps a name to a value that is equal for names that the database considers the same.
    ///   - fitting: Maps a name to a name that the database accepts.
    package init(reserved: [String], key: @escaping (String) -> Key, fitting: @escaping (String) -> String) {
        taken = Set(reserved.map(key))
        self.key = key
        self.fitting = fitting
    }

    /// The name as the database accepts it, with as many underscores as are needed to make it unique.
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

    /// The names of the stored columns of an entity, by column index.
    ///
    /// - Parameter limit: The largest number of columns of a table, including the key.
    package mutating func claimColumns(of entity: EntityLayout, limit: Int) throws(DataSourceError) -> [Int: String] {
        guard entity.storedColumns.count < limit else {
            throw DataSourceError(
                .unreadableModel,
                "\(entity.name) has \(entity.storedColumns.count) stored columns, but a table can have only \(limit - 1). "
                    + "Divide the entity.", entityName: entity.name)
        }
        var names: [Int: String] = [:]
        // In the order of the names, because the order in the model may change without a reset.
        let sorted = entity.storedColumns.sorted {
            entity.columns[$0].name.utf8.lexicographicallyPrecedes(entity.columns[$1].name.utf8)
        }
        for column in sorted { names[column] = try claim(entity.columns[column].name) }
        return names
    }
}

extension String {
    /// The name as an SQL identifier. Names are always quoted, because they may be keywords or contain spaces or quotes.
    package var quoted: String {
        utf8.contains(UInt8(ascii: "\""))
            ? "\"" + parts(separatedBy: "\"").joined(separator: "\"\"") + "\"" : "\"\(self)\""
    }
    /// The string as an SQL literal.
    package var quotedText: String {
        "'" + parts(separatedBy: "'").joined(separator: "''") + "'"
    }
}

/// A statement with the values of its parameters, in order.
package struct SQLStatement: Sendable {
    package let sql: String
    package let values: [RowValue]

    package init(_ sql: String, _ values: [RowValue] = []) {
        self.sql = sql
        self.values = values
    }
}
