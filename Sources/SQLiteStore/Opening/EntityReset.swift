internal import ManagedModel
internal import RowStore

/// Makes the tables of some entities anew and leaves those of the others, in one transaction.
struct EntityReset {
    let schema: StoreSchema
    let probe: StoreProbe
    let found: Metadata
    let identity: StoreIdentity
    /// The entities whose tables are made anew, whatever is in them.
    let dropped: Set<String>

    struct Outcome {
        let metadata: Metadata
        let rowsDropped: Int
        let countFailure: String?
        /// Sorted.
        let entities: [String]
    }

    func run() throws(DataSourceError) -> Outcome {
        let connection = probe.connection
        let kept = schema.tables.compactMap { $0 }.filter(isKept)
        let keptNames = Set(kept.map(\.layout.name))
        let joins = schema.joins.filter { isKept($0, keptNames) }
        let stays = Set(kept.map(\.name) + joins.map(\.name) + [Metadata.table])
        let goes = probe.contents.filter { $0.type == "table" && !stays.contains($0.name) }
        let (rowsDropped, countFailure) = try probe.droppedRows(in: goes.map(\.name))
        let metadata = Metadata(
            identity: identity, storeID: found.storeID, firstFreeKey: found.firstFreeKey,
            modelText: schema.modelText)
        try connection.transaction { () throws(DataSourceError) in
            for other in probe.contents where other.type == "trigger" || other.type == "view" {
                try connection.run("DROP \(other.type.uppercased()) IF EXISTS \(other.name.quoted)")
            }
            for table in goes { try connection.run("DROP TABLE \(table.name.quoted)") }
            for table in schema.namedSQL where !stays.contains(table.name) { try connection.run(table.sql) }
            for table in kept { try dropDanglingLinks(table, keptNames) }
            let indexes = try StoreProbe(connection).indexNames
            for sql in schema.indexChanges(indexes) { try connection.run(sql) }
            try connection.run(Metadata.deleteSQL)
            try connection.insert(metadata)
        }
        let names = Set(identity.entityHashes.keys).union(found.identity.entityHashes.keys).filter { name in
            !keptNames.contains(name) && schema.layout.entity(named: name)?.isAbstract != true
        }
        return Outcome(
            metadata: metadata, rowsDropped: rowsDropped, countFailure: countFailure, entities: names.sorted())
    }

    /// Rows may hold the numbers of entities, which are their places in the model.
    private var areNumbersChanged: Bool {
        Set(found.identity.entityHashes.keys) != Set(identity.entityHashes.keys)
    }

    private func isKept(_ table: EntityTable) -> Bool {
        guard !dropped.contains(table.layout.name), found.identity.entityHashes[table.layout.name] != nil,
            hasTable(table.createSQL)
        else { return false }
        return !areNumbersChanged || links(of: table).allSatisfy { !$0.holdsEntity }
    }

    private func isKept(_ join: JoinTable, _ kept: Set<String>) -> Bool {
        hasTable(join.createSQL) && join.entities.isSubset(of: kept) && !(areNumbersChanged && join.holdsEntities)
    }

    private func hasTable(_ sql: String) -> Bool {
        probe.contents.contains { $0.type == "table" && $0.sql == sql }
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

    /// Takes out the links of rows that stay to rows that do not.
    private func dropDanglingLinks(_ table: EntityTable, _ kept: Set<String>) throws(DataSourceError) {
        for link in links(of: table) {
            let family = schema.layout.entity(named: link.destination)?.concreteFamily ?? []
            guard family.contains(where: { !kept.contains(schema.layout.entities[$0].name) }) else { continue }
            let keys = family.compactMap { schema.tables[$0] }.map {
                "SELECT \(EntityTable.keyName.quoted) FROM \($0.name.quoted)"
            }
            let term = table.terms[link.column]
            let entity = link.holdsEntity ? ", \(table.terms[link.column + 1]) = NULL" : ""
            try probe.connection.run(
                "UPDATE \(table.name.quoted) SET \(term) = NULL\(entity) WHERE \(term) IS NOT NULL"
                    + (keys.isEmpty ? "" : " AND \(term) NOT IN (\(keys.joined(separator: " UNION ALL ")))"))
        }
    }
}
