internal import RowStore

/// A changed link in a ``CommittedSave`` or a ``HistoryRecord``: a link of a many-to-many relationship, or of a to-many
/// relationship without an inverse.
public struct SavedLink: Sendable, Hashable {
    /// The kind of a change.
    public enum Kind: String, Sendable, Hashable {
        /// The objects are linked now.
        case insert
        /// The link has a different position than before in an ordered relationship.
        case move
        /// The objects are no longer linked.
        case delete
    }

    /// What has happened to the link.
    public let kind: Kind
    /// The name of the relationship, such as `ContactEntity.groups`. If the relationship has an inverse, the name is that of
    /// the relationship that comes first, by entity name and then by relationship name.
    public let relationshipName: String
    /// The object that has the relationship.
    public let source: ManagedObjectID
    /// The object to which the relationship leads.
    public let destination: ManagedObjectID
}

extension CommittedSave {
    /// The changed links of many-to-many relationships, and of to-many relationships without an inverse.
    ///
    /// ```swift
    /// for link in save.linkChanges { print(link.kind, link.source, link.destination) }
    /// ```
    ///
    /// **Complexity**: O(*n*) for *n* changed links.
    public var linkChanges: [SavedLink] {
        linkRows.flatMap { changes in
            let link = LinkReader(changes.entity, layout)
            return changes.inserted.compactMap { link?.change(.insert, $0.row) }
                + changes.updated.compactMap { link?.change(.move, $0.row) }
                + changes.deleted.compactMap { link?.change(.delete, $0.row) }
        }
    }
}

/// Reads the ends of links.
private struct LinkReader {
    private let name: String
    private let families: LinkedPair.Families
    private let layout: ModelLayout

    init?(_ entity: Int, _ layout: ModelLayout) {
        guard let families = LinkedPair.Families(layout.entities[entity], layout) else { return nil }
        name = layout.entities[entity].historyName
        self.families = families
        self.layout = layout
    }

    func change(_ kind: SavedLink.Kind, _ row: RowSnapshot) -> SavedLink? {
        guard let source = layout.linkedID(row, families.columns.own, families.source),
            let destination = layout.linkedID(row, families.columns.other, families.destination)
        else { return nil }
        return SavedLink(kind: kind, relationshipName: name, source: source, destination: destination)
    }
}

extension ModelLayout {
    /// The ID of the object to which link columns of a row lead; nil if they lead to no object, or if the model does not have
    /// the entity of the object.
    ///
    /// - Parameter family: The indexes of the possible entities of the object.
    func linkedID(_ row: RowSnapshot, _ link: LinkColumns, _ family: [Int]) -> ManagedObjectID? {
        // If an earlier model made the record, the entity of the object may be missing in this model.
        row.end(link, family).map { ManagedObjectID(entities[$0.entity], key: $0.key) }
    }
}
