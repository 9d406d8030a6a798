internal import CoreDataSource
internal import Foundation
internal import RawSQLite
internal import SQLiteStore

/// A store of contacts.
typealias ContactStore = OpenStore<ContactSource>

/// A store of the library's, open.
struct OpenStore<Source: EntityDataSource>: Sendable {
    let url: URL
    let container: PersistentContainer
    let source: Source
    private let store: SQLiteStore

    init(
        _ url: URL, _ synchronous: SynchronousLevel, registeredObjectByteLimit: Int = 64 << 20,
        model: ManagedObjectModel = .contacts, sharing: StoreSharingMode = .exclusive,
        history: KeptHistory = .unchanged
    ) async throws {
        self.url = url
        let configuration = PersistentContainer.Configuration(
            synchronous: synchronous, registeredObjectByteLimit: registeredObjectByteLimit,
            history: history)
        container = try await PersistentContainer(
            model: model, store: .sqlite(url, sharing: sharing), configuration: configuration)
        source = try await container.dataSource(Source.self)
        guard let store = container.stack.root.store as? SQLiteStore else { throw WrongResult("no SQLite store") }
        self.store = store
    }

    var rowsWritten: Int { store.counters.rowsWritten }

    /// Measures work that is called from a background task.
    @concurrent
    func measure(_ work: @Sendable () async throws -> Void) async throws -> Sample {
        let (statements, rows) = (store.counters.statementsRun, store.counters.rowsWritten)
        let start = raw_now()
        try await work()
        var sample = Sample(nanoseconds: raw_now() - start)
        sample.statements = store.counters.statementsRun - statements
        sample.rowsWritten = store.counters.rowsWritten - rows
        sample.walBytes = store.counters.walBytes
        return sample
    }

    /// Measures work on the main actor.
    @MainActor
    func measureOnMain(_ work: @MainActor () throws -> Void) throws -> Sample {
        let statements = store.counters.statementsRun
        let start = raw_now()
        try work()
        var sample = Sample(nanoseconds: raw_now() - start)
        sample.statements = store.counters.statementsRun - statements
        return sample
    }
}

/// Measures raw work.
func measureRaw(_ work: () throws -> Void) rethrows -> Sample {
    let start = raw_now()
    try work()
    return Sample(nanoseconds: raw_now() - start)
}

/// How long the work takes.
@inline(__always)
func time(_ work: () throws -> Void) rethrows -> UInt64 {
    let start = raw_now()
    try work()
    return raw_now() - start
}
