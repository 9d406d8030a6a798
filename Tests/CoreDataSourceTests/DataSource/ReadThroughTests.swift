import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

private struct ContactName: ManagedObjectConvertible, Equatable {
    var name: String

    init(_ contact: ContactEntity) { name = contact.name }
}

/// Looking up what may have to be loaded first.
@MainActor
struct ReadThroughTests {
    /// A server whose answers wait until the test lets them go.
    private final class Server: Sendable {
        let calls = Shared<[String]>([])
        private let arrivals = AsyncStream.makeStream(of: Void.self)
        private let answers = AsyncStream.makeStream(of: Void.self)

        func answer() { answers.continuation.finish() }

        /// Returns when somebody asks.
        func arrival() async { for await _ in arrivals.stream { return } }

        func load(_ uid: String) async {
            calls.update { $0.append(uid) }
            arrivals.continuation.yield()
            for await _ in answers.stream {}
        }
    }

    private func loading(_ contacts: ContactDataSource) -> Int { contacts.tier.loadCount }

    @Test func anExistingObjectIsNotLoaded() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(ContactData(uid: "7", name: "Guan Yu"))
            let found = try await contacts.value(where: \.uid, equals: "7", as: ContactName.self) { _ in
                Issue.record("It was loaded.")
                return nil
            }
            #expect(found?.name == "Guan Yu")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aMissingObjectIsLoadedAndAdded(_ kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let found = try await contacts.value(where: \.uid, equals: "7", as: ContactName.self) {
                ContactData(uid: $0, name: "Guan Yu")
            }
            #expect(found?.name == "Guan Yu")
            // Main shows it when the call returns.
            #expect(try contacts.fetch(ContactEntity.self).map(\.uid) == ["7"])
            #expect(container.pendingSaveCount == 0)
        }
    }

    /// A large save is prepared for lists off the main actor, which takes a while.
    @Test func listsShowWhatWasLoadedWhenItsCallOnMainReturns() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(CrowdDataSource.self)
            let delegate = RecordingDelegate()
            try contacts.register(
                delegate, dataKey: "list", ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]))
            let found = try await contacts.value(where: \.uid, equals: "7", as: ContactName.self) {
                ContactData(uid: $0, name: "Guan Yu")
            }
            #expect(found?.name == "Guan Yu" && contacts.numberOfItems(inSection: 0, dataKey: "list") == 5_001)
            withExtendedLifetime(delegate) {}
        }
    }

    @Test func twentyTasksAskAndOneLoads() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let server = Server()
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await contacts.value(where: \.uid, equals: "7", as: ContactName.self, timeLimit: .ample) {
                            uid in
                            await server.load(uid)
                            return ContactData(uid: uid, name: "Guan Yu")
                        }?.name
                    }
                }
                await server.arrival()
                while contacts.tier.loadWaiterCount < 20 { await Task.yield() }
                server.answer()
                for try await name in group { #expect(name == "Guan Yu") }
            }
            #expect(server.calls.value == ["7"] && loading(contacts) == 0)
        }
    }

    @Test func differentKeysAreLoadedSideBySide() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let server = Server()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for uid in ["1", "2", "3"] {
                    group.addTask {
                        _ = try await contacts.value(where: \.uid, equals: uid, as: ContactName.self, timeLimit: .ample)
                        { uid in
                            await server.load(uid)
                            return ContactData(uid: uid, name: uid)
                        }
                    }
                }
                while contacts.tier.loadCount < 3 { await Task.yield() }
                server.answer()
                try await group.waitForAll()
            }
            #expect(server.calls.value.sorted() == ["1", "2", "3"])
            #expect(try contacts.count(ContactEntity.self) == 3)
        }
    }

    @Test func anErrorReachesAllAndIsNotKept() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let server = Server()
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        do {
                            _ = try await contacts.value(
                                where: \.uid, equals: "7", as: ContactName.self, timeLimit: .ample
                            ) { uid in
                                await server.load(uid)
                                throw Poison()
                            }
                            return false
                        } catch { return error is Poison }
                    }
                }
                while contacts.tier.loadWaiterCount < 5 { await Task.yield() }
                server.answer()
                for await didThrow in group { #expect(didThrow) }
            }
            #expect(server.calls.value == ["7"] && loading(contacts) == 0)
            let found = try await contacts.value(where: \.uid, equals: "7", as: ContactName.self) {
                ContactData(uid: $0, name: "Guan Yu")
            }
            #expect(found?.name == "Guan Yu")
        }
    }

    @Test func nothingLoadedIsNil() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let none = try await contacts.value(where: \.uid, equals: "7", as: ContactName.self) { _ in nil }
            #expect(none == nil)
            let other = try await contacts.value(where: \.uid, equals: "7", as: ContactName.self) { _ in
                ContactData(uid: "8", name: "Zhang Fei")
            }
            #expect(other == nil)
            #expect(try contacts.fetch(ContactEntity.self).map(\.uid) == ["8"])
        }
    }

    @Test func aCancelledTaskDoesNotStopTheOtherTasks() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let server = Server()
            let ask: @Sendable () async throws -> String? = {
                try await contacts.value(where: \.uid, equals: "7", as: ContactName.self, timeLimit: .ample) { uid in
                    await server.load(uid)
                    return ContactData(uid: uid, name: "Guan Yu")
                }?.name
            }
            let (leaving, staying) = (Task { try await ask() }, Task { try await ask() })
            while contacts.tier.loadWaiterCount < 2 { await Task.yield() }
            leaving.cancel()
            await expectThrows(CancellationError.self) { try await leaving.value }
            server.answer()
            #expect(try await staying.value == "Guan Yu")
        }
    }

    @Test func aLoadThatNobodyWaitsForIsCancelled() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let (arrived, cancelled) = (Signal(), Signal())
            let task = Task {
                try await contacts.value(where: \.uid, equals: "7", as: ContactName.self, timeLimit: .ample) { _ in
                    arrived.send()
                    // Ends when its task is cancelled.
                    for await _ in AsyncStream.makeStream(of: Void.self).stream {}
                    cancelled.send()
                    return nil
                }
            }
            await arrived.wait()
            task.cancel()
            await expectThrows(CancellationError.self) { try await task.value }
            await cancelled.wait()
            #expect(loading(contacts) == 0)
        }
    }

    // MARK: With an age

    private func load(
        _ contacts: ContactDataSource, _ value: (any Sendable)?, _ requests: Shared<Int>
    ) async throws -> String? {
        try await contacts.value(where: \.uid, equals: "7", as: ContactName.self, maxAge: .seconds(10)) { _ in
            requests.update { $0 += 1 }
            return value
        }?.name
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func anOldObjectIsLoadedAgain(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let requests = Shared(0)
            try await contacts.add(contactList(0..<3))
            for name in ["Guan Yu", "Zhang Fei"] {
                #expect(try await load(contacts, ContactData(uid: "7", name: name), requests) == name)
                place.pass(9)
                #expect(try await load(contacts, ContactData(uid: "7", name: "?"), requests) == name)
                place.pass(1)
            }
            #expect(try requests.value == 2 && contacts.count(ContactEntity.self) == 4)
        }
    }

    @Test func anObjectThatTheServerNoLongerHasIsDeleted() async throws {
        try await withScopes { contacts, place in
            let requests = Shared(0)
            try await contacts.add(contactList(0..<3))
            #expect(try await load(contacts, ContactData(uid: "7", name: "Guan Yu"), requests) == "Guan Yu")
            place.pass(10)
            for _ in 0..<3 { #expect(try await load(contacts, nil, requests) == nil) }
            #expect(try requests.value == 2 && contacts.count(ContactEntity.self) == 3)
        }
    }

    @Test func failuresOfOneObjectPauseItsLoads() async throws {
        try await withScopes { contacts, place in
            let load = { @Sendable (uid: String) in
                try await contacts.value(where: \.uid, equals: uid, as: ContactName.self, maxAge: .seconds(10)) { uid in
                    if uid == "7" { throw Poison() }
                    return ContactData(uid: uid, name: "Guan Yu")
                }
            }
            await expectThrows(Poison.self) { try await load("7") }
            await expectError(.loadPostponed) { try await load("7") }
            let other = try await load("8")
            #expect(other?.name == "Guan Yu")
            place.pass(2)
            await expectThrows(Poison.self) { try await load("7") }
        }
    }

    @Test(arguments: [Duration.seconds(10), nil])
    func aLoaderHasATimeLimit(_ maxAge: Duration?) async throws {
        try await withScopes { contacts, place in
            let server = Server()
            let task = Task {
                try await contacts.value(
                    where: \.uid, equals: "7", as: ContactName.self, maxAge: maxAge, timeLimit: .seconds(7)
                ) { uid in
                    await Task.detached { await server.load(uid) }.value
                    return nil
                }
            }
            await server.arrival()
            #expect(place.timers.delays.contains(.seconds(7)))
            place.timers.fire()
            await expectError(.loadTimedOut) { try await task.value }
            server.answer()
        }
    }
}

/// Makes many objects of one value.
private final class CrowdDataSource: DataSource<ContactData> {
    override class var entities: [ManagedObject.Type] { [ContactEntity.self] }

    override func onAdd(_ contact: ContactData, in context: PrivateContext) throws -> ManagedObject? {
        for number in 0..<5_000 { try context.insert(ContactEntity.self).uid = "\(contact.uid)-\(number)" }
        let entity = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: contact.uid)
        entity.name = contact.name
        return entity
    }
}
