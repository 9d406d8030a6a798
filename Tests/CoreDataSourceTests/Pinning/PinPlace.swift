import CoreDataSource
import Foundation
import RowStore
import SQLiteStore

/// The kinds of stores that keep a snapshot for a pinned main context.
enum PinPlace: String, Sendable, CaseIterable {
    case memory, sqlite, sharedFile, server

    /// Those that there can be here.
    static let all = SharedPlace.Kind.all.contains(.postgreSQL) ? allCases : allCases.filter { $0 != .server }

    /// The kind of the store if processes can share it.
    var sharedKind: SharedPlace.Kind? {
        switch self {
        case .memory, .sqlite: nil
        case .sharedFile: .sqlite
        case .server: .postgreSQL
        }
    }

    var isFile: Bool { self == .sqlite || self == .sharedFile }

    func open(
        _ url: URL, model: ManagedObjectModel = .contacts,
        _ configuration: PersistentContainer.Configuration = .init(synchronous: .normal)
    ) async throws -> PersistentContainer {
        switch self {
        case .server: try SharedPlace(.postgreSQL).open(model: model, configuration: configuration)
        case .memory: try await PersistentContainer(model: model, store: .inMemory, configuration: configuration)
        case .sqlite: try await PersistentContainer(model: model, store: .sqlite(url), configuration: configuration)
        case .sharedFile: try .shared(url, model: model, configuration: configuration)
        }
    }

    /// Opens a store with other timers.
    ///
    /// - Parameter server: The place of a store on a server; nil for the other kinds.
    func open(_ url: URL, on server: SharedPlace?, _ scheduling: WorkScheduling) throws -> PersistentContainer {
        if let server { return try server.open(scheduling: scheduling) }
        let layout = ModelLayout(.contacts)
        if self == .memory {
            return PersistentContainer(
                layout, InMemoryStore(layout), startup: StoreStartup(reason: .firstLaunch), scheduling: scheduling)
        }
        let store = try SQLiteStore.open(.contacts(url, isShared: self == .sharedFile))
        return PersistentContainer(layout, store, startup: store.startup, scheduling: scheduling)
    }

    /// Opens a file whose calls can fail.
    func open(
        _ url: URL, _ calls: FileCalls, _ configuration: PersistentContainer.Configuration = .init(synchronous: .normal)
    ) throws -> PersistentContainer {
        var options = SQLiteStore.Options.contacts(url, isShared: self == .sharedFile)
        options.calls = calls
        let store = try SQLiteStore.open(options)
        return PersistentContainer(options.layout, store, startup: store.startup, configuration: configuration)
    }

    @MainActor
    func withContacts(
        _ count: Int = 5, _ configuration: PersistentContainer.Configuration = .init(synchronous: .normal),
        _ body: @MainActor (PersistentContainer, ContactDataSource) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let container = try await open(directory.store, configuration)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(contactList(0..<count))
        try await body(container, contacts)
        try await container.close()
        if isFile { try expectIntact(directory.store) }
    }
}

extension Duration {
    /// A limit that no test reaches, however slow the machine is.
    static let ample = Duration.seconds(86_400)
}

extension MainContext {
    /// The names of all contacts, by uid.
    @MainActor var names: [String: String] {
        get throws {
            let contacts = try fetch(ContactEntity.self)
            return Dictionary(uniqueKeysWithValues: contacts.map { ($0.uid, $0.name) })
        }
    }
}
