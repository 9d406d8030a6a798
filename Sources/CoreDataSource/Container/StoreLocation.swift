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
    /// Who may have the store open.
    package var sharing = StoreSharingMode.exclusive

    /// An SQLite file. Its folder must exist. Beside the file are a write-ahead log (`-wal`), its index (`-shm`) and a `.lock`
    /// file. If the file is a symbolic link, the store is the file that it leads to, and the other files are beside that.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - sharing: Who may have the store open; by default this container alone. With ``StoreSharingMode/processes`` there are
    ///     also a `.gate`, a `.write` and a `.bell` file beside it. Do not remove them.
    public static func sqlite(_ url: URL, sharing: StoreSharingMode = .exclusive) -> StoreLocation {
        StoreLocation(url: url, sharing: sharing)
    }

    /// Memory. Each container has a store of its own, which is gone when the container is.
    public static let inMemory = StoreLocation(url: nil)

    package static func custom(_ location: CustomLocation) -> StoreLocation {
        StoreLocation(url: nil, custom: location)
    }
}

/// Who may have a store open.
public enum StoreSharingMode: Sendable, Hashable {
    /// One container of one process. The default.
    case exclusive
    /// Any number of processes of one machine, with any number of containers each. All of them must open it with this mode.
    ///
    /// Each process adds, syncs, deletes, reads and follows the others, as <doc:SharingAStore> explains. The file must be on a
    /// local disk. The first container to open it may make, reset or migrate it; later ones throw `storeInUse` if they would
    /// have to.
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

    package static func == (one: CustomLocation, other: CustomLocation) -> Bool { one.name == other.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension StoreLocation {
    /// The store for which this thread must not wait, as the subject of a sentence: one on a server and, on the main thread, a
    /// custom one, which is opened on a thread that may wait; nil for others.
    var waitingHost: String? {
        #if PostgreSQL
        if server != nil { return "A store on a server" }
        #endif
        return custom != nil && MainQueue.isCurrent ? "A custom store" : nil
    }

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
        if let server {
            return try open(server, layout: layout, identity: identity, configuration: configuration, tracing: tracing)
        }
        #endif
        guard let url else {
            return (InMemoryStore(layout), StoreStartup(reason: .firstLaunch))
        }
        var options = SQLiteStore.Options(
            url: url, layout: layout, identity: identity, synchronous: configuration.synchronous,
            resetPolicy: configuration.resetPolicy, migrationProgress: configuration.migrationProgress)
        options.fileMode = configuration.fileMode
        options.isReadOnly = configuration.isReadOnly
        options.mayMigrate = configuration.mayMigrate
        options.isShared = sharing == .processes
        options.tracing = tracing
        let store = try SQLiteStore.open(options)
        return (store, store.startup)
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
    /// It may contain a password, so it is never shown.
    package let connection: String
    package let name: String
}

extension ServerLocation: CustomStringConvertible, CustomReflectable {
    package var description: String { "PostgreSQL store \(name)" }
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension StoreLocation {
    /// A store in a PostgreSQL database, for any number of processes on any number of machines. It needs the package trait
    /// `PostgreSQL`.
    ///
    /// ```swift
    /// let container = try await PersistentContainer(
    ///     model: .contacts, store: .postgreSQL(connection, name: "contacts"))
    /// ```
    ///
    /// Each process adds, syncs, deletes, reads and follows the others, as <doc:SharingAStore> explains. The first process to
    /// open the store makes its tables, in a schema of their own. By default it is never reset: with another model or database
    /// key, opening throws `modelChanged`. Only ``ResetPolicy/discard`` and ``ResetPolicy/backup(keep:)`` start over, once no
    /// other process has the store open.
    ///
    /// - Parameters:
    ///   - connection: A URI (`postgresql://app@db.example.com:5432/app`) or keywords (`host=... dbname=...`), as libpq reads them.
    ///     Settings that it leaves out come from the environment (`PGHOST`, `PGPASSWORD`), the service file and the password
    ///     file. The server must be PostgreSQL 13 or newer, and the database must have the encoding UTF-8.
    ///   - name: The store's name. A database can have several stores.
    public static func postgreSQL(_ connection: String, name: String) -> StoreLocation {
        var location = StoreLocation(url: nil)
        location.server = ServerLocation(connection: connection, name: name)
        return location
    }
}
#endif
