internal import RowStore

/// Rows that store links, and their columns for the owner and for the other end.
struct LinkSource {
    let layout: Int
    /// The column with the owner's key.
    let owner: Int
    /// The column of the other end; nil if that is the row itself.
    let other: LinkColumn?
    let position: Int?
    /// The entities that the other end can have; a single one if no column stores it.
    private let family: [Int]

    init(_ layout: Int, _ column: LinkColumn) {
        self.layout = layout
        owner = column.key
        other = nil
        position = column.position
        family = [layout]
    }

    init(_ pairs: PairColumns, _ family: [Int]) {
        layout = pairs.layout
        owner = pairs.own.key
        other = pairs.other
        position = pairs.other.position
        self.family = family
    }

    var columns: [Int] { [owner, other?.key, other?.entity, position].compactMap { $0 } }

    func end(_ stored: StoredRow) -> LinkEnd? {
        guard let other else { return LinkEnd(entity: layout, key: stored.key) }
        return stored.row.end(other, family)
    }
}

extension RelationshipLayout {
    /// Where the links of a relationship are, if they are not in its sources' own rows.
    var linkSources: [LinkSource] {
        switch storage {
        case .column, .none: []
        case .inverseColumn(let column): destinationFamily.map { LinkSource($0, column) }
        case .pairs(let pairs): [LinkSource(pairs, destinationFamily)]
        }
    }
}

extension ManagedObject {
    /// The destination of a column; nil if it leads nowhere.
    final func end(_ column: LinkColumn, _ relationship: RelationshipLayout) -> LinkEnd? {
        row.end(column, relationship.destinationFamily)
    }
}

extension RowSnapshot {
    /// The destination of columns, which has one of those entities.
    func end(_ column: LinkColumn, _ family: [Int]) -> LinkEnd? {
        if isNull(column.key) { return nil }
        let entity = column.entity.map { isNull($0) ? -1 : Int(integer($0)) } ?? family.first
        // Another program may have written anything.
        guard let entity, family.contains(entity) else { return nil }
        return LinkEnd(entity: entity, key: integer(column.key))
    }
}

/// One end of a link: the other object, by its entity's number and its key.
struct LinkEnd: Hashable {
    let entity: Int
    let key: Int64
}
