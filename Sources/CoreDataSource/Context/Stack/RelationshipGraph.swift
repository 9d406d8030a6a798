internal import RowStore

/// The effects of deletions and links on other rows, by entity. The graph is derived from the model.
final class RelationshipGraph: Sendable {
    /// Rows with links to objects of an entity, for a relationship without an inverse.
    struct Incoming: Sendable {
        let layout: Int
        let column: LinkColumns
        /// Whether the row is a pair row, which only links two objects.
        let isPair: Bool
    }

    /// A link column of a relationship with a count rule, which limits the number of the relationship's objects.
    struct CountedColumn: Sendable {
        let column: LinkColumns
        /// The possible entities of the owner.
        let owners: [Int]
        /// The name of the owner's relationship.
        let name: String
    }

    /// By entity: the rows that lose their links when an object is deleted.
    let incoming: [[Incoming]]
    /// By entity: the relationships with a count rule whose links are stored in other rows.
    let counted: [[Int]]
    /// By layout, including layouts of links: the columns whose values change the count of a relationship with a count rule.
    let countedColumns: [[CountedColumn]]
    /// By layout: whether a change of its rows requires a check of relationship rules.
    let isChecked: [Bool]
    /// Whether the model has any rule for relationships.
    var hasChecks: Bool { !checkedLayouts.isEmpty }
    private let checkedLayouts: [Int]
    /// By layout: for pair rows, the possible entities of both ends; empty for other layouts.
    private let linkEnds: [[Int]]
    /// By layout: whether any relationship leads to rows of the layout.
    private let isDestination: [Bool]
    /// By layout: the columns with keys of other objects.
    let linkColumns: [[Int]]
    /// By layout: the columns with the destinations and positions of links.
    private let linkAndPositionColumns: [[Int]]
    /// By entity: whether deleting an object affects other rows.
    let hasEffects: [Bool]
    /// By entity: the layouts whose rows may change, or must be checked, when an object of the entity is deleted.
    private let reach: [Set<Int>]
    /// By layout: the relationships of the layout.
    private let relationships: [[RelationshipLayout]]

    init(_ layout: ModelLayout) {
        let incoming = RelationshipGraph.incoming(layout)
        let counted = layout.entities.map { entity in
            entity.relationships.indices.filter { entity.relationships[$0].isCounted }
        }
        let countedColumns = RelationshipGraph.countedColumns(layout, counted)
        let isChecked = layout.entities.map { entity in
            !counted[entity.index].isEmpty || !countedColumns[entity.index].isEmpty
                || entity.relationships.contains(where: \.isRequiredColumn)
        }
        let destinations = Set(layout.entities.flatMap { $0.relationships.flatMap(\.destinationFamily) })
        self.incoming = incoming
        self.counted = counted
        self.countedColumns = countedColumns
        self.isChecked = isChecked
        checkedLayouts = isChecked.indices.filter { isChecked[$0] }
        linkEnds = layout.entities.map { RelationshipGraph.linkEnds(of: $0, layout) }
        isDestination = layout.entities.map { destinations.contains($0.index) }
        linkColumns = layout.entities.map(\.linkColumns)
        linkAndPositionColumns = layout.entities.map(\.linkAndPositionColumns)
        hasEffects = layout.entities.map { entity in
            !incoming[entity.index].isEmpty || entity.relationships.contains(where: \.hasEffects)
        }
        reach = layout.entities.map { RelationshipGraph.reach(of: $0, layout, incoming) }
        relationships = layout.entities.map(\.relationships)
    }

    /// Returns the entities whose rows may change, or must be checked, when objects of the given entities are deleted. For a
    /// layout of links, the result has the entities of both ends instead.
    func reach(of entities: Set<Int>) -> Set<Int> {
        let layouts = entities.reduce(into: Set<Int>()) { $0.formUnion(reach[$1]) }
        return layouts.reduce(into: []) { $0.formUnion(linkEnds[$1].isEmpty ? [$1] : Set(linkEnds[$1])) }
    }

    /// Whether delete rules or count rules require that objects of an entity are deleted one by one.
    func needsObjects(toDelete entity: Int) -> Bool { hasEffects[entity] || !countedColumns[entity].isEmpty }

