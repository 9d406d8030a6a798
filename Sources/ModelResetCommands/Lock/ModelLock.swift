internal import ManagedModel
internal import ModelMigration

/// The models of a lock file: those that stores were made for when it was written.
struct ModelLock {
    /// Sorted by path.
    var models: [LockedModel] = []

    func model(at path: String) -> LockedModel? {
        models.first { $0.path == path }
    }

    /// Adds a model, or replaces the one with the same path.
    mutating func put(_ model: LockedModel) {
        models.removeAll { $0.path == model.path }
        let index = models.firstIndex { model.path.utf8.lexicographicallyPrecedes($0.path.utf8) } ?? models.endIndex
        models.insert(model, at: index)
    }

    mutating func remove(_ path: String) {
        models.removeAll { $0.path == path }
    }
}

/// One model of a lock file.
struct LockedModel: Equatable {
    /// The path of the model relative to the lock file's folder.
    var path: String
    var version: String
    var hash: ModelHash
    /// The text that the hash covers, as it was when the file was written.
    var canonicalForm: String
    /// What a migration needs and the hash does not cover.
    var renamingIdentifiers = RenamingIdentifiers()
    /// What a store's values need to be decoded, and the hash does not cover.
    var transformableTypes = TransformableTypes()
    /// Those that a store can be made for, sorted by name.
    var configurations: [LockedConfiguration] = []

    init(path: String, version: String, hash: ModelHash, canonicalForm: String) {
        self.path = path
        self.version = version
        self.hash = hash
        self.canonicalForm = canonicalForm
    }

    init(_ model: ManagedObjectModel, path: String) {
        self.init(
            path: path, version: model.version, hash: model.hash, canonicalForm: model.canonicalForm)
        renamingIdentifiers = RenamingIdentifiers(of: model)
        transformableTypes = TransformableTypes(of: model)
        configurations = model.configurations.compactMap { LockedConfiguration($0, of: model) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The model that was locked, to compare with a ``ManagedObjectModel/canonicalModel``. Nil for a model of another release.
    var model: ManagedObjectModel? {
        guard
            var model = ManagedObjectModel(canonicalForm: canonicalForm, renamingIdentifiers: renamingIdentifiers)
        else { return nil }
        model.configurations = configurations.map {
            ModelConfiguration(name: $0.name, entityNames: $0.entityNames)
        }
        return model
    }
}
