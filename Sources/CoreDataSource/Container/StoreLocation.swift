public import Foundation
package import RowStore
internal import SQLiteStore

#if PostgreSQL
internal import PostgreSQLStore
#endif

/// Where a container keeps its rows.
///
/// ```swift
/// let file = StoreLocation.sqlite(url)
/// let shared = StoreLocation.sqlite(url, sharing: .processes)
/// let memory = StoreLocation.inMemory
/// ```
public struct StoreLocation: Sendable, Hashable {
    package let url: URL?
    /// A custom store.
    package private(set) var custom: CustomLocation?
    #if PostgreSQL
    package var server: ServerLocation?
    #endif
    /// Which containers may have the store open.
    package var sharing = StoreSharingMode.exclusive

    /// An SQLite file.
    ///
    /// The folder of the file must exist. Beside the file, the store keeps a write-ahead log (`-wal`), the index of the log
    /// (`-shm`) and a `.lock` file. A symbolic link is followed: the store is the target of the link, and the other files are
    /// beside the target.
    ///
    /// ```swift
    /// let shared = StoreLocation.sqlite(url, sharing: .processes)
    /// ```
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - sharing: Which containers may have the store open; by default, only one container. With
    ///     ``StoreSharingMode/processes`` the store also has a `.gate`, a `.write` and a `.bell` file. Do not remove these
    ///     files.
    public static func sqlite(_ url: URL, sharing: StoreSharingMode = .exclusive) -> StoreLocation {
        StoreLocation(url: url, sharing: sharing)
    }

    /// A store in memory. Each container has a separate store, which is lost when the container is released.
    public static let inMemory = StoreLocation(url: nil)

    package static func custom(_ location: CustomLocation) -> StoreLocation {
        StoreLocation(url: nil, custom: location)
    }
}

/// Which containers may have a store open.
public enum StoreSharingMode: Sendable, Hashable {
    /// One container of one process. The default.
    case exclusive
    /// Any number of processes on one machine, each with any number of containers. All containers must open the store with this
    /// mode.
    ///
    /// Each process reads and writes, and its lists show the saves of the other processes; see <doc:SharingAStore>. The file
    /// must be on a local disk. The first container to open the store may create, reset or migrate the store. A later container
    /// that would have to reset or migrate the store throws `storeInUse`.
    case processes
}

