import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import Testing

struct TerminationTests {
    /// They stayed with the center when the container was gone.
    @Test func noticesAreListenedToForAsLongAsTheObserverLives() {
        let name = Notification.Name("termination of \(UUID())")
        let count = Shared(0)
        func post() { NotificationCenter.default.post(name: name, object: nil) }
        var observer: AppStateObserver? = AppStateObserver([name]) { count.update { $0 += 1 } }
        post()
        #expect(count.value == 1)
        withExtendedLifetime(observer) {}
        observer = nil
        post()
        #expect(count.value == 1)
    }

    /// Another program has the store locked, so a save stays pending; then the process is asked to end.
    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    @MainActor
    func pendingSavesAreWrittenWhenASignalEndsTheProcess(signal: Int32) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.store.path
        await #expect(processExitsWith: .signal(signal)) { [path = path as String, signal = signal as Int32] in
            // Whoever runs the tests may have had it ignored.
            Foundation.signal(signal, SIG_DFL)
            try await leaveASavePending(path)
            kill(getpid(), signal)
            // Until the signal ends the process.
            let (never, continuation) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            continuation.finish()
        }
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
        #expect(try container.main.count(ContactEntity.self) == 3)
        try await container.close()
    }

    @Test @MainActor func pendingSavesAreWrittenWhenTheProcessCallsExit() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.store.path
        await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
            try await leaveASavePending(path)
            exit(7)
        }
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
        #expect(try container.main.count(ContactEntity.self) == 3)
        try await container.close()
    }

    /// The flush trapped there, since its caller could be one that it waits for.
    @Test(arguments: ExitPlace.allCases)
    @MainActor
    func pendingSavesAreWrittenWhereverTheProcessCallsExit(place: ExitPlace) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.store.path
        await #expect(processExitsWith: .exitCode(7)) { [path = path as String, place = place as ExitPlace] in
            try await exitWithASavePending(path, at: place)
        }
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
        #expect(try container.main.count(ContactEntity.self) == 3)
        try await container.close()
    }

}

enum ExitPlace: CaseIterable, Codable {
    case perform, read, task
}

@MainActor private var kept: [AnyObject] = []

@MainActor
@discardableResult
private func leaveASavePending(_ path: String) async throws -> PersistentContainer {
    let url = URL(filePath: path)
    let layout = ModelLayout(.contacts)
    var options = SQLiteStore.Options(url: url, layout: layout, identity: StoreIdentity(.contacts))
    // Three commits fail, each after this time, which is ten seconds by default. As long as the process of an exit test runs, Swift
    // Testing blocks one of the threads that all tests share. There are as many of these threads as cores, so two long exit tests
    // stop all other tests.
    options.lockTimeout = .milliseconds(100)
    let store = try SQLiteStore.open(options)
    let container = PersistentContainer(layout, store, startup: store.startup)
    container.flushOnTermination()
    kept.append(container)
    let other = try RawConnection(url)
    try other.execute("begin immediate")
    let contacts = try container.dataSource(ContactDataSource.self)
    try await contacts.add(contactList(0..<3), waitFor: .main)
    await expectThrows(DataSourceError.self) { try await container.flush() }
    #expect(container.pendingSaveCount == 1)
    // From here on, the container may write the save at any time.
    try other.execute("rollback")
    return container
}

@MainActor
private func exitWithASavePending(_ path: String, at place: ExitPlace) async throws {
    let container = try await leaveASavePending(path)
    let contacts = try container.dataSource(ContactDataSource.self)
    @Sendable func end() { exit(7) }
    switch place {
    case .perform:
        try await contacts.perform { context in
            try context.insert(ContactEntity.self).uid = "unsaved"
            end()
        }
    case .read: try await container.read { _ in end() }
    case .task: await Task.detached { end() }.value
    }
}
