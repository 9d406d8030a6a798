package import ManagedModel
package import RowStore

/// The tables that a store has for a model. All names are quoted SQL, and include the schema if necessary.
package struct StoredModel: Sendable {
    package let layout: ModelLayout
    package let format: Int64
    /// The tables, by the indexes of their entities; nil for abstract entities.
    package let tables: [StoredTable?]
    /// The tables for links that cannot be stored in a column of an entity's row.
    package let joins: [StoredJoin]

    package init(_ layout: ModelLayout, format: Int64, tables: [StoredTable?], joins: [StoredJoin]) {
        self.layout = layout
        self.format = format
        self.tables = tables
        self.joins = joins
    }

    /// Returns the table of the entity with the name; nil for an abstract or unknown entity.
    package func table(_ name: String) -> StoredTable? {
        layout.entity(named: name).flatMap { tables[$0.index] }
    }

    /// Returns the indexes of the concrete entities in the family of the entity with the name.
    func family(_ name: String) -> [Int] { layout.entity(named: name)?.concreteFamily ?? [] }
}

/// The table of one concrete entity, or of the links of a relationship.
package struct StoredTable: Sendable {
    package let layout: EntityLayout
    package let name: String
    /// The SQL for each column of the layout; ``missing`` for a column that is not stored.
    package let expressions: [String]
    /// The SQL that made the table, with the columns in a fixed order.
    let createSQL: String

    /// The column with the keys of the rows.
    package static let key = "\"_key\""
    /// The SQL for a column that is not stored.
    package static let missing = "NULL"

    package init(_ layout: EntityLayout, name: String, expressions: [String], createSQL: String) {
        self.layout = layout
        self.name = name
        self.expressions = expressions
        self.createSQL = createSQL
    }
}

/// A table whose rows are the links of a relationship and its inverse.
package struct StoredJoin: Sendable {
    package let name: String
    /// The relationship from the objects at the ``source`` end to the objects at the ``destination`` end.
    package let relationship: RelationshipName
    package let source: End
    package let destination: End
    /// The SQL that made the table.
    let createSQL: String

    /// The columns of one end.
    package struct End: Sendable {
        let key: String
        /// The column with the entity's index; nil if all objects at this end have the same entity.
        let entity: String?
        /// Each object at the other end has a list of linked objects at this end. This column has the position of an object in
        /// that list; nil if the list is not ordered.
        let position: String?

        package init(key: String, entity: String?, position: String?) {
            self.key = key
            self.entity = entity
            self.position = position
        }
    }

    package init(
        _ relationship: RelationshipName, name: String, source: End, destination: End, createSQL: String
    ) {
        self.relationship = relationship
        self.name = name
        self.source = source
        self.destination = destination
        self.createSQL = createSQL
    }

    /// Makes the description of a table of links. Returns nil for the table of an entity.
    package init?(_ table: StoredTable) {
        guard let relationship = table.layout.links else { return nil }
        let columns = table.layout.pairColumns(isReversed: false)
        func end(_ column: LinkColumns) -> End {
            End(
                key: table.expressions[column.key], entity: column.entity.map { table.expressions[$0] },
                position: column.position.map { table.expressions[$0] })
        }
        self.init(
            relationship, name: table.name, source: end(columns.own), destination: end(columns.other),
            createSQL: table.createSQL)
    }
}

extension String {
    /// Returns whether both strings have the same UTF-8 bytes, which is how a database compares them. Swift also treats some
    /// strings with different bytes as equal.
    func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension StoredModel {
    /// Counts the objects of each concrete entity.
    package func counts(_ connection: some SQLConnection) throws(DataSourceError) -> [(entity: String, count: Int)] {
        try tables.compactMap(\.self).filter { $0.layout.links == nil }.map { table throws(DataSourceError) in
            (table.layout.name, try connection.number("SELECT count(*) FROM \(table.name)"))
        }
    }

    /// Counts the links to missing rows, by relationship, such as `Letter.topic`. Relationships without such links are left
    /// out.
    package func danglingLinks(_ connection: some SQLConnection) throws(DataSourceError) -> [String: Int] {
        var counts: [String: Int] = [:]
        for table in tables.compactMap(\.self) {
            for (name, column, family) in linkColumns(table.layout) {
                let key = "link.\(table.expressions[column])"
                let ends = family.compactMap { tables[$0]?.name }.map { end in
                    "NOT EXISTS (SELECT 1 FROM \(end) AS found WHERE found.\(StoredTable.key) = \(key))"
                }
                let conditions = ["\(key) IS NOT NULL"] + ends
                let found = try connection.number(
                    "SELECT count(*) FROM \(table.name) AS link WHERE \(conditions.joined(separator: " AND "))")
                if found > 0 { counts[name, default: 0] += found }
            }
        }
        return counts
    }

    /// Returns those columns of a table that have keys of linked rows. For each column, returns the relationship, the
    /// column, and the entities that the linked rows can belong to.
    func linkColumns(_ entity: EntityLayout) -> [(name: String, column: Int, family: [Int])] {
        layout.linksToRows(of: entity).filter { entity.columns[$0.columns.key].isStored }.map { link in
            ("\(link.path.entity).\(link.path.name)", link.columns.key, link.family)
        }
    }
}