/// A custom store.
package struct CustomLocation: Sendable, Hashable {
    package let name: String
    package let open: @Sendable (StoreOptions) throws -> (store: any PersistentStore, startup: StoreStartup)

    package init(
        name: String,
        open: @escaping @Sendable (StoreOptions) throws -> (store: any PersistentStore, startup: StoreStartup)
    ) {
        self.name = name
        self.open = open
    }

    package static func == (lhs: CustomLocation, rhs: CustomLocation) -> Bool { lhs.name == rhs.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension StoreLocation {
    /// The kind of store, as the subject of an error message, if the current thread must not wait for the store; otherwise nil.
    /// No thread may wait for a store on a server. The main thread must not wait for a custom store, either.
    var blockingStoreName: String? {
        #if PostgreSQL
        if server != nil { return "A store on a server" }
        #endif
        return custom != nil && MainQueue.isCurrent ? "A custom store" : nil
    }

    /// Opens or creates the store.
    func open(
        _ layout: ModelLayout, _ identity: StoreIdentity, _ configuration: PersistentContainer.Configuration
    ) throws -> (store: any PersistentStore, startup: StoreStartup) {
        if let custom { return try open(custom, layout: layout, identity: identity, configuration: configuration) }
        let tracing = configuration.trace.map { StatementTracing(showsValues: configuration.tracesValues, $0) }
        #if PostgreSQL
        if let server {
            return try open(server, layout: layout, identity: identity, configuration: configuration, tracing: tracing)
        }
        #endif
        guard let url else {
            let name = configuration.name
            return (
                InMemoryStore(layout, history: configuration.history, name: name), StoreStartup(reason: .firstLaunch)
            )
        }
        var options = SQLiteStore.Options(
            url: url, layout: layout, identity: identity, synchronous: configuration.synchronous,
            resetPolicy: configuration.resetPolicy, migrationProgress: configuration.migrationProgress)
        options.fileMode = configuration.fileMode
        options.isReadOnly = configuration.isReadOnly
        options.mayMigrate = configuration.mayMigrate
        options.isShared = sharing == .processes
        options.tracing = tracing
        options.history = configuration.history
        if let name = configuration.name { options.memberName = name }
        let store = try SQLiteStore.open(options)
        return (store, store.startup)
    }

    private func open(
        _ custom: CustomLocation, layout: ModelLayout, identity: StoreIdentity,
        configuration: PersistentContainer.Configuration
    ) throws -> (store: any PersistentStore, startup: StoreStartup) {
        let options = StoreOptions(
            layout: layout, identity: identity, resetPolicy: configuration.resetPolicy,
            synchronous: configuration.synchronous, fileMode: configuration.fileMode,
            isReadOnly: configuration.isReadOnly, history: configuration.history, name: configuration.name)
        let opened = try custom.open(options)
        // ``StoreOptions/plan(for:)`` throws this error, too, but a custom store need not call it.
        if case .kept = configuration.history.choice, !configuration.isReadOnly,
            opened.store.recordStore?.keepsHistory != true
        {
            opened.store.close()
            throw DataSourceError.customStoreWithoutHistory
        }
        return opened
    }

    #if PostgreSQL
    private func open(
        _ server: ServerLocation, layout: ModelLayout, identity: StoreIdentity,
        configuration: PersistentContainer.Configuration, tracing: StatementTracing?
    ) throws -> (store: any PersistentStore, startup: StoreStartup) {
        var options = PostgreSQLStore.Options(
            connection: server.connection, name: server.name, layout: layout, identity: identity,
            synchronous: configuration.synchronous, resetPolicy: configuration.resetPolicy)
        options.migrationProgress = configuration.migrationProgress
        options.tracing = tracing
        options.mainPatience = configuration.mainPatience
        options.history = configuration.history
        if let name = configuration.name { options.memberName = name }
        if configuration.isReadOnly {
            let store = try PostgreSQLReadOnlyStore.open(options)
            return (store, store.startup)
        }
        let store = try PostgreSQLStore.open(options)
        return (store, store.startup)
    }
    #endif
}

#if PostgreSQL
/// A store in a database on a server.
package struct ServerLocation: Sendable, Hashable {
    /// The connection string. No description shows the string, because it can contain a password.
    package let connection: String
    package let name: String
}

extension ServerLocation: CustomStringConvertible, CustomReflectable {
    package var description: String { "PostgreSQL store \(name)" }
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension StoreLocation {
    /// A store in a PostgreSQL database, for any number of processes on any number of machines. Requires the package trait
    /// `PostgreSQL`.
    ///
    /// ```swift
    /// let container = try await PersistentContainer(
    ///     model: .contacts, store: .postgreSQL(connection, name: "contacts"))
    /// ```
    ///
    /// Each process reads and writes, and its lists show the saves of the other processes; see <doc:SharingAStore>. The first
    /// process to open the store creates the tables of the store in a separate schema. By default the store is never reset:
    /// opening it with a different model or database key throws `modelChanged`. The policies
    /// ``ResetPolicy/migrate(otherwise:)``, ``ResetPolicy/changedEntities``, ``ResetPolicy/discard`` and
    /// ``ResetPolicy/backup(keep:)`` change the store if no other process has it open.
    ///
    /// - Parameters:
    ///   - connection: A URI (`postgresql://app@db.example.com:5432/app`) or keywords (`host=... dbname=...`), as libpq reads
    ///     them. Settings that the string leaves out come from the environment (`PGHOST`, `PGPASSWORD`), the service file and
    ///     the password file. The server must be PostgreSQL 13 or newer, and the database must have the encoding UTF-8.
    ///   - name: The name of the store. A database can have several stores.
    public static func postgreSQL(_ connection: String, name: String) -> StoreLocation {
        var location = StoreLocation(url: nil)
        location.server = ServerLocation(connection: connection, name: name)
        return location
    }
}
#else
extension StoreLocation {
    /// Unavailable. Depend on the package with the trait PostgreSQL.
    @available(
        *, unavailable,
        message: "Depend on the package with the trait PostgreSQL: .package(..., traits: [\"PostgreSQL\"])."
    )
    public static func postgreSQL(_ connection: String, name: String) -> StoreLocation { .inMemory }
}
#endif
