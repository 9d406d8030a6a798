import CoreDataSource
import TestSupport

/// Objects of one entity that are linked to each other, of a class that is written by hand.
final class Peer: ManagedObject {
    override class var entityName: String { "Peer" }
    override class var attributeKeyPaths: [AnyKeyPath: String] { [\Peer.key: "key", \Peer.name: "name"] }
    override class var relationshipKeyPaths: [AnyKeyPath: String] {
        [\Peer.boss: "boss", \Peer.friends: "friends", \Peer.reports: "reports", \Peer.team: "team"]
    }

    var key: String {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }

    var name: String? {
        get { attribute(at: 1) }
        set { setAttribute(newValue, at: 1) }
    }

    var boss: Peer? {
        get { relatedObject(at: 0) }
        set { setRelatedObject(newValue, at: 0) }
    }

    /// Ordered, and its own inverse.
    var friends: RelatedObjects<Peer> { relatedObjects(at: 1) }

    /// Ordered.
    var reports: RelatedObjects<Peer> { relatedObjects(at: 2) }

    var team: Team? {
        get { relatedObject(at: 3) }
        set { setRelatedObject(newValue, at: 3) }
    }
}

final class Team: ManagedObject {
    override class var entityName: String { "Team" }
    override class var attributeKeyPaths: [AnyKeyPath: String] { [\Team.key: "key"] }
    override class var relationshipKeyPaths: [AnyKeyPath: String] { [\Team.members: "members"] }

    var key: String {
        get { attribute(at: 0) }
        set { setAttribute(newValue, at: 0) }
    }

    /// Required.
    var members: RelatedObjects<Peer> { relatedObjects(at: 0) }
}

extension ManagedObjectModel {
    static func peers() -> ManagedObjectModel {
        func related(
            _ name: String, _ destination: String, _ inverse: String, isToMany: Bool = false, isOrdered: Bool = false,
            isOptional: Bool = true
        ) -> RelationshipDescription {
            RelationshipDescription(
                name: name, destinationName: destination, inverseName: inverse, isToMany: isToMany,
                isOrdered: isOrdered, isOptional: isOptional)
        }
        return ManagedObjectModel(
            name: "Peers",
            entities: [
                EntityDescription(
                    name: "Peer",
                    attributes: [
                        AttributeDescription(name: "key", type: .string),
                        AttributeDescription(name: "name", type: .string, isOptional: true),
                    ],
                    relationships: [
                        related("boss", "Peer", "reports"),
                        related("friends", "Peer", "friends", isToMany: true, isOrdered: true),
                        related("reports", "Peer", "boss", isToMany: true, isOrdered: true),
                        related("team", "Team", "members"),
                    ], uniquenessConstraints: [["key"]]),
                EntityDescription(
                    name: "Team", attributes: [AttributeDescription(name: "key", type: .string)],
                    relationships: [related("members", "Peer", "team", isToMany: true, isOptional: false)],
                    uniquenessConstraints: [["key"]]),
            ], classes: ["Peer": Peer.self, "Team": Team.self])
    }
}

final class PeerDataSource: DataSource<String> {
    nonisolated override class var entities: [ManagedObject.Type] { [Peer.self, Team.self] }

    /// Gives the peer a name that no stored one has.
    nonisolated override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        let peer = try context.findOrInsert(Peer.self, where: \.key, equals: key)
        peer.name = "synced"
        return peer
    }
}

extension ManagedObjectContext {
    /// The peer of that key, which is there.
    func peer(_ key: String) throws -> Peer {
        guard let peer = try first(Peer.self, where: \.key, equals: key) else { throw Poison() }
        return peer
    }
}

/// Gives the body a store of peers that one data source owns.
@MainActor func withPeers(
    _ location: StoreLocation? = nil,
    _ body: @MainActor (PersistentContainer, PeerDataSource) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let container = try await PersistentContainer(model: .peers(), store: location ?? .sqlite(directory.store))
    try await body(container, try container.dataSource(PeerDataSource.self))
    try await container.close()
}
