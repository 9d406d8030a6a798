internal import CommandLineWords
internal import ManagedModel
internal import RowStore

/// A store on the command line, with the model and database key that an app would use to open the store.
struct StoreArgument {
    var model: ModelArgument
    var target: StoreTarget
    /// The database key; nil to use the key of the store.
    var databaseKey: String?

    static let valueNames = ModelArgument.valueNames.union(["--store", "--name", "--database-key"])

    init(_ words: CommandLineWords) throws {
        model = try ModelArgument(words)
        target = try StoreTarget(words.required("--store"), name: words.value("--name"))
        databaseKey = words.value("--database-key")
    }

    /// Returns the store, with the options that a container would use.
    func target(_ warnings: inout [String]) throws -> any TargetStore {
        var model = try model.read(&warnings)
        if self.model.configuration == nil, let name = storedConfiguration {
            do { model = try model.part(name) } catch let error as UsageError {
                throw UsageError(
                    "the store was made for the configuration \(name). \(error.message) Or name another configuration with --configuration."
                )
            }
        }
        return target.store(model, databaseKey: databaseKey)
    }

    /// The configuration that the store was made for; nil for a whole model. The configuration is also nil if the store is
    /// missing or unreadable, because the command reports that error later.
    private var storedConfiguration: String? {
        do { return try target.inspector([]).metadata().model().configurationName } catch { return nil }
    }
}

extension StoreStartup.Reason {
    /// The name of the reason in JSON.
    var name: String {
        switch (isModelChanged, isDatabaseKeyChanged) {
        case (false, false): description
        case (true, false): "modelChanged"
        case (false, true): "databaseKeyChanged"
        case (true, true): "modelAndDatabaseKeyChanged"
        }
    }

    var sentence: String {
        let names = entities.joined(separator: ", ")
        switch (isModelChanged, isDatabaseKeyChanged) {
        case (false, false):
            return self == .firstLaunch
                ? "there is no store" : "the store was made for this model and this database key"
        case (true, false): return "the store was made for another model (\(names))"
        case (false, true): return "the store was made for another database key"
        case (true, true): return "the store was made for another model (\(names)) and another database key"
        }
    }

    /// The names of the new, changed and removed entities.
    var entities: [String] { changedEntities }
}

extension StoreStartup {
    /// Describes in words what happens to the objects and backups: `3 objects dropped, 1 backup removed`.
    ///
    /// - Parameters:
    ///   - verb: `would be ` for a forecast; an empty string for a finished reset.
    ///   - location: What happens to kept objects, such as `set aside as a backup`; nil if the objects are dropped.
    func resetConsequence(_ verb: String = "", keeping location: String?) -> String {
        let backups = removedBackups.count == 1 ? "1 backup" : "\(removedBackups.count) backups"
        return "\(rowsDropped.objects) \(verb)\(location ?? "dropped")"
            + (removedBackups.isEmpty ? "" : ", \(backups) \(verb)removed")
    }
}
