import CoreDataSource
import Foundation
import RowStore
import SQLiteStore

/// The stores that keep scopes.
enum ScopeStoreKind: String, CaseIterable, Sendable {
    case memory, file, sharedFile
}

/// A store with scopes, a clock that a test sets, and timers that run when the test says so.
final class ScopePlace: Sendable {
    let clock = Shared(Date(timeIntervalSinceReferenceDate: 1_000))
    let timers = ManualTimers()
    let url: URL
    private let kind: ScopeStoreKind
    private let directory: Directory

    private final class Directory: Sendable {
        let url = FileManager.default.temporaryDirectory.appending(path: "CoreDataSource-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: url) }
    }

    init(_ kind: ScopeStoreKind = .memory) throws {
        self.kind = kind
        directory = try Directory()
        url = directory.url.appending(path: "store.sqlite")
    }

    func open() throws -> PersistentContainer {
        let layout = ModelLayout(.contacts)
        // The members of a shared store hand over leases with timers.
        var scheduling = kind == .sharedFile ? WorkScheduling.system : timers.scheduling
        scheduling.now = { [clock] in clock.value }
        let store: any PersistentStore
        var startup = StoreStartup(reason: .firstLaunch)
        if kind == .memory {
            store = InMemoryStore(layout)
        } else {
            var options = SQLiteStore.Options(
                url: url, layout: layout, identity: StoreIdentity(.contacts), synchronous: .normal)
            options.isShared = kind == .sharedFile
            options.leaseTimes = .patient
            let opened = try SQLiteStore.open(options)
            (store, startup) = (opened, opened.startup)
        }
        let container = PersistentContainer(
            layout, store, startup: startup, configuration: .init(synchronous: .normal), scheduling: scheduling)
        var pauses = LoadPauses()
        pauses.random = { 1 }
        container.stack.root.scopes.pauses = pauses
        return container
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

extension SyncScope<ContactEntity> {
    static var contacts: Self { SyncScope("contacts") }
}

extension ContactDataSource {
    func uids() throws -> [String] { try fetch(ContactEntity.self, order: [.ascending(\.uid)]).map(\.uid) }
}