    /// Returns the entities whose rows a cascade can delete without making objects, when objects of the given entities are
    /// deleted.
    ///
    /// Deleting a row of these entities has no further effects, and only one delete rule can delete the row.
    func entitiesDeletedAsRows(byDeleting entities: Set<Int>) -> Set<Int> {
        var (deleted, waiting) = (entities, Array(entities))
        var unlinked: Set<Int> = []
        var rules: [Int: Set<String>] = [:]
        while let next = waiting.popLast() {
            unlinked.formUnion(incoming[next].map(\.layout))
            for relationship in relationships[next] where relationship.hasEffects {
                let path = "\(relationship.path.entity).\(relationship.name)"
                for end in relationship.destinationFamily { rules[end, default: []].insert(path) }
                guard relationship.description.deleteRule == .cascade else { continue }
                for end in relationship.destinationFamily where deleted.insert(end).inserted { waiting.append(end) }
            }
        }
        return deleted.filter {
            !entities.contains($0) && !needsObjects(toDelete: $0) && rules[$0]?.count == 1 && !unlinked.contains($0)
        }
    }

    /// Whether a change of rows changes links.
    func changesLinks(_ changes: EntityChanges) -> Bool {
        let columns = linkAndPositionColumns[changes.entity]
        // An inserted row counts even if the layout has no links: if a deletion is rolled back, the row appears as inserted,
        // and the links to the row return.
        if !changes.inserted.isEmpty || !changes.deleted.isEmpty {
            return !columns.isEmpty || isDestination[changes.entity]
        }
        return changes.updated.contains { row in columns.contains(where: row.columns.contains) }
    }

    /// The possible entities of both ends of links.
    func ends(ofLinks layout: Int) -> [Int] { linkEnds[layout] }

    // MARK: Derivation

    private static func incoming(_ layout: ModelLayout) -> [[Incoming]] {
        var incoming = [[Incoming]](repeating: [], count: layout.entities.count)
        for entity in layout.entities where !entity.isAbstract {
            for relationship in entity.relationships where relationship.inverse == nil {
                switch relationship.storage {
                case .column(let column):
                    for end in relationship.destinationFamily {
                        incoming[end].append(Incoming(layout: entity.index, column: column, isPair: false))
                    }
                case .pairs(let pairs):
                    for end in relationship.destinationFamily
                    where !incoming[end].contains(where: { $0.layout == pairs.layout }) {
                        incoming[end].append(Incoming(layout: pairs.layout, column: pairs.other, isPair: true))
                    }
                case .inverseColumn, .none: break
                }
            }
        }
        return incoming
    }

    private static func countedColumns(_ layout: ModelLayout, _ counted: [[Int]]) -> [[CountedColumn]] {
        var columns = [[CountedColumn]](repeating: [], count: layout.entities.count)
        for entity in layout.entities where !entity.isAbstract {
            for index in counted[entity.index] {
                let relationship = entity.relationships[index]
                guard let column = relationship.ownerColumn else { continue }
                let owners = layout.entity(named: relationship.path.entity)?.concreteFamily ?? []
                for source in relationship.linkSources {
                    let isKnown = columns[source.layout].contains {
                        $0.name == relationship.name && $0.column.key == source.owner
                    }
                    if isKnown { continue }
                    columns[source.layout].append(
                        CountedColumn(column: column, owners: owners, name: relationship.name))
                }
            }
        }
        return columns
    }

    /// Returns the entities of both ends of a layout of links. Returns an empty array for other layouts.
    private static func linkEnds(of entity: EntityLayout, _ layout: ModelLayout) -> [Int] {
        guard let (source, relationship) = layout.relationship(ofLinks: entity) else { return [] }
        return Set(source.concreteFamily + relationship.destinationFamily).sorted()
    }

    private static func reach(of entity: EntityLayout, _ layout: ModelLayout, _ incoming: [[Incoming]]) -> Set<Int> {
        var reach: Set<Int> = []
        var deleted: Set<Int> = [entity.index]
        var waiting = [entity.index]
        while let next = waiting.popLast() {
            for row in incoming[next] { reach.insert(row.layout) }
            for relationship in layout.entities[next].relationships where relationship.hasEffects {
                if case .pairs(let pairs) = relationship.storage { reach.insert(pairs.layout) }
                let isPair = if case .pairs = relationship.storage { true } else { false }
                if !isPair || relationship.description.deleteRule != .nullify {
                    reach.formUnion(relationship.destinationFamily)
                }
                guard relationship.description.deleteRule == .cascade else { continue }
                for end in relationship.destinationFamily where deleted.insert(end).inserted { waiting.append(end) }
            }
        }
        return reach
    }
}

