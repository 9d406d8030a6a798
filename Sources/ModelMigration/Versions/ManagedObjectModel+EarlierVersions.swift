package import ManagedModel

extension ManagedObjectModel {
    /// Follows the names of this model's elements through the versions before it, and keeps those that this model alone would not
    /// find: see ``earlierVersions``.
    ///
    /// - Parameter versions: The versions before this one, oldest first. A version whose step to the next one is not clear is left
    ///   out, as are all that are older.
    /// - Complexity: that of a migration's plan, for each version.
    package mutating func follow(_ versions: [ManagedObjectModel]) {
        earlierVersions = []
        let own = hash
        let newest = MigrationSide(self)
        var (next, table) = (newest, NameTable?.none)
        var known: Set<String> = [own.description]
        for version in versions.reversed() {
            let side = MigrationSide(version)
            guard let step = NameTable(from: side, to: next) else { return }
            let names = table.map { $0.followed(by: step) } ?? step
            (next, table) = (side, names)
            // A newer version of the same shape is nearer.
            let hashes = version.hashes.subtracting(known)
            known.formUnion(hashes)
            guard !hashes.isEmpty, let earlier = names.earlierVersion(hashes, side, newest) else { continue }
            earlierVersions.append(earlier)
        }
    }

    /// The hashes of the models that a store of this version can be made for.
    private var hashes: Set<String> {
        var hashes: Set = [hash.description]
        for configuration in configurations {
            if let part = try? restricted(toConfiguration: configuration.name) { hashes.insert(part.hash.description) }
        }
        return hashes
    }
}

extension NameTable {
    /// What the names say that the two models do not; nil if that is nothing.
    fileprivate func earlierVersion(_ hashes: Set<String>, _ old: MigrationSide, _ new: MigrationSide)
        -> EarlierVersion?
    {
        var earlier = EarlierVersion(hashes: hashes, entityNames: entities)
        for (name, oldName) in entities {
            guard let entity = new.lookup.entities[name], let oldEntity = old.lookup.entities[oldName],
                let names = properties[name], names != NameTable.properties(oldEntity, old, entity, new, entities)
            else { continue }
            earlier.propertyNames[name] = names
        }
        let isAsItSeems = NameTable.entities(old, new) == entities && earlier.propertyNames.isEmpty
        return isAsItSeems ? nil : earlier
    }
}
