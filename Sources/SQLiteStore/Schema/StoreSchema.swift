internal import ManagedModel
internal import ModelMigration
internal import PredicateSQL
internal import RowStore

/// The tables and indexes that a model needs.
struct StoreSchema: Sendable {
    let layout: ModelLayout
    /// The tables, at the indexes of their layouts; nil for abstract entities.
    let tables: [EntityTable?]
    /// The names of the tables that predicates use, by the indexes of the layouts.
    let queryTables: [Int: QueryTable]
    let joins: [JoinTable]
    /// The indexes, by their names. A name contains the whole definition of the index.
    let indexes: [String: StoreIndex]

    /// The maximum number of columns in a table, with SQLite's default settings.
    static let columnLimit = 2000

    /// The format that this release writes. Opening a store with a higher format throws.
    static let format = ManagedObjectModel.storeFormat

    /// The format of this schema. The schema of an existing store may have a lower format.
    let format: Int64

    init(_ layout: ModelLayout) throws(DataSourceError) {
        try self.init(layout, format: StoreSchema.format)
    }

    /// Makes the schema of a store that an earlier release may have written.
    init(_ model: ManagedObjectModel, format: Int64) throws(DataSourceError) {
        try self.init(ModelLayout(model, format: format), format: format)
    }

    private init(_ layout: ModelLayout, format: Int64) throws(DataSourceError) {
        self.layout = layout
        self.format = format
        var names = Names(reserved: [StoreMetadata.table])
        var tables: [EntityTable?] = []
        var firstStatement = StatementSlot.firstOfTables
        for entity in layout.entities {
            guard !entity.isAbstract else {
                tables.append(nil)
                continue
            }
            let table = EntityTable(
                entity, name: try names.claim(entity.name), names: try StoreSchema.columnNames(entity, format),
                indexedColumns: StoreIndex.firstColumns(entity), firstStatement: firstStatement)
            firstStatement = firstStatement.advanced(by: table.statementCount)
            tables.append(table)
        }
        self.tables = tables
        queryTables = Dictionary(
            uniqueKeysWithValues: tables.compactMap { $0.map { ($0.layout.index, $0.queryTable) } })
        joins =
            try format == ManagedObjectModel.firstStoreFormat
            ? JoinTable.all(of: layout.model, &names) : tables.compactMap { $0.flatMap { JoinTable($0, layout) } }
        let indexes =
            tables.compactMap { $0 }.flatMap { StoreIndex.all(of: $0, layout.model, format: format) }
            + joins.map(\.index)
        self.indexes = Dictionary(indexes.map { ($0.name, $0) }) { first, _ in first }
    }

    private static func columnNames(_ entity: EntityLayout, _ format: Int64) throws(DataSourceError) -> [Int: String] {
        // A table of links is recognized by the names of its columns, so a table of objects must not have columns with these
        // names.
        let reservesLinkNames = entity.links == nil && format > ManagedObjectModel.firstStoreFormat
        var names = Names(
            reserved: [EntityTable.keyName] + (reservesLinkNames ? [LinkNames.source, LinkNames.destination] : []))
        return try names.claimColumns(of: entity, limit: columnLimit)
    }

    /// The copy of the model that the store keeps, as a string.
    var modelText: String { layout.model.storedText }

    /// The SQL that makes each table, including the metadata table.
    var createSQL: [String] { namedSQL.map(\.sql) }

    /// The name and the SQL of each table, including the metadata table.
    var namedSQL: [(name: String, sql: String)] {
        [(StoreMetadata.table, StoreMetadata.createSQL)] + tables.compactMap { $0.map { ($0.name, $0.createSQL) } }
            + namedJoinSQL
    }

    /// Checks that no table of the model has one of the names.
    ///
    /// - Parameter need: The part of the error message that says what needs such a table.
    func requireFree(_ names: [String], _ need: String) throws(DataSourceError) {
        guard let taken = namedSQL.first(where: { names.contains($0.name.lowercased()) })?.name else { return }
        throw DataSourceError(
            .unreadableModel, "The model has an entity named \(taken), but \(need). Rename the entity.",
            entityName: taken)
    }

    /// The SQL of the metadata table, and of the join tables in the first store format.
    var otherSQL: [String] { [StoreMetadata.createSQL] + namedJoinSQL.map(\.sql) }

    private var namedJoinSQL: [(name: String, sql: String)] {
        format == ManagedObjectModel.firstStoreFormat ? joins.map { ($0.name, $0.createSQL) } : []
    }

