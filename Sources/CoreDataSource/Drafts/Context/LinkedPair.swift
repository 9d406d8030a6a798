internal import RowStore

/// The two ends of a link that is a row of its own.
struct LinkedPair {
    let source: LinkEnd
    let destination: LinkEnd
    let pairs: PairColumns
    /// The relationship of the source.
    let name: String
    /// The relationship of the destination, if it has one.
    let inverseName: String?

    /// The entities that the ends of a layout's links can have.
    struct Families {
        let columns: PairColumns
        let source: [Int]
        let destination: [Int]
        let name: String
        let inverseName: String?

        /// - Returns: Nil for a layout that is not one of links.
        init?(_ links: EntityLayout, _ layout: ModelLayout) {
            guard let path = links.links, let owner = layout.entity(named: path.entity),
                let index = owner.relationship(named: path.name)
            else { return nil }
            columns = links.pairColumns(isReversed: false)
            source = owner.concreteFamily
            destination = owner.relationships[index].destinationFamily
            name = path.name
            inverseName = owner.relationships[index].inverse?.name
        }
    }

    init?(_ link: ManagedObject, _ layout: ModelLayout) { self.init(link.row, link.layout, layout) }

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
