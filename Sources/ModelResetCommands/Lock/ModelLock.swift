internal import ManagedModel

/// The models of a lock file: what stores were made for when it was written.
struct ModelLock {
    /// Sorted by path.
    var models: [LockedModel] = []

    func model(at path: String) -> LockedModel? {
        models.first { $0.path == path }
    }

    /// Adds a model, in place of the one of that path if there is one.
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
struct LockedModel {
    /// The way from the lock file's folder to the model.
    var path: String
    var version: String
    var hash: ModelHash
    /// The text that the hash covers: what it said when the file was written.
    var canonicalForm: String
    /// What the hash does not cover, and a migration needs.
    var renamingIdentifiers = RenamingIdentifiers()

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
    }

    /// The model that was locked, to compare with a ``ManagedObjectModel/canonicalModel``. Nil for one of another release.
    var model: ManagedObjectModel? {
        ManagedObjectModel(canonicalForm: canonicalForm, renamingIdentifiers: renamingIdentifiers)
    }
}