    /// Returns the SQL that makes the missing indexes of the model, and drops this library's indexes that the model no longer
    /// has. Indexes are not part of the model's hash.
    ///
    /// - Parameter present: The names of the existing indexes.
    func indexChanges(_ present: Set<String>) -> [String] {
        let superfluous = present.filter { name in
            indexes[name] == nil && StoreIndex.prefixes.contains { name.utf8.starts(with: $0.utf8) }
        }
        let missing = indexes.values.filter { !present.contains($0.name) }
        return superfluous.sorted().map { "DROP INDEX \($0.quoted)" }
            + missing.sorted { $0.name < $1.name }.map(\.createSQL)
    }
}

/// Names of tables or columns. SQLite ignores the case of ASCII letters in names.
typealias Names = SQLNames<[UInt8]>

extension SQLNames<[UInt8]> {
    init(reserved: [String]) {
        func folded(_ name: String) -> [UInt8] { name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
        self.init(reserved: reserved, key: folded) { name in
            // SQLite reserves this prefix.
            folded(name).starts(with: "sqlite_".utf8) ? "_" + name : name
        }
    }
}

/// The table with the store's metadata.
extension StoreMetadata {
    static let table = "_metadata"
    static let createSQL = "CREATE TABLE \"_metadata\" (\"name\" TEXT PRIMARY KEY, \"value\") WITHOUT ROWID"
    static let selectSQL = "SELECT \"name\", \"value\" FROM \"_metadata\""
    static let insertSQL = "INSERT INTO \"_metadata\" (\"name\", \"value\") VALUES (?1, ?2)"
    static let deleteSQL = "DELETE FROM \"_metadata\""
    static let deleteModelSQL = "DELETE FROM \"_metadata\" WHERE \"name\" = 'model'"
    static let selectFirstFreeKeySQL = "SELECT \"value\" FROM \"_metadata\" WHERE \"name\" = 'firstFreeKey'"
    static let setFirstFreeKeySQL = "UPDATE \"_metadata\" SET \"value\" = ?1 WHERE \"name\" = 'firstFreeKey'"

    /// Adds 1 to the count of failed commits. A transaction with this statement overwrites a failed commit that may be complete
    /// in the write-ahead log. The transaction must change something, because a transaction without changes does not get into
    /// the log.
    static let countFailedCommitSQL =
        "INSERT INTO \"_metadata\" (\"name\", \"value\") VALUES ('failedCommits', 1) "
        + "ON CONFLICT (\"name\") DO UPDATE SET \"value\" = \"value\" + 1"
}

/// The name of a table, and the declarations of its columns in a fixed order. Shapes are compared byte by byte.
struct TableShape: Hashable {
    /// The bytes of ``sql`` in UTF-8.
    private let bytes: [UInt8]

    /// - Parameters:
    ///   - name: The unquoted name of the table.
    ///   - declarations: The quoted name and the type of each column, in any order.
    init(name: String, _ declarations: [String]) {
        let sorted = declarations.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        bytes = Array((TableShape.start(name) + sorted.joined(separator: ", ") + ")").utf8)
    }

    /// - Parameter sql: The SQL that made the table. If this library would not write such SQL, the shape differs from the
    ///   shapes of all tables of this library.
    init(name: String, sql: String) {
        let start = TableShape.start(name)
        let isOwn = sql.utf8.starts(with: start.utf8) && sql.utf8.last == UInt8(ascii: ")")
        self.init(
            name: name, isOwn ? TableShape.parts(Array(sql.utf8.dropFirst(start.utf8.count).dropLast())) : [])
    }

    /// The SQL of the shape, with the columns sorted.
    var sql: String { String(decoding: bytes, as: UTF8.self) }

    private static func start(_ name: String) -> String { "CREATE TABLE \(name.quoted) (" }

    /// Splits the string at the commas that are outside of quotes.
    private static func parts(_ body: [UInt8]) -> [String] {
        var parts: [String] = []
        var start = 0
        var isQuoted = false
        for (index, byte) in body.enumerated() {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard byte == UInt8(ascii: ","), !isQuoted else { continue }
            parts.append(String(decoding: body[start..<index], as: UTF8.self))
            // Skip the comma and the space.
            start = min(index + 2, body.count)
        }
        return parts + [String(decoding: body[start...], as: UTF8.self)]
    }
}
