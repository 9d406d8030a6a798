package import ManagedModel
package import ModelMigration

/// The models of a lock file: those that stores were made for when it was written.
package struct ModelLock: Sendable {
    /// Sorted by path.
    package internal(set) var models: [LockedModel] = []

    package init() {}

    package func model(at path: String) -> LockedModel? {
        models.first { $0.path == path }
    }

    /// Adds a model, or replaces the one with the same path.
    package mutating func put(_ model: LockedModel) {
        models.removeAll { $0.path == model.path }
        let index = models.firstIndex { model.path.utf8.lexicographicallyPrecedes($0.path.utf8) } ?? models.endIndex
        models.insert(model, at: index)
    }

    package mutating func remove(_ path: String) {
        models.removeAll { $0.path == path }
    }
}

/// One model of a lock file.
package struct LockedModel: Sendable, Equatable {
    /// The path of the model relative to the lock file's folder.
    package let path: String
    package let version: String
    package let hash: ModelHash
    /// The text that the hash covers, as it was when the file was written.
    package internal(set) var canonicalForm: String
    /// What a migration needs and the hash does not cover.
    package internal(set) var renamingIdentifiers = RenamingIdentifiers()
    /// What a store's values need to be decoded, and the hash does not cover.
    package internal(set) var transformableTypes = TransformableTypes()
    /// Those that a store can be made for, sorted by name.
    package internal(set) var configurations: [LockedConfiguration] = []
    /// What was locked before, newest first: at most ``earlierLimit``. None of them has earlier ones of its own.
    package internal(set) var earlier: [LockedModel] = []

    /// A version that is older than these is migrated by the identifiers of the current one alone.
    package static let earlierLimit = 50

    init(path: String, version: String, hash: ModelHash, canonicalForm: String) {
        self.path = path
        self.version = version
        self.hash = hash
        self.canonicalForm = canonicalForm
    }

    package init(_ model: ManagedObjectModel, path: String) {
        self.init(
            path: path, version: model.version, hash: model.hash, canonicalForm: model.canonicalForm)
        renamingIdentifiers = RenamingIdentifiers(of: model)
        transformableTypes = TransformableTypes(of: model)
        configurations = model.configurations.compactMap { LockedConfiguration($0, of: model) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The model that was locked, to compare with a ``ManagedObjectModel/canonicalModel``. Nil for a model of another release.
    package var model: ManagedObjectModel? {
        guard
            var model = ManagedObjectModel(canonicalForm: canonicalForm, renamingIdentifiers: renamingIdentifiers)
        else { return nil }
        model.configurations = configurations.map {
            ModelConfiguration(name: $0.name, entityNames: $0.entityNames)
        }
        return model
    }

    // MARK: What was locked before

    /// Keeps what was locked until now.
    ///
    /// - Parameter locked: The model of the lock file; of both sides, if Git left a merge conflict in it. Then only what both sides have
    ///   is known to have come before.
    package mutating func keep(_ locked: [LockedModel]) {
        guard let first = locked.first else { return }
        let histories = locked.map(\.history)
        var earlier = first.history.filter { state in histories.allSatisfy { $0.contains(state) } }
        // What has the same elements, and says nothing about names that this one does not say, is no step.
        if let newest = earlier.first, newest.hash == hash,
            Set(newest.renamingIdentifiers.lines).isSubset(of: renamingIdentifiers.lines)
        {
            earlier.removeFirst()
        }
        self.earlier = Array(earlier.prefix(Self.earlierLimit))
    }

    /// Newest first.
    var history: [LockedModel] {
        var newest = self
        newest.earlier = []
        return [newest] + earlier
    }
}
