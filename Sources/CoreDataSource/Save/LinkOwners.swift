internal import RowStore

/// The two ends of a link that is stored in a row of its own.
struct LinkedPair {
    let source: LinkEnd
    let destination: LinkEnd
    let pairs: PairColumns
    /// The name of the source's relationship.
    let name: String
    /// The name of the inverse relationship, which belongs to the destination; nil if there is no inverse.
    let inverseName: String?

    var ends: [LinkEnd] { [source, destination] }

    /// The entities that the source and the destination of a link can belong to.
    struct Families {
        let columns: PairColumns
        let source: [Int]
        let destination: [Int]
        let name: String
        let inverseName: String?

        /// - Returns: Nil if the layout does not store links.
        init?(_ links: EntityLayout, _ layout: ModelLayout) {
            guard let (owner, relationship) = layout.relationship(ofLinks: links) else { return nil }
            columns = links.pairColumns(isReversed: false)
            source = owner.concreteFamily
            destination = relationship.destinationFamily
            name = relationship.name
            inverseName = relationship.inverse?.name
        }
    }

    /// - Parameter links: The layout of the row.
    init?(_ row: RowSnapshot, _ links: EntityLayout, _ layout: ModelLayout) {
        guard let families = Families(links, layout), let source = row.end(families.columns.own, families.source),
            let destination = row.end(families.columns.other, families.destination)
        else { return nil }
        pairs = families.columns
        name = families.name
        inverseName = families.inverseName
        self.source = source
        self.destination = destination
    }
}

/// An object to which a link belongs, although another row stores the link.
struct LinkOwner: Hashable {
    /// The entity of the rows that store such links.
    let storage: Int
    let object: LinkEnd
}

extension RelationshipLayout {
    /// The entities of the rows that store the links of an object; empty if these links do not belong to the object.
    var linkStorages: [Int] {
        switch storage {
        case .pairs(let pairs): [pairs.layout]
        case .inverseColumn where !isToMany: destinationFamily
        case .inverseColumn, .column, .none: []
        }
    }
}

/// Finds the objects to which the links in the rows of one entity belong. The objects of these rows themselves are left out.
///
/// If only one side of a relationship is to-one, a link belongs to the object with this side, like the value of an attribute.
/// If both sides are to-many, or both are to-one, a link belongs to both objects, because neither object alone determines the
/// link. If there is no inverse, a link belongs only to the object that has the relationship.
struct LinkOwners {
    /// One end of the links.
    private struct End {
        let column: LinkColumns
        /// The possible entities of the object at this end.
        let family: [Int]
        /// Whether the links belong to the object at this end, because the object has the relationship or its inverse.
        let isOwner: Bool
        /// The column with the order of the links of the object at this end; nil if these links have no order.
        let position: Int?
    }

    private let entity: Int
    private let ends: [End]
    private let isPair: Bool

    /// Returns nil if all links in the rows belong to the rows themselves.
    init?(_ entity: Int, _ layout: ModelLayout) {
        let rows = layout.entities[entity]
        self.entity = entity
        isPair = rows.links != nil
        ends = isPair ? LinkOwners.pairEnds(rows, layout) : LinkOwners.oneToOneEnds(rows, layout)
        if ends.isEmpty { return nil }
    }

    private static func pairEnds(_ rows: EntityLayout, _ layout: ModelLayout) -> [End] {
        guard let families = LinkedPair.Families(rows, layout) else { return [] }
        let pairs = families.columns
        return [
            End(column: pairs.own, family: families.source, isOwner: true, position: pairs.other.position),
            End(
                column: pairs.other, family: families.destination, isOwner: families.inverseName != nil,
                position: pairs.own.position),
        ]
    }

    private static func oneToOneEnds(_ rows: EntityLayout, _ layout: ModelLayout) -> [End] {
        rows.relationships.compactMap { relationship in
            guard case .column(let column) = relationship.storage, let inverse = relationship.inverse,
                let owner = layout.entity(named: inverse.entity), let index = owner.relationship(named: inverse.name),
                !owner.relationships[index].isToMany
            else { return nil }
            return End(column: column, family: relationship.destinationFamily, isOwner: true, position: nil)
        }
    }

    /// Returns the objects whose links a save or a batch has added, removed or moved.
    ///
    /// - Parameters:
    ///   - changes: Changes of rows of the entity.
    ///   - isCounted: Returns whether a change counts. The first argument is the key of the row. The second argument is empty,
    ///     except for a deleted row: then it has the objects at the ends of the deleted links.
    func owners(
        of changes: EntityChanges, where isCounted: (_ key: Int64, _ lost: [LinkEnd]) -> Bool = { _, _ in true }
    ) -> Set<LinkOwner> {
        var owners: Set<LinkOwner> = []
        for row in changes.inserted where isCounted(row.key, []) { owners.formUnion(self.owners(row.row)) }
        for row in changes.updated where isCounted(row.key, []) { owners.formUnion(self.owners(row)) }
        for row in changes.deleted where isCounted(row.key, ends.compactMap { row.row.end($0.column, $0.family) }) {
            owners.formUnion(self.owners(row.row))
        }
        return owners
    }

    private func owners(_ row: RowSnapshot) -> [LinkOwner] {
        ends.compactMap { end in end.isOwner ? owner(row, end) : nil }
    }

    private func owners(_ row: UpdatedRow) -> [LinkOwner] {
        func isMoved(_ end: End) -> Bool {
            [end.column.key, end.column.entity].contains { $0.map(row.columns.contains) ?? false }
        }
        let arePairsMoved = isPair && ends.contains(where: isMoved)
        return ends.filter(\.isOwner).flatMap { end in
            let isReordered = end.position.map(row.columns.contains) ?? false
            guard arePairsMoved || isMoved(end) || isReordered else { return [LinkOwner]() }
            return [owner(row.previous, end), owner(row.row, end)].compactMap { $0 }
        }
    }

    private func owner(_ row: RowSnapshot, _ end: End) -> LinkOwner? {
        row.end(end.column, end.family).map { LinkOwner(storage: entity, object: $0) }
    }
}
