package import ManagedModel

/// An element of a model, with the renaming identifier that it needs.
package struct NeededIdentifier: Sendable, Hashable, CustomStringConvertible {
    package let entityName: String
    /// The name of the attribute or relationship; nil for the entity itself.
    package let propertyName: String?
    /// The first name of the element.
    package let identifier: String

    /// The path of the element, such as `Note.content`.
    package var description: String { entityName + (propertyName.map { "." + $0 } ?? "") }
}

extension ManagedObjectModel {
    /// Returns the renaming identifiers with which this model needs no ``earlierVersions``. Each identifier is the oldest name
    /// of its element.
    ///
    /// - Parameter versions: The earlier versions, oldest first.
    /// - Complexity: The cost of a few migration plans for each version.
    /// - Returns: The identifiers, sorted by their elements. Nil if identifiers are not enough, for example because a name was
    ///   used again.
    package func identifiers(replacingNamesOf versions: [ManagedObjectModel]) -> [NeededIdentifier]? {
        var follower = self
        follower.follow(versions)
        guard let needed = follower.oldestIdentifiers, !needed.isEmpty else { return nil }
        var candidate = self
        candidate.earlierVersions = []
        for identifier in needed { candidate.apply(identifier) }
        // The identifiers must lead to the same elements in each version, and the next check must not warn again.
        let isSame = versions.allSatisfy {
            MigratedNames(from: $0, to: candidate) == MigratedNames(from: $0, to: follower)
        }
        candidate.follow(versions)
        return isSame && candidate.earlierVersions.isEmpty ? needed : nil
    }

    /// The oldest names in ``earlierVersions``, as identifiers. Nil if a part of a composite was renamed, because no entity
    /// declares the part.
    private var oldestIdentifiers: [NeededIdentifier]? {
        let lookup = ModelLookup(self)
        var identifiers: [[String]: NeededIdentifier] = [:]
        // The list begins with the newest version. So the names of the oldest version replace the other names.
        for version in earlierVersions {
            for (name, oldName) in version.entityNames where name != oldName {
                identifiers[[name]] = NeededIdentifier(entityName: name, propertyName: nil, identifier: oldName)
            }
            for (name, properties) in version.propertyNames {
                for (property, oldName) in properties where property != oldName {
                    // A part of a composite has its identifier in the composite.
                    let owner = lookup.entities[name].flatMap { entity in
                        lookup.lineage(of: entity).first { $0.hasProperty(named: property) }
                    }
                    guard let owner else { return nil }
                    identifiers[[owner.name, property]] = NeededIdentifier(
                        entityName: owner.name, propertyName: property, identifier: oldName)
                }
            }
        }
        return identifiers.keys.sorted { $0.precedes($1) }.compactMap { identifiers[$0] }
            .filter { identifier(of: $0) != $0.identifier }
    }

    private func identifier(of element: NeededIdentifier) -> String? {
        guard let entity = entity(named: element.entityName) else { return nil }
        guard let name = element.propertyName else { return entity.renamingIdentifier }
        return entity.attributes.first { $0.name == name }?.renamingIdentifier
            ?? entity.relationships.first { $0.name == name }?.renamingIdentifier
    }

    private mutating func apply(_ element: NeededIdentifier) {
        guard let index = entities.firstIndex(where: { $0.name == element.entityName }) else { return }
        guard let name = element.propertyName else {
            entities[index].renamingIdentifier = element.identifier
            return
        }
        for position in entities[index].attributes.indices where entities[index].attributes[position].name == name {
            entities[index].attributes[position].renamingIdentifier = element.identifier
        }
        for position in entities[index].relationships.indices where entities[index].relationships[position].name == name
        {
            entities[index].relationships[position].renamingIdentifier = element.identifier
        }
    }
}

extension EntityDescription {
    fileprivate func hasProperty(named name: String) -> Bool {
        attributes.contains { $0.name == name } || relationships.contains { $0.name == name }
    }
}
