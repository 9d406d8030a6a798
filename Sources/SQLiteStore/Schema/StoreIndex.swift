internal import ManagedModel
internal import RowStore

/// An index of a table. Its name contains its definition. Two indexes with the same name therefore have the same definition.
struct StoreIndex: Sendable {
    struct Element: Sendable, Hashable {
        /// The quoted column.
        let expression: String
        var isAscending = true
    }

    let table: String
    let isUnique: Bool
    let elements: [Element]

    /// The prefixes of this library's index names. All other indexes belong to other programs, and are kept.
    static let prefixes = ["_unique ", "_index "]

    private var definition: String {
        "\(table.quoted) ("
            + elements.map { $0.isAscending ? $0.expression : $0.expression + " DESC" }.joined(separator: ", ")
            + ")"
    }

    var name: String { StoreIndex.prefixes[isUnique ? 0 : 1] + definition }

    var createSQL: String {
        "CREATE \(isUnique ? "UNIQUE " : "")INDEX IF NOT EXISTS \(name.quoted) ON \(definition)"
    }

    /// Returns the indexes of a table. The table of an entity also has the indexes of the entity's ancestors.
    static func all(of table: EntityTable, _ model: ManagedObjectModel, format: Int64) -> [StoreIndex] {
        let unique = table.layout.constraints.compactMap { columns in
            elements(columns.map { IndexedColumn(column: $0) }, table)
        }
        let positions = table.layout.positionColumns
        guard table.layout.links == nil, let entity = model.entity(named: table.layout.name) else {
            let ordered = positions.sorted { $0.key < $1.key }.compactMap { owner, position in
                elements([IndexedColumn(column: owner), IndexedColumn(column: position)], table)
            }
            return unique.map { StoreIndex(table: table.name, isUnique: true, elements: $0) }
                + ordered.map { StoreIndex(table: table.name, isUnique: false, elements: $0) }
        }
        let declared = table.layout.indexes.compactMap { elements($0, table) }
        let single = model.columns(of: entity, format: format).enumerated().compactMap { position, column in
            column.isIndexed
                ? elements([position, positions[position]].compactMap(\.self).map { IndexedColumn(column: $0) }, table)
                : nil
        }
        return unique.map { StoreIndex(table: table.name, isUnique: true, elements: $0) }
            + (declared + single).filter { !unique.contains($0) }
            .map { StoreIndex(table: table.name, isUnique: false, elements: $0) }
    }

    /// Returns the columns that have an index for ranges of their values: the first column of each index, except decimals.
    static func firstColumns(_ layout: EntityLayout) -> Set<Int> {
        // Decimals are indexed as strings, whose order differs from the order of the numbers.
        Set(layout.columns.indices.filter { layout.indexedColumns.contains($0) && !layout.columns[$0].isDecimal })
    }

    /// Returns the elements of an index; nil if one of the columns is not stored.
    private static func elements(_ keys: [IndexedColumn], _ table: EntityTable) -> [Element]? {
        guard keys.allSatisfy({ table.layout.columns[$0.column].isStored }) else { return nil }
        return keys.map { Element(expression: table.expressions[$0.column], isAscending: $0.isAscending) }
    }
}
