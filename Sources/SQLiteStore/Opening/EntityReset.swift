internal import ManagedModel
internal import RowStore

/// Makes new tables for some entities and keeps those of the others, in one transaction. What other programs have added to the
/// file stays.
struct EntityReset {
    let schema: StoreSchema
    let probe: StoreProbe
    let found: StoreMetadata
    let identity: StoreIdentity
    /// The entities whose tables are made again, whatever they contain.
    let dropped: Set<String>

    struct Outcome {
        let metadata: StoreMetadata
        let rowsDropped: Int
        let countFailure: String?
        /// Sorted.
        let entities: [String]
    }

    /// - Throws: `storeCorrupt` if there are triggers, which would run with everything that is written; `foreignDatabase` if
    ///   another program's table has a name that the model needs.
    func run() throws(DataSourceError) -> Outcome {
        let connection = probe.connection
        try probe.checkTriggers()
        let reshaped = try reshapedTables()
        let kept = schema.tables.compactMap { $0 }.filter(isKept) + reshaped
        let keptNames = Set(kept.map(\.layout.name))
        let joins = schema.joins.filter(isKept)
        let stays = Set(kept.map(\.name) + joins.map(\.name) + [StoreMetadata.table])
        let goes = ownTables().subtracting(stays).sorted()
        try checkNames(made: schema.namedSQL.map(\.name).filter { !stays.contains($0) }, dropped: goes)
        let (rowsDropped, countFailure) = try probe.droppedRows(in: goes)
        let metadata = StoreMetadata(
            identity: identity, storeID: found.storeID, firstFreeKey: found.firstFreeKey,
            modelText: schema.modelText)
        try connection.transaction { () throws(DataSourceError) in
            for table in goes { try connection.run("DROP TABLE \(table.quoted)") }
            for table in reshaped { try reshape(table) }
            for table in schema.namedSQL where !stays.contains(table.name) { try connection.run(table.sql) }
            for table in kept { try dropDanglingLinks(table, keptNames) }
            for join in joins where !join.entities.isSubset(of: keptNames) { try dropDanglingLinks(join) }
            let indexes = try StoreProbe(connection).indexNames
            for sql in schema.indexChanges(indexes) { try connection.run(sql) }
            try connection.run(StoreMetadata.deleteSQL)
            try connection.insert(metadata)
        }
        let names = Set(identity.entityHashes.keys).union(found.identity.entityHashes.keys).filter { name in
            !keptNames.contains(name) && schema.layout.entity(named: name)?.isAbstract != true
        }
        return Outcome(
            metadata: metadata, rowsDropped: rowsDropped, countFailure: countFailure, entities: names.sorted())
    }

    /// The tables that this library has made.
    private func ownTables() -> Set<String> {
        let tables = Set(probe.contents.lazy.filter { $0.type == "table" }.map(\.name))
        do throws(DataSourceError) {
            let isSame = found.identity.modelHash == identity.modelHash
            let own = isSame ? schema : try StoreSchema(found.model(), format: found.format)
            return tables.intersection(own.namedSQL.map(\.name))
        } catch {
            // A store of an earlier release has no copy of its model. Its tables are those with keys.
            return tables.filter(probe.hasKeys)
        }
    }

    /// - Throws: `foreignDatabase` if another program's table, view or index has the name of a table that is made.
    private func checkNames(made: [String], dropped: [String]) throws(DataSourceError) {
        let (made, dropped) = (Set(made.map { $0.lowercased() }), Set(dropped))
        guard
            let other = probe.contents.first(where: {
                made.contains($0.name.lowercased()) && !dropped.contains($0.name)
            })
        else { return }
        throw DataSourceError(
            .foreignDatabase,
            "Another program has added \(other.name) to \(probe.connection.path), but the model needs that name. Rename it there."
        )
    }

    /// Rows may contain the numbers of entities, which are their positions in the model.
    private var areNumbersChanged: Bool {
        Set(found.identity.entityHashes.keys) != Set(identity.entityHashes.keys)
    }

    private func isKept(_ table: EntityTable) -> Bool {
        isSame(table) && probe.shapes.contains(table.shape)
    }

    private func isSame(_ table: EntityTable) -> Bool {
        guard table.layout.links == nil, !dropped.contains(table.layout.name),
            found.identity.entityHashes[table.layout.name] != nil
        else { return false }
        return !areNumbersChanged || links(of: table).allSatisfy { !$0.holdsEntity }
    }

    private func isKept(_ join: JoinTable) -> Bool {
        probe.hasTable(join.createSQL) && !(areNumbersChanged && join.holdsEntities)
    }

    // MARK: Shapes