extension EntityLayout {
    /// The columns with the destinations and positions of links.
    fileprivate var linkAndPositionColumns: [Int] {
        if links != nil { return Array(columns.indices) }
        return relationships.flatMap { relationship -> [Int] in
            guard case .column(let column) = relationship.storage else { return [] }
            return [column.key, column.entity, column.position].compactMap { $0 }
        }
    }
}

extension RelationshipLayout {
    /// Whether deleting a source affects other rows, or can be refused by the rule Deny.
    fileprivate var hasEffects: Bool {
        switch (storage, description.deleteRule) {
        case (.none, _): false
        case (.pairs, _), (_, .cascade), (_, .deny): true
        case (.column, .nullify): isSymmetric
        case (.inverseColumn, .nullify): true
        case (.column, .noAction), (.inverseColumn, .noAction): false
        }
    }

    /// Whether the relationship has a count rule whose check reads other rows.
    fileprivate var isCounted: Bool {
        if case .none = storage { return false }
        if case .column = storage { return false }
        return !description.isOptional || isToMany && (description.minimumCount > 1 || description.maximumCount > 0)
    }

    /// Whether the relationship is required and its links are stored in the rows of its sources.
    fileprivate var isRequiredColumn: Bool {
        if case .column = storage { !description.isOptional } else { false }
    }

    /// The column with the source's key, in the rows that store the links; nil if the source's own row stores the links.
    fileprivate var ownerColumn: LinkColumns? {
        switch storage {
        case .inverseColumn(let column): column
        case .pairs(let pairs): pairs.own
        case .column, .none: nil
        }
    }
}

/// The rows that store the links of a relationship, with the columns of the owner and of the other end.
struct LinkSource {
    let layout: Int
    let ownerColumns: LinkColumns
    /// The column with the owner's key.
    var owner: Int { ownerColumns.key }
    /// The column of the other end; nil if the row itself is the other end.
    let other: LinkColumns?
    let position: Int?
    /// The possible entities of the other end; a single entity if no column stores the entity.
    private let family: [Int]

    init(_ layout: Int, _ column: LinkColumns) {
        self.layout = layout
        ownerColumns = column
        other = nil
        position = column.position
        family = [layout]
    }

    init(_ pairs: PairColumns, _ family: [Int]) {
        layout = pairs.layout
        ownerColumns = pairs.own
        other = pairs.other
        position = pairs.other.position
        self.family = family
    }

    var columns: [Int] { [owner, ownerColumns.entity, other?.key, other?.entity, position].compactMap { $0 } }

    func end(_ stored: StoredRow) -> LinkEnd? {
        guard let other else { return LinkEnd(entity: layout, key: stored.key) }
        return stored.row.end(other, family)
    }
}

extension LinkColumns {
    /// Matches the rows whose link leads to an object of one entity with one of the keys. Objects of two entities can have the
    /// same key.
    func leads(to entity: Int, _ keys: ValueList) -> RowPredicate {
        let isKey =
            keys.elements.count == 1
            ? RowPredicate.compare(column: key, .equal, keys.elements[0]) : .isMember(.column(key), keys)
        guard let column = self.entity else { return isKey }
        return .and([isKey, .compare(column: column, .equal, .integer(Int64(entity)))])
    }
}

extension RelationshipLayout {
    /// The rows that store the links of the relationship; empty if the rows of its sources store the links.
    var linkSources: [LinkSource] {
        switch storage {
        case .column, .none: []
        case .inverseColumn(let column): destinationFamily.map { LinkSource($0, column) }
        case .pairs(let pairs): [LinkSource(pairs, destinationFamily)]
        }
    }
}

extension RowSnapshot {
    /// Returns the destination in a link column; nil if there is none, or if the destination's entity is not in the family.
    func end(_ column: LinkColumns, _ family: [Int]) -> LinkEnd? {
        if isNull(column.key) { return nil }
        let entity = column.entity.map { isNull($0) ? -1 : Int(integer($0)) } ?? family.first
        // Another program may have written an invalid entity.
        guard let entity, family.contains(entity) else { return nil }
        return LinkEnd(entity: entity, key: integer(column.key))
    }

    /// Returns the destination of a relationship whose link is in the row; nil if there is none, or if the link is in another row.
    func end(of relationship: RelationshipLayout) -> LinkEnd? {
        guard case .column(let column) = relationship.storage else { return nil }
        return end(column, relationship.destinationFamily)
    }
}
