public import ManagedModel
internal import RowStore

/// Opening several stores of one app.
extension PersistentContainer {
    /// Opens several stores at once, each with a separate container. A store that cannot be opened does not affect the other
    /// stores.
    ///
    /// ```swift
    /// let stores = await PersistentContainer.open(
    ///     [
    ///         StoreDescription(
    ///             name: "user", location: .sqlite(userFile),
    ///             modelConfiguration: "User", databaseKey: userID),
    ///         StoreDescription(
    ///             name: "cache", location: .sqlite(cacheFile),
    ///             modelConfiguration: "Cache"),
    ///     ], model: .app)
    /// let user = try stores.container(named: "user")
    /// if let error = stores.errors["cache"] { logger.error("\(error)") }
    /// ```
    ///
    /// Each store contains the entities of one model configuration. If a new model changes an entity outside the configuration,
    /// the store is not reset. A data source belongs to the container whose store contains its entities. No relationship leads
    /// from one store to another, and no save spans two stores.
    ///
    /// **Isolation**: none. Stores are opened in parallel, off the main actor.
    ///
    /// - Parameters:
    ///   - descriptions: The stores, each with a unique name. A duplicate name is a programmer error and traps. If two
    ///     descriptions have the same location, the second gets the error `storeInUse`.
    ///   - model: The model whose configurations the descriptions name.
    /// - Returns: A container or an error for each description. The possible errors are the errors of
    ///   ``init(model:store:databaseKey:configuration:)``, and `unreadableModel` for a configuration that does not exist in the
    ///   model or cannot have a separate store.
    public static func open(_ descriptions: [StoreDescription], model: ManagedObjectModel) async -> OpenedStores {
        requireDistinct(descriptions)
        var locations: Set<StoreLocation> = []
        return await withTaskGroup(of: (name: String, result: Result<PersistentContainer, any Error>).self) { group in
            for description in descriptions {
                let isTaken = description.location != .inMemory && !locations.insert(description.location).inserted
                group.addTask {
                    do {
                        if isTaken { throw DataSourceError(describedTwice: description.name) }
                        return (description.name, .success(try await open(description, model)))
                    } catch {
                        return (description.name, .failure(error))
                    }
                }
            }
            var (containers, errors): ([String: PersistentContainer], [String: any Error]) = ([:], [:])
            for await (name, result) in group {
                switch result {
                case .success(let container): containers[name] = container
                case .failure(let error): errors[name] = error
                }
            }
            return OpenedStores(containers: containers, errors: errors)
        }
    }

    private static func open(
        _ description: StoreDescription, _ model: ManagedObjectModel
    ) async throws -> PersistentContainer {
        try await PersistentContainer(
            model: try description.restricted(model), store: description.location, databaseKey: description.databaseKey,
            configuration: description.configuration)
    }

    /// Opens the stores one after the other, and blocks the thread until all stores are open.
    ///
    /// - Throws: The first error. The containers that were already opened are released, so their stores are closed
    ///   soon.
    package static func openAndWait(
        _ descriptions: [StoreDescription], model: ManagedObjectModel
    ) throws -> [String: PersistentContainer] {
        requireDistinct(descriptions)
        return try descriptions.reduce(into: [:]) { opened, description in
            opened[description.name] = try openAndWait(
                model: try description.restricted(model), store: description.location,
                databaseKey: description.databaseKey, configuration: description.configuration)
        }
    }

    private static func requireDistinct(_ descriptions: [StoreDescription]) {
        var names: Set<String> = []
        for description in descriptions {
            precondition(
                names.insert(description.name).inserted,
                "Two store descriptions are named \(description.name). Give each store a different name.")
        }
    }
}

extension StoreDescription {
    /// Returns the model with only the entities that the store contains.
    ///
    /// - Throws: `unreadableModel` for a configuration that does not exist in the model or cannot have a separate store.
    package func restricted(_ model: ManagedObjectModel) throws(DataSourceError) -> ManagedObjectModel {
        guard let modelConfiguration else { return model }
        do { return try model.restricted(toConfiguration: modelConfiguration) } catch {
            throw DataSourceError(
                .unreadableModel, "The store \(name) cannot be opened. \(error.message)", entityName: error.entityName)
        }
    }
}

extension DataSourceError {
    fileprivate init(describedTwice name: String) {
        self.init(
            .storeInUse,
            "The store \(name) has the same location as an earlier description. Give each store a different location."
        )
    }
}
