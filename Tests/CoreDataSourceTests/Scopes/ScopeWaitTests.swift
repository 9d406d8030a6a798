import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// Callers that wait for the load of another caller.
@MainActor
struct ScopeWaitTests {
    private nonisolated static let limit = Duration.seconds(7)

    /// Waits until a timer of a length is set.
    private func waitForTimer(_ place: ScopePlace, _ delay: Duration) async {
        while !place.timers.delays.contains(delay) { await Task.yield() }
    }

    /// As if a time has passed: moves the clock, and runs the timers of a length.
    private func pass(_ place: ScopePlace, _ time: Duration, timers: Duration) {
        place.timers.pass(time)
        place.timers.fire { $0 == timers }
    }

    @Test func aCallerWaitsForItsOwnTimeLimit() async throws {
        try await withScopes { contacts, place in
            let (arrived, answered) = (Signal(), Signal())
            let first = Task {
                try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in
                    arrived.send()
                    await answered.wait()
                    return .list(contactList(0..<3), entityTag: "1")
                }
            }
            await arrived.wait()
            let second = Task {
                try await contacts.load(.contacts, maxAge: .seconds(10), timeLimit: Self.limit) { _ in throw Poison() }
            }
            await waitForTimer(place, Self.limit)
            pass(place, Self.limit, timers: Self.limit)
            await expectError(.loadTimedOut) { try await second.value }
            // The load of the first caller goes on.
            #expect(contacts.tier.loadCount == 1)
            answered.send()
            let answer = try await first.value
            #expect(answer.entityTag == "1")
            #expect(try contacts.freshness(of: .contacts).failureCount == 0)
        }
    }

    @Test func eachRequestGivesACallerTheWholeTimeAgain() async throws {
        try await withScopes { contacts, place in
            let (arrived, answered) = ([Signal(), Signal()], [Signal(), Signal()])
            let first = Task {
                try await contacts.load(.contacts, maxAge: .seconds(10)) { request in
                    arrived[request.page].send()
                    await answered[request.page].wait()
                    return .page(contactList(request.page..<request.page + 1), next: request.page == 0 ? "a" : nil)
                }
            }
            await arrived[0].wait()
            let second = Task {
                try await contacts.load(.contacts, maxAge: .seconds(10), timeLimit: Self.limit) { _ in throw Poison() }
            }
            await waitForTimer(place, Self.limit)
            place.timers.pass(.seconds(5))
            answered[0].send()
            await arrived[1].wait()
            pass(place, .seconds(2), timers: Self.limit)
            await waitForTimer(place, .seconds(5))
            #expect(contacts.tier.loadWaiterCount == 2)
            pass(place, .seconds(5), timers: .seconds(5))
            await expectError(.loadTimedOut) { try await second.value }
            answered[1].send()
            let answer = try await first.value
            #expect(answer.isComplete)
        }
    }

    @Test func theLastCallerWhoseTimeIsUpEndsTheLoad() async throws {
        try await withScopes { contacts, place in
            let (arrived, answered) = (Signal(), Signal())
            let first = Task {
                try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in
                    arrived.send()
                    await answered.wait()
                    return .list(contactList(0..<3))
                }
            }
            await arrived.wait()
            let second = Task {
                try await contacts.load(.contacts, maxAge: .seconds(10), timeLimit: Self.limit) { _ in throw Poison() }
            }
            await waitForTimer(place, Self.limit)
            first.cancel()
            await expectThrows(CancellationError.self) { try await first.value }
            #expect(contacts.tier.loadCount == 1)
            pass(place, Self.limit, timers: Self.limit)
            await expectError(.loadTimedOut) { try await second.value }
            #expect(contacts.tier.loadCount == 0)
            answered.send()
        }
    }

    @Test func aCallerWaitsForAnObjectForItsOwnTimeLimit() async throws {
        try await withScopes { contacts, place in
            let (arrived, answered) = (Signal(), Signal())
            let first = Task {
                try await contacts.value(where: \.uid, equals: "uid-0", as: ContactValue.self) { uid in
                    arrived.send()
                    await answered.wait()
                    return ContactData(uid: uid, name: "loaded")
                }
            }
            await arrived.wait()
            let second = Task {
                try await contacts.value(
                    where: \.uid, equals: "uid-0", as: ContactValue.self, timeLimit: Self.limit
                ) { _ in throw Poison() }
            }
            await waitForTimer(place, Self.limit)
            pass(place, Self.limit, timers: Self.limit)
            await expectError(.loadTimedOut) { _ = try await second.value }
            answered.send()
            let answer = try await first.value
            #expect(answer?.name == "loaded")
        }
    }

    /// The first answer is refused, because a list that was loaded meanwhile does not have the object.
    @Test func eachRequestForAnObjectGivesACallerTheWholeTimeAgain() async throws {
        try await withScopes { contacts, place in
            let (arrived, answered) = ([Signal(), Signal()], [Signal(), Signal()])
            let requests = Shared(0)
            let first = Task {
                try await contacts.value(where: \.uid, equals: "uid-0", as: ContactValue.self) { uid in
                    let number = requests.value
                    requests.update { $0 += 1 }
                    arrived[number].send()
                    await answered[number].wait()
                    return ContactData(uid: uid, name: "loaded")
                }
            }
            await arrived[0].wait()
            let second = Task {
                try await contacts.value(
                    where: \.uid, equals: "uid-0", as: ContactValue.self, timeLimit: Self.limit
                ) { _ in throw Poison() }
            }
            await waitForTimer(place, Self.limit)
            try await contacts.load(.contacts, maxAge: .zero) { _ in .list(contactList(1..<2)) }
            place.timers.pass(.seconds(5))
            answered[0].send()
            await arrived[1].wait()
            // Seven seconds after the call, but two after the second request.
            pass(place, .seconds(2), timers: Self.limit)
            answered[1].send()
            let (one, other) = (try await first.value, try await second.value)
            #expect(one?.name == "loaded" && other?.name == "loaded")
            #expect(requests.value == 2)
        }
    }

    /// A thousand callers do not make a thousand timers.
    @Test func callersWithTheSameLimitShareATimer() async throws {
        try await withScopes { contacts, place in
            let (arrived, answered) = (Signal(), Signal())
            let load = { @Sendable in
                try await contacts.load(.contacts, maxAge: .seconds(10), timeLimit: Self.limit) { _ in
                    arrived.send()
                    await answered.wait()
                    return .list(contactList(0..<3))
                }
            }
            let first = Task { try await load() }
            await arrived.wait()
            let others = (0..<20).map { _ in Task { try await load() } }
            while contacts.tier.loadWaiterCount < 21 { await Task.yield() }
            await waitForTimer(place, Self.limit)
            // One is for the request.
            let timers = place.timers.delays.filter { $0 == Self.limit }
            #expect(timers.count <= 2)
            answered.send()
            for task in [first] + others {
                let answer = try await task.value
                #expect(answer.isComplete)
            }
        }
    }

    // MARK: What the first caller decides

    @Test func theFirstCallerDecidesWhatMayBeDeleted() async throws {
        try await withScopes { contacts, _ in
            try await contacts.add(contactList(0..<100))
            let (arrived, answered) = (Signal(), Signal())
            let first = Task {
                try await contacts.load(.contacts, maxAge: .zero) { _ in
                    arrived.send()
                    await answered.wait()
                    return .list(contactList(0..<3))
                }
            }
            await arrived.wait()
            let load = { @Sendable in
                try await contacts.load(.contacts, maxAge: .zero, deleting: .all) { _ in .list(contactList(0..<3)) }
            }
            let second = Task { try await load() }
            while contacts.tier.loadWaiterCount < 2 { await Task.yield() }
            answered.send()
            await expectError(.tooManyDeletions) { try await first.value }
            await expectError(.tooManyDeletions) { try await second.value }
            #expect(try contacts.count(ContactEntity.self) == 100)
            _ = try await load()
            #expect(try contacts.count(ContactEntity.self) == 3)
        }
    }

    @Test(arguments: ScopeStoreKind.allCases)
    func allCallersOfALoadCountOneFailure(_ kind: ScopeStoreKind) async throws {
        try await withScopes(kind) { contacts, place in
            let (arrived, answered) = (Signal(), Signal())
            let tasks = (0..<10).map { _ in
                Task {
                    try await contacts.load(.contacts, maxAge: .seconds(10)) { _ in
                        arrived.send()
                        await answered.wait()
                        throw Poison()
                    }
                }
            }
            await arrived.wait()
            while contacts.tier.loadWaiterCount < 10 { await Task.yield() }
            answered.send()
            for task in tasks { await expectThrows(Poison.self) { try await task.value } }
            contacts.tier.forgetScopes()
            let found = try contacts.freshness(of: .contacts)
            #expect(found.failureCount == 1 && found.lastFailure == "Poison")
            #expect(found.retryAt == place.clock.value + 2)
        }
    }
}
