internal import RowStore
internal import SQLiteStore

#if PostgreSQL
internal import PostgreSQLStore
#endif

extension StoreLocation {
    /// Opens the store, or makes it.
    func open(
        _ layout: ModelLayout, _ identity: StoreIdentity, _ configuration: PersistentContainer.Configuration
    ) throws -> (store: any PersistentStore, startup: StoreStartup) {
        if let custom {
            let options = StoreOptions(
                layout: layout, identity: identity, resetPolicy: configuration.resetPolicy,
                synchronous: configuration.synchronous, fileMode: configuration.fileMode,
                isReadOnly: configuration.isReadOnly)
            return try custom.open(options)
        }
        let tracing = configuration.trace.map { StatementTracing(showsValues: configuration.tracesValues, $0) }
        #if PostgreSQL
        if let server { return try open(server, layout, identity, configuration, tracing) }
        #endif
        guard let url else {
            return (InMemoryStore(layout), StoreStartup(reason: .firstLaunch))
        }
        var options = SQLiteStore.Options(
            url: url, layout: layout, identity: identity, synchronous: configuration.synchronous,
            resetPolicy: configuration.resetPolicy, migrationProgress: configuration.migrationProgress)
        options.fileMode = configuration.fileMode
        options.isReadOnly = configuration.isReadOnly
        options.isShared = sharing == .processes
        options.tracing = tracing
        let store = try SQLiteStore.open(options)
        return (store, store.startup)
    }

    #if PostgreSQL
    private func open(
        _ server: ServerLocation, _ layout: ModelLayout, _ identity: StoreIdentity,
        _ configuration: PersistentContainer.Configuration, _ tracing: StatementTracing?
    ) throws -> (store: any PersistentStore, startup: StoreStartup) {
        var options = PostgreSQLStore.Options(
            connection: server.connection, name: server.name, layout: layout, identity: identity,
            synchronous: configuration.synchronous, resetPolicy: configuration.resetPolicy)
        options.migrationProgress = configuration.migrationProgress
        options.tracing = tracing
        options.mainPatience = configuration.mainPatience
        if configuration.isReadOnly {
            let store = try PostgreSQLReadOnlyStore.open(options)
            return (store, store.startup)
        }
        let store = try PostgreSQLStore.open(options)
        return (store, store.startup)
    }
    #endif
}
