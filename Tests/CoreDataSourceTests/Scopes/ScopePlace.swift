import CoreDataSource
import Foundation
import JSONFolderStore
import RowStore
import SQLiteStore
import StoreFaults

/// The stores that keep scopes.
enum ScopeStoreKind: String, CaseIterable, Sendable {
    case memory, file, sharedFile, server
    /// A store that an app could write.
    case custom

    /// Those that there can be here: a server needs the trait PostgreSQL and a server to run.
    static let allCases: [ScopeStoreKind] =
        [.memory, .file, .sharedFile, .custom] + (SharedPlace.Kind.all.contains(.postgreSQL) ? [.server] : [])

    /// Those that several containers can have open.
    static let shared = allCases.filter { $0 == .sharedFile || $0 == .server }
    /// Those that keep their rows when they are closed.
    static let kept = allCases.filter { $0 != .memory }
}

/// A store with scopes, a clock that a test sets, and timers that run when the test says so.
final class ScopePlace: Sendable {
    let clock = Shared(Date(timeIntervalSinceReferenceDate: 1_000))
    let timers = ManualTimers()
    let url: URL
    private let kind: ScopeStoreKind
    private let model: ManagedObjectModel
    private let directory: Directory
    private let server: SharedPlace?

    private final class Directory: Sendable {
        let url = FileManager.default.temporaryDirectory.appending(path: "CoreDataSource-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private let calls: FileCalls
    private let history: KeptHistory

    init(
        _ kind: ScopeStoreKind = .memory, model: ManagedObjectModel = .contacts, calls: FileCalls = .system,
        history: KeptHistory = .unchanged
    ) throws {
        (self.kind, self.model, self.calls, self.history) = (kind, model, calls, history)
        directory = try Directory()
        server = try kind == .server ? SharedPlace(.postgreSQL) : nil
        url = directory.url.appending(path: "store.sqlite")
    }

    func open() throws -> PersistentContainer {
        let layout = ModelLayout(model)
        // The members of a shared store hand over leases with timers.
        var scheduling = ScopeStoreKind.shared.contains(kind) ? ScopePlace.patient : timers.scheduling
        scheduling.now = { [clock] in clock.value }
        let configuration = PersistentContainer.Configuration(synchronous: .normal, history: history)
        if let server {
            return try withPauses(server.open(model: model, configuration: configuration, scheduling: scheduling))
        }
        let store: any PersistentStore
        var startup = StoreStartup(reason: .firstLaunch)
        if kind == .memory {
            store = InMemoryStore(layout, history: history)
        } else if kind == .custom {
            let opened = try JSONFolderStore(
                url,
                StoreOptions(
                    layout: layout, identity: StoreIdentity(model), synchronous: .normal, history: history))
            (store, startup) = (opened, opened.startup)
        } else {
            var options = SQLiteStore.Options(
                url: url, layout: layout, identity: StoreIdentity(model), synchronous: .normal, calls: calls)
            options.isShared = kind == .sharedFile
            options.leaseTimes = .patient
            options.history = history
            let opened = try SQLiteStore.open(options)
            (store, startup) = (opened, opened.startup)
        }
        let container = PersistentContainer(
            layout, store, startup: startup, configuration: configuration, scheduling: scheduling)
        return withPauses(container)
    }

    /// The timers of the system without those of a minute or more, and a clock that stands still. On a busy machine, a request may
    /// take longer than the time limit that a load has by default.
    private static let patient = {
        let (system, start) = (WorkScheduling.system, ContinuousClock.now)
        var scheduling = system
        scheduling.instant = { start }
        scheduling.after = { delay, work in
            if delay < .seconds(60) { system.after(delay, work) }
        }
        return scheduling
    }()

    /// Makes the pauses after failures as long as they can be, and the wait for the load of another member.
    private func withPauses(_ container: PersistentContainer) -> PersistentContainer {
        var pauses = LoadPauses()
        pauses.random = { 1 }
        container.stack.root.scopes.pauses = pauses
        container.stack.root.scopes.longestTurn = .seconds(86_400)
        return container
    }

    /// Runs SQL as another program.
    func run(_ sql: String) throws {
        if let server { return try server.run(sql) }
        try RawConnection(url).execute(sql)
    }

    /// Moves the clock.
    func pass(_ seconds: TimeInterval) { clock.update { $0 += seconds } }
}

/// Opens a store with scopes.
@MainActor
func withScopes(
    _ kind: ScopeStoreKind = .memory, _ body: @MainActor (ContactDataSource, ScopePlace) async throws -> Void
) async throws {
    let place = try ScopePlace(kind)
    let container = try place.open()
    try await body(try container.dataSource(ContactDataSource.self), place)
    // A timer of the store may keep a lease until it runs.
    try await container.close()
}

/// Opens a store with scopes in a file.
///
/// - Parameter body: Gets a value that says whether the disk is full.
@MainActor
func withScopesOnADisk(
    _ body: @MainActor (ContactDataSource, ScopePlace, _ isFull: Shared<Bool>) async throws -> Void
) async throws {
    let isFull = Shared(false)
    let faulty = try FaultyCalls(.full, failsCallNamed: { $0 == "write" && isFull.value })
    let place = try ScopePlace(.file, calls: faulty.calls)
    let container = try place.open()
    try await body(try container.dataSource(ContactDataSource.self), place, isFull)
    try await container.close()
    withExtendedLifetime(place) {}
}

extension SyncScope<ContactEntity> {
    static var contacts: Self { SyncScope("contacts") }
}

extension ContactDataSource {
    func uids() throws -> [String] { try fetch(ContactEntity.self, order: [.ascending(\.uid)]).map(\.uid) }
}
