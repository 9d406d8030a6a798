#if PostgreSQL
internal import ManagedModel
internal import MigrationSQL
internal import RowStore

/// The table of one concrete entity, or of the links of a many-to-many relationship.
struct PostgreSQLTable: Sendable {
    let layout: EntityLayout
    /// Quoted, with its schema.
    let name: String
    /// Without quotes and schema, as in the server's errors.
    let bareName: String
    /// The quoted name of each stored column, by its index.
    let columns: [Int: String]
    /// The unquoted names of the same columns.
    let bareColumns: [Int: String]
    /// The stored columns, in the order in which all statements list them.
    let stored: [Int]
    let constraints: [Constraint]
    let indexes: [Index]
    let createSQL: String
    let insertSQL: String
    /// Inserts any number of rows. Each parameter is an array: the keys, and then the values of each column.
    let insertManySQL: String
    /// Inserts rows in the binary format of COPY.
    let copySQL: String
    let deleteSQL: String
    let selectSQL: String
    let keySQL: String
    /// For each uniqueness constraint, the statement that finds a row by the constraint's columns.
    let constraintSQL: [String]

    static let keyName = "_key"
    /// The largest number of columns of a table on a server.
    private static let columnLimit = 1600

    /// Columns that are unique together.
    struct Constraint: Sendable {
        /// The constraint's index in the layout.
        let number: Int
        let name: String
        let columns: [Int]

        /// Deferred: the server checks the constraint only at the end of a save, so rows can exchange unique values.
        fileprivate func definition(_ expression: (Int) -> String) -> String {
            "CONSTRAINT \(name.quoted) UNIQUE (\(columns.map(expression).joined(separator: ", "))) DEFERRABLE INITIALLY DEFERRED"
        }
    }

    struct Index: Sendable {
        let name: String
        /// The table and the indexed columns, as SQL.
        fileprivate let definition: String

        /// - Parameter isConcurrent: Whether other members can write during the build.
        func createSQL(isConcurrent: Bool = false) -> String {
            "CREATE INDEX \(isConcurrent ? "CONCURRENTLY " : "")IF NOT EXISTS \(name.quoted) ON \(definition)"
        }
    }

