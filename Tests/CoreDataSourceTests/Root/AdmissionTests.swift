import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// Calls are held while too much is waiting, and let in again.
@MainActor
struct AdmissionTests {
    /// A container in which one save is being committed, and a second save fills what may wait.
    private func full() async throws -> (
        PersistentContainer, FaultyStore, ManualTimers, SenderDataSource, @Sendable () -> Void
    ) {
        let (container, store, timers) = PersistentContainer.timed(configuration: .init(pendingByteLimit: 1))
        let (release, arrived) = (store.holdCommits(), store.commitArrives())
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(ItemData(key: "first", number: 0), waitFor: .main)
        for await _ in arrived {}
        try await senders.add(ItemData(key: "second", number: 0), waitFor: .main)
        return (container, store, timers, senders, release)
    }

    @Test func aCallWaitsBeforeItsBatchUntilThereIsRoom() async throws {
        let (container, _, _, senders, release) = try await full()
        let held = Task { try await senders.add(ItemData(key: "held", number: 1)) }
        while container.stack.root.admission.waitingCount == 0 { await Task.yield() }
        #expect(container.pendingSaveCount == 2)
        // Reading is not held.
        #expect(try await senders.fetch(as: SenderValue.self).count == 2)
        release()
        #expect(try await held.value == SaveReport(inserted: 1))
    }

    @Test func aCallThatIsHeldForTooLongIsRefused() async throws {
        let (container, _, timers, senders, release) = try await full()
        let held = Task { try await senders.add(ItemData(key: "held", number: 1)) }
        while container.stack.root.admission.waitingCount == 0 || !timers.delays.contains(.seconds(10)) {
            await Task.yield()
        }
        timers.fire()
        await expectError(.storeUnavailable) { try await held.value }
        release()
        try await container.flush()
        #expect(try senders.count(Sender.self) == 2)
    }

    @Test func aFormWithACallbackIsRefusedAtOnce() async throws {
        let (_, _, _, senders, release) = try await full()
        let result: Result<SaveReport, any Error> = await withCheckedContinuation { continuation in
            senders.add([ItemData(key: "late", number: 1)]) { continuation.resume(returning: $0) }
        }
        expectError(.storeUnavailable) { try result.get() }
        release()
    }

    @Test func aHeldCallEndsWithItsTask() async throws {
        let (container, _, _, senders, release) = try await full()
        let held = Task { try await senders.add(ItemData(key: "held", number: 1)) }
        while container.stack.root.admission.waitingCount == 0 { await Task.yield() }
        held.cancel()
        await expectThrows(CancellationError.self) { try await held.value }
        release()
        try await container.flush()
        #expect(try senders.count(Sender.self) == 2)
    }

    /// Calls that end while they wait do not change the order of the others.
    @Test func callsAreAdmittedInTheOrderInWhichTheyArrive() async throws {
        let (container, _, _, _, release) = try await full()
        let admission = container.stack.root.admission
        let admitted = Shared<[Int]>([])
        var calls: [Task<Void, any Error>] = []
        for number in 0..<100 {
            calls.append(
                Task {
                    try await admission.enter(1)
                    admitted.update { $0.append(number) }
                    admission.leave(1)
                })
            while admission.waitingCount <= number { await Task.yield() }
        }
        var random = SeededRandom(seed: testSeed())
        let ended = Set((0..<100).map { _ in Int.random(in: 0..<100, using: &random) })
        for number in ended.sorted().shuffled(using: &random) { calls[number].cancel() }
        for number in ended { await expectThrows(CancellationError.self) { try await calls[number].value } }
        #expect(admission.waitingCount == 100 - ended.count)
        release()
        for call in calls { _ = await call.result }
        #expect(admitted.value == (0..<100).filter { !ended.contains($0) })
    }

    @Test func aBlockedCallerIsHeldToo() async throws {
        let (container, _, _, senders, release) = try await full()
        let held = Task.detached { try senders.performAndWait { try $0.insert(Sender.self).key = "held" } }
        while container.stack.root.admission.waitingCount == 0 { await Task.yield() }
        release()
        try await held.value
        #expect(try senders.count(Sender.self) == 3)
    }

    /// If they counted, all calls would wait for the end of a large save, and those let in after it for the next large save, too.
    @Test func theSavesOfTheRunningCommitDoNotCount() async throws {
        let (container, store, _) = PersistentContainer.timed(configuration: .init(pendingByteLimit: 1))
        let admission = container.stack.root.admission
        let (release, arrived) = (store.holdCommits(), store.commitArrives())
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(ItemData(key: "first", number: 0), waitFor: .main)
        for await _ in arrived {}
        try admission.enterNow(1)
        admission.leave(1)
        try await senders.add(ItemData(key: "second", number: 0), waitFor: .main)
        expectError(.storeUnavailable) { try admission.enterNow(1) }
        release()
        try await container.flush()
        try admission.enterNow(1)
        admission.leave(1)
    }

    /// If they counted, the saves of all other data sources would wait for the hooks of a large one.
    @Test func theValuesOfARunningBatchDoNotCount() async throws {
        let (container, _) = PersistentContainer.faulty(.contacts, configuration: .init(queuedValueLimit: 100))
        let admission = container.stack.root.admission
        let contacts = try container.dataSource(PausingSource.self)
        let (hasBegun, goOn) = (AsyncStream<Void>.makeStream(), Gate())
        let values = pausing(100) {
            hasBegun.continuation.finish()
            goOn.wait()
        }
        async let large = contacts.add(values)
        for await _ in hasBegun.stream {}
        let isAdmitted = (try? admission.enterNow(1)) != nil
        if isAdmitted { admission.leave(1) }
        goOn.open()
        #expect(try await large.inserted == 100)
        #expect(isAdmitted)
        #expect(admission.queuedValueCount == 0)
        // The values no longer count as running either.
        try admission.enterNow(100)
        expectError(.storeUnavailable) { try admission.enterNow(1) }
        admission.leave(100)
    }

    /// The values that wait for their batch count, not only the saves that wait for the store.
    @Test func valuesInTheQueueCount() async throws {
        let (container, _, _) = PersistentContainer.timed(configuration: .init(queuedValueLimit: 100))
        let senders = try container.dataSource(SenderDataSource.self)
        let items = (0..<100).map { ItemData(key: "\($0)", number: $0) }
        let isRunning = Shared(false)
        let semaphore = Gate()
        let first = Task.detached {
            try await senders.perform { _ in
                isRunning.value = true
                semaphore.wait()
            }
        }
        while !isRunning.value { await Task.yield() }
        let second = Task.detached { try await senders.add(items) }
        while container.stack.root.admission.queuedValueCount < 100 { await Task.yield() }
        let third = Task.detached { try await senders.add(ItemData(key: "held", number: 1)) }
        while container.stack.root.admission.waitingCount == 0 { await Task.yield() }
        semaphore.open()
        _ = (try await first.value, try await second.value, try await third.value)
        #expect(try senders.count(Sender.self) == 101)
    }
}

struct SenderValue: ManagedObjectConvertible {
    let key: String

    init(_ object: Sender) { key = object.key }
}
