import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Loading the lists of a server.
@MainActor
struct ScopeLoadTests {
    /// A server that counts its requests.
    private final class Server: Sendable {
        let requests = Shared<[ScopeRequest]>([])
        private let answer: @Sendable (ScopeRequest) async throws -> ServerAnswer<any Sendable>

        init(_ answer: @escaping @Sendable (ScopeRequest) async throws -> ServerAnswer<any Sendable>) {
            self.answer = answer
        }

        func list(_ request: ScopeRequest) async throws -> ServerAnswer<any Sendable> {
            requests.update { $0.append(request) }
            return try await answer(request)
        }

        var count: Int { requests.value.count }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aFreshListIsNotLoadedAgain(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let server = Server { .list(contactList(0..<3), entityTag: "\($0.entityTag ?? "0")+") }
            let start = place.clock.value
            let loaded = try await contacts.load(.contacts, maxAge: .seconds(10)) { request in
                place.pass(4)
                return try await server.list(request)
            }
            #expect(loaded.requestedAt == start && loaded.entityTag == "0+")
            // Main shows it when the call returns.
            #expect(try contacts.uids() == ["uid-0", "uid-1", "uid-2"])
            place.pass(5)
            try await contacts.load(.contacts, maxAge: .seconds(10), server.list)
            #expect(server.count == 1)
            place.pass(1)
            #expect(try await contacts.load(.contacts, maxAge: .seconds(10), server.list).entityTag == "0++")
            try await contacts.load(.contacts, maxAge: .zero, server.list)
            // A clock that was set back.
            place.pass(-1)
            try await contacts.load(.contacts, maxAge: .seconds(10), server.list)
            #expect(server.requests.value.map(\.entityTag) == [nil, "0+", "0++", "0+++"])
        }
    }

    @Test func aThousandAskersMakeOneRequest() async throws {
        try await withScopes { contacts, _ in
            let (arrived, answered) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
            let server = Server { _ in
                arrived.continuation.finish()
                for await _ in answered.stream {}
                return .list(contactList(0..<3))
            }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<1000 {
                    group.addTask {
                        try await contacts.load(.contacts, maxAge: .seconds(10), server.list).isComplete
                    }
                }
                for await _ in arrived.stream {}
                while contacts.tier.loadWaiterCount < 1000 { await Task.yield() }
                answered.continuation.finish()
                for try await isComplete in group { #expect(isComplete) }
            }
            #expect(server.count == 1 && contacts.tier.loadCount == 0)
        }
    }