    private func reshapedTables() throws(DataSourceError) -> [EntityTable] {
        var tables: [EntityTable] = []
        for case let table? in schema.tables where try isReshaped(table) { tables.append(table) }
        return tables
    }

    /// Whether an entity is unchanged, but a change of another one moves the links between the two.
    private func isReshaped(_ table: EntityTable) throws(DataSourceError) -> Bool {
        let model = schema.layout.model
        guard isSame(table), !probe.shapes.contains(table.shape), let entity = model.entity(named: table.layout.name),
            model.lineage(of: entity).allSatisfy({ !dropped.contains($0.name) }),
            probe.contents.contains(where: { $0.type == "table" && $0.name == table.name })
        else { return false }
        let names = try probe.columnNames(of: table.name)
        return table.layout.storedColumns.allSatisfy { column in
            table.layout.columns[column].attribute == nil || names.contains(table.unquotedName(column))
        }
    }

    /// Gives a table its new columns, and keeps the values of those that stay.
    private func reshape(_ table: EntityTable) throws(DataSourceError) {
        var names = Names(reserved: probe.contents.map(\.name) + schema.namedSQL.map(\.name))
        let aside = try names.claim("_old").quoted
        let before = try probe.columnNames(of: table.name)
        let columns = table.layout.storedColumns.map(table.unquotedName).filter(before.contains)
        let list = ([EntityTable.keyName] + columns).map(\.quoted).joined(separator: ", ")
        let connection = probe.connection
        // Otherwise SQLite refuses it if a view of another program names a table that is gone.
        try connection.run("PRAGMA legacy_alter_table = ON")
        try connection.run("ALTER TABLE \(table.name.quoted) RENAME TO \(aside)")
        try connection.run(table.createSQL)
        try connection.run("INSERT INTO \(table.name.quoted) (\(list)) SELECT \(list) FROM \(aside)")
        try connection.run("DROP TABLE \(aside)")
        try connection.run("PRAGMA legacy_alter_table = OFF")
    }

    // MARK: Links

    /// A column with the key of another row.
    private struct Link {
        let column: Int
        let destination: String
        /// Whether another column holds the number of the other row's entity.
        let holdsEntity: Bool
    }

    private func links(of table: EntityTable) -> [Link] {
        guard let entity = schema.layout.model.entity(named: table.layout.name) else { return [] }
        let columns = schema.layout.model.columns(of: entity, format: schema.format)
        return columns.enumerated().compactMap { index, column in
            guard case .destinationKey(let relationship) = column.role, column.isStored else { return nil }
            let holdsEntity = columns.contains { $0.role == .destinationEntity(relationship) }
            return Link(column: index, destination: relationship.destinationName, holdsEntity: holdsEntity)
        }
    }

    /// Removes the links from rows that stay to rows that do not.
    private func dropDanglingLinks(_ table: EntityTable, _ kept: Set<String>) throws(DataSourceError) {
        for link in links(of: table) {
            let family = schema.layout.entity(named: link.destination)?.concreteFamily ?? []
            guard family.contains(where: { !kept.contains(schema.layout.entities[$0].name) }) else { continue }
            let keys = keys(ofEntityNamed: link.destination)
            let term = table.terms[link.column]
            var settings = "\(term) = NULL"
            for name in ["entity", "position"] {
                let column = table.layout.column(named: "\(table.layout.columns[link.column].name).\(name)")
                if let column { settings += ", \(table.terms[column]) = NULL" }
            }
            try probe.connection.run(
                "UPDATE \(table.name.quoted) SET \(settings) WHERE \(term) IS NOT NULL"
                    + (keys.isEmpty ? "" : " AND \(term) NOT IN (\(keys.joined(separator: " UNION ALL ")))"))
        }
    }

    /// Removes the pairs with an end that is gone.
    private func dropDanglingLinks(_ join: JoinTable) throws(DataSourceError) {
        let destination = schema.layout.model.relationship(join.relationship)?.destinationName ?? ""
        for (end, entity) in [(join.source, join.relationship.entity), (join.destination, destination)] {
            let keys = keys(ofEntityNamed: entity)
            try probe.connection.run(
                "DELETE FROM \(join.name.quoted)"
                    + (keys.isEmpty
                        ? "" : " WHERE \(end.key.quoted) NOT IN (\(keys.joined(separator: " UNION ALL ")))"))
        }
    }

    /// Queries for the keys of all objects of an entity and its sub-entities.
    private func keys(ofEntityNamed name: String) -> [String] {
        let family = schema.layout.entity(named: name)?.concreteFamily ?? []
        return family.compactMap { schema.tables[$0] }.map {
            "SELECT \(EntityTable.quotedKey) FROM \($0.name.quoted)"
        }
    }
}