    init(_ layout: EntityLayout, schema: String, name bareName: String) throws(DataSourceError) {
        self.layout = layout
        self.bareName = bareName
        let name = schema.quoted + "." + bareName.quoted
        self.name = name
        var claims = Identifiers.unique(besides: [PostgreSQLTable.keyName] + Identifiers.systemColumns)
        let names = try claims.claimColumns(of: layout, limit: PostgreSQLTable.columnLimit)
        let columns = names.mapValues(\.quoted)
        let stored = layout.storedColumns
        self.columns = columns
        bareColumns = names
        self.stored = stored
        constraints = PostgreSQLTable.constraints(layout, bareName, names)
        let key = PostgreSQLTable.keyName.quoted
        func expression(_ column: Int) -> String { columns[column] ?? "NULL" }
        let columnDefinitions = stored.map { column in
            let storage = layout.columns[column].storage
            return "\(expression(column)) \(storage.typeName)\(storage == .text ? " COLLATE \"C\"" : "")"
        }
        let parts = ["\(key) bigint PRIMARY KEY"] + columnDefinitions + constraints.map { $0.definition(expression) }
        createSQL = "CREATE TABLE \(name) (\(parts.joined(separator: ", ")))"
        let list = ([key] + stored.map(expression)).joined(separator: ", ")
        let numbers = (1...stored.count + 1).map { "$\($0)" }
        insertSQL = "INSERT INTO \(name) (\(list)) VALUES (\(numbers.joined(separator: ", ")))"
        let arrays = zip(numbers, [ColumnStorage.integer] + stored.map { layout.columns[$0].storage })
            .map { "\($0)::\($1.typeName)[]" }
        insertManySQL = "INSERT INTO \(name) (\(list)) SELECT * FROM unnest(\(arrays.joined(separator: ", ")))"
        copySQL = "COPY \(name) (\(list)) FROM STDIN (FORMAT binary)"
        deleteSQL = "DELETE FROM \(name) WHERE \(key) = ANY($1::bigint[])"
        let select = "SELECT \(list) FROM \(name)"
        selectSQL = select
        keySQL = select + " WHERE \(key) = $1"
        constraintSQL = layout.constraints.map { columns in
            let conditions = columns.enumerated().map { "\(expression($1)) = $\($0 + 1)" }
            return select + " WHERE " + conditions.joined(separator: " AND ")
        }
        indexes = PostgreSQLTable.indexes(of: layout, on: name, columns: columns)
    }

    private static func constraints(
        _ layout: EntityLayout, _ table: String, _ names: [Int: String]
    ) -> [Constraint] {
        layout.constraints.enumerated().filter { $1.allSatisfy { names[$0] != nil } }.map { number, columns in
            let name = "_unique " + table + " " + columns.compactMap { names[$0] }.joined(separator: " ")
            return Constraint(number: number, name: Identifiers.fitting(name), columns: columns)
        }
    }

    /// The statement that writes the columns of one row. Parameter 1 is the key; the values follow.
    func updateSQL(_ columns: [Int]) -> String {
        let settings = columns.enumerated().map { "\(self.columns[$1] ?? "") = $\($0 + 2)" }
        return "UPDATE \(name) SET \(settings.joined(separator: ", ")) WHERE \(PostgreSQLTable.keyName.quoted) = $1"
    }

    /// The statement that writes the columns of any number of rows. Each parameter is an array: the keys, and then the
    /// values of each column.
    func updateManySQL(_ columns: [Int]) -> String {
        let settings = columns.enumerated().map { "\(self.columns[$1] ?? "") = _new.v\($0)" }
        let arrays = columns.enumerated().map { ", $\($0 + 2)::\(layout.columns[$1].storage.typeName)[]" }
        let names = columns.indices.map { ", v\($0)" }
        return "UPDATE \(name) AS _old SET \(settings.joined(separator: ", ")) "
            + "FROM unnest($1::bigint[]\(arrays.joined())) AS _new(k\(names.joined())) "
            + "WHERE _old.\(PostgreSQLTable.keyName.quoted) = _new.k"
    }
}

extension PostgreSQLTable {
    /// The indexes of the model. An index name contains the definition, so an index with the same name has the same definition.
    ///
    /// An ordered index would refuse long strings, so columns of strings and data have a hash index, which finds only equal
    /// values.
    private static func indexes(
        of layout: EntityLayout, on table: String, columns: [Int: String]
    ) -> [Index] {
        let unique = Set(layout.constraints.compactMap(\.first))
        let single = layout.columns.indices.filter { column in
            layout.indexedColumns.contains(column) && !unique.contains(column)
        }
        var definitions: [String] = []
        let positions = layout.positionColumns
        var all = layout.indexes
        for column in single {
            all.append([column, positions[column]].compactMap(\.self).map { IndexedColumn(column: $0) })
        }
        if layout.links != nil {
            // A column that begins a uniqueness constraint was left out above. Index the column together with its positions.
            for (owner, position) in positions where unique.contains(owner) {
                all.append([IndexedColumn(column: owner), IndexedColumn(column: position)])
            }
        }
        for elements in all {
            guard let first = elements.first, let expression = columns[first.column] else { continue }
            if layout.columns[first.column].isLong {
                definitions.append("USING hash (\(expression))")
                continue
            }
            let short = elements.prefix { !layout.columns[$0.column].isLong && columns[$0.column] != nil }
            let expressions = short.map { element in
                (columns[element.column] ?? "") + (element.isAscending ? " NULLS FIRST" : " DESC NULLS LAST")
            }
            definitions.append("USING btree (\(expressions.joined(separator: ", ")))")
        }
        return Set(definitions).sorted().map { definition in
            let name = Identifiers.fitting("_index \(layout.name) \(definition)")
            return Index(name: name, definition: "\(table) \(definition)")
        }
    }
}

extension ColumnLayout {
    fileprivate var isLong: Bool { storage == .text || storage == .blob }
}

extension PostgreSQLSchema {
    /// The tables for a migration to read and fill.
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
            expressions: table.layout.columns.indices.map { table.columns[$0] ?? StoredTable.missing },
            createSQL: table.createSQL)
    }
}
#endif