    @Test func whoIsCancelledLeavesAndTheLastOneEndsTheLoad() async throws {
        try await withScopes { contacts, _ in
            let (arrived, cancelled) = (Signal(), Signal())
            let load = { @Sendable in
                try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in
                    arrived.send()
                    for await _ in AsyncStream.makeStream(of: Void.self).stream {}
                    cancelled.send()
                    return .list(contactList(0..<3))
                }
            }
            let tasks = [Task { try await load() }, Task { try await load() }]
            await arrived.wait()
            while contacts.tier.loadWaiterCount < 2 { await Task.yield() }
            tasks[0].cancel()
            await expectThrows(CancellationError.self) { try await tasks[0].value }
            #expect(contacts.tier.loadCount == 1)
            tasks[1].cancel()
            await expectThrows(CancellationError.self) { try await tasks[1].value }
            await cancelled.wait()
            // What came late is not stored, and is no failure.
            let found = try contacts.freshness(of: .contacts)
            #expect(found.requestedAt == nil && found.failureCount == 0)
            #expect(try contacts.uids().isEmpty)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func afterAFailureLoadsPauseLongerAndLonger(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let server = Server { request in
                if request.entityTag == "bad" { throw Poison() }
                return .list(contactList(0..<3), entityTag: "bad")
            }
            try await contacts.load(.contacts, maxAge: .seconds(10), server.list)
            place.pass(10)
            for (count, pause) in [2.0, 4, 8, 16].enumerated() {
                await expectThrows(Poison.self) {
                    try await contacts.load(.contacts, maxAge: .seconds(10), server.list)
                }
                let found = try contacts.freshness(of: .contacts)
                #expect(found.failureCount == count + 1 && found.failedAt == place.clock.value)
                #expect(found.lastFailure == "Poison" && found.retryAt == place.clock.value + pause)
                // The objects and their age stay.
                #expect(found.isComplete && found.entityTag == "bad")
                place.pass(pause - 1)
                await expectError(.loadPostponed) {
                    try await contacts.load(.contacts, maxAge: .seconds(10), server.list)
                }
                place.pass(1)
            }
            #expect(server.count == 5)
            await expectThrows(Poison.self) { try await contacts.load(.contacts, maxAge: .zero, server.list) }
            // The user may always try.
            await expectThrows(Poison.self) { try await contacts.load(.contacts, maxAge: .zero, server.list) }
            #expect(server.count == 7)
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<3)) }
            let found = try contacts.freshness(of: .contacts)
            #expect(found.failureCount == 0 && found.lastFailure == nil && found.retryAt == nil)
        }
    }

    @Test func pausesHaveABoundAndARandomPart() {
        var pauses = LoadPauses()
        pauses.random = { 0 }
        #expect(pauses.pause(afterFailures: 1) == 1 && pauses.pause(afterFailures: 3) == 4)
        #expect(pauses.pause(afterFailures: .max) == 150 && pauses.pause(afterFailures: -1) == 1)
        #expect(pauses.pause(afterFailures: 1, asked: .seconds(60)) == 60)
        pauses.random = { 1 }
        #expect(pauses.pause(afterFailures: 1000) == 300)
        #expect(pauses.pause(afterFailures: 1000, asked: .seconds(60)) == 300)
        #expect(pauses.pause(afterFailures: 1, asked: .seconds(60)) == 66)
    }

    @Test func anAppSetsThePauses() async throws {
        let now = Date(timeIntervalSinceReferenceDate: 1_000)
        let pauses = LoadPauses(first: .seconds(10), longest: .seconds(25), random: { 1 })
        let container = try await PersistentContainer(
            model: .contacts, store: .inMemory, configuration: .init(now: { now }, loadPauses: pauses))
        let contacts = try container.dataSource(ContactDataSource.self)
        for pause in [10.0, 20, 25, 25] {
            await expectThrows(Poison.self) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in throw Poison() }
            }
            #expect(try contacts.freshness(of: .contacts).retryAt == now + pause)
        }
        try await container.close()
    }

    @Test(arguments: [(-1.0, 5.0), (0, 5), (0.5, 7.5), (1, 10), (2, 10), (.infinity, 10), (.nan, 5)])
    func aRandomNumberIsInItsRange(random: Double, pause: Double) {
        let pauses = LoadPauses(first: .seconds(10), random: { random })
        #expect(pauses.pause(afterFailures: 1) == pause)
    }

    @Test func pausesAreAtMostADay() {
        let longest = Duration.seconds(Int64.max)
        #expect(LoadPauses(first: longest, longest: longest, random: { 1 }).pause(afterFailures: 1) == 86_400)
        #expect(LoadPauses(first: .zero).pause(afterFailures: .max) == 0)
        #expect(LoadPauses(first: .seconds(-5)).pause(afterFailures: 2) == 0)
        #expect(LoadPauses(longest: .seconds(-5)).pause(afterFailures: 2) == 0)
    }

    private struct Busy: RetryAfterError {
        var retryAfter: Duration?
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aServerSaysWhenToTryAgain(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let asked: [(Duration?, TimeInterval)] = [
                (.seconds(600), 660), (nil, 4), (.seconds(1), 8), (.seconds(-600), 16),
                (.seconds(366 * 86_400), 86_400), (.seconds(Int64.max), 86_400),
            ]
            for (retryAfter, pause) in asked {
                await expectThrows(Busy.self) {
                    try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in
                        throw Busy(retryAfter: retryAfter)
                    }
                }
                let found = try contacts.freshness(of: .contacts)
                #expect(found.retryAt == place.clock.value + pause && found.lastFailure == "Busy")
                place.pass(pause - 1)
                contacts.tier.forgetScopes()
                await expectError(.loadPostponed) {
                    try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<3)) }
                }
                place.pass(1)
            }
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<3)) }
            #expect(try contacts.freshness(of: .contacts).retryAt == nil)
        }
    }

    /// For example, another program or a damaged clock has written it.
    @Test(arguments: [ScopeStoreKind.file, .sharedFile])
    func aTimeToTryAgainThatIsYearsAwayCountsAsADay(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            await expectThrows(Poison.self) {
                try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in throw Poison() }
            }
            try place.run("UPDATE _scopes SET retry = 1e300")
            contacts.tier.forgetScopes()
            place.pass(86_399)
            await expectError(.loadPostponed) {
                try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<3)) }
            }
            place.pass(1)
            try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in .list(contactList(0..<3)) }
        }
    }

    @Test func aRequestThatTakesTooLongIsGivenUp() async throws {
        try await withScopes { contacts, place in
            let (arrived, answered) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
            let ended = AsyncStream.makeStream(of: Void.self)
            let load = Task {
                try await contacts.load(.contacts, maxAge: .seconds(10), timeLimit: .seconds(7)) { _ in
                    arrived.continuation.finish()
                    // It does not notice that it is cancelled.
                    await Task.detached { for await _ in answered.stream {} }.value
                    defer { ended.continuation.finish() }
                    return .list(contactList(0..<3))
                }
            }
            for await _ in arrived.stream {}
            #expect(place.timers.delays.contains(.seconds(7)))
            place.timers.fire()
            await expectError(.loadTimedOut) { try await load.value }
            #expect(try contacts.freshness(of: .contacts).lastFailure == "loadTimedOut")
            answered.continuation.finish()
            for await _ in ended.stream {}
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(5..<6)) }
            #expect(try contacts.uids() == ["uid-5"])
        }
    }

    @Test func staleObjectsAreServedAndRefreshed() async throws {
        try await withScopes { contacts, place in
            let server = Server { _ in .list(contactList(0..<3), entityTag: "1") }
            // There is nothing to serve.
            let first = try await contacts.load(
                .contacts, maxAge: .seconds(10), whenStale: .serveStale, server.list)
            #expect(first.isComplete && server.count == 1)
            place.pass(20)
            let served = try await contacts.load(
                .contacts, maxAge: .seconds(10), whenStale: .serveStale, server.list)
            #expect(served.requestedAt == first.requestedAt)
            while try contacts.freshness(of: .contacts).requestedAt == first.requestedAt { await Task.yield() }
            while contacts.tier.loadCount > 0 { await Task.yield() }
            place.pass(20)
            for _ in 0..<2 {
                try await contacts.load(.contacts, maxAge: .seconds(10), whenStale: .serveStale) { _ in
                    throw Poison()
                }
                while try contacts.freshness(of: .contacts).failureCount == 0 { await Task.yield() }
                while contacts.tier.loadCount > 0 { await Task.yield() }
            }
            // The second one is too early.
            #expect(try contacts.freshness(of: .contacts).failureCount == 1)
        }
    }

    @Test(arguments: [100, 10_000])
    func aListThatLostItsObjectsIsAFailure(count: Int) async throws {
        try await withScopes { contacts, _ in
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(0..<count), entityTag: "1") }
            await expectError(.emptySync) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in .list([], entityTag: "2") }
            }
            await expectError(.tooManyDeletions) {
                try await contacts.load(.contacts, maxAge: .zero) { _ in
                    .list(contactList(0..<3), entityTag: "2")
                }
            }
            let found = try contacts.freshness(of: .contacts)
            #expect(found.entityTag == "1" && found.failureCount == 2 && found.lastFailure == "tooManyDeletions")
            #expect(try contacts.count(ContactEntity.self) == count)
            try await contacts.load(.contacts, maxAge: .zero, options: .allowsEmpty) { _ in .list([]) }
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func aClosedContainerLoadsNothing(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, _ in
            let server = Server { _ in .list(contactList(0..<3)) }
            try await contacts.load(.contacts, maxAge: .seconds(1000), server.list)
            try await contacts.main.container?.close()
            await expectError(.storeClosed) {
                try await contacts.load(.contacts, maxAge: .seconds(1000), server.list)
            }
            expectError(.storeClosed) { try contacts.freshness(of: .contacts) }
            #expect(server.count == 1)
        }
    }
}
