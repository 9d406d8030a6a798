import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import TestSupport
import Testing

/// Large saves, whose rows are written while their hooks still run.
@MainActor
struct EarlyWriteTests {
    @Test func rowsOfALargeSaveAreWrittenWhileItsHooksRun() async throws {
        try await withTimedContainer { container, store, _, url in
            let contacts = try container.dataSource(PausingSource.self)
            try await contacts.add(
                pausing(5_000) {
                    waitForRows(4_000, container, store)
                    #expect(store.earlyRows >= 4_000)
                    // Nobody sees them.
                    let count = try RawConnection(url).column("SELECT count(*) FROM ContactEntity")
                    #expect(count == ["0"])
                })
            #expect(store.earlyRows == 0)
            #expect(try RawConnection(url).column("SELECT count(*) FROM ContactEntity") == ["5000"])
            #expect(try contacts.count(ContactEntity.self) == 5_000)
        }
    }

    /// Everybody else goes first: no other save waits for the end of the hooks.
    @Test func theSaveOfAnotherDataSourceDoesNotWaitForTheHooks() async throws {
        try await withTimedContainer { container, store, _, url in
            let contacts = try container.dataSource(PausingSource.self)
            let groups = try container.dataSource(GroupDataSource.self)
            let (isAhead, isGroupSaved) = (AsyncStream<Void>.makeStream(), Gate())
            let values = pausing(5_000) {
                waitForRows(1, container, store)
                #expect(store.earlyRows > 0)
                isAhead.continuation.finish()
                isGroupSaved.wait()
                #expect(store.earlyRows == 0)
            }
            async let large = contacts.add(values)
            for await _ in isAhead.stream {}
            try await groups.add(GroupData(gid: "1", name: "one"))
            #expect(try RawConnection(url).column("SELECT count(*) FROM GroupEntity") == ["1"])
            isGroupSaved.open()
            #expect(try await large.inserted == 5_000)
            #expect(try RawConnection(url).column("SELECT count(*) FROM ContactEntity") == ["5000"])
        }
    }

    @Test func aHookThatThrowsLeavesNothingAndNoTransaction() async throws {
        try await withTimedContainer { container, store, _, url in
            let contacts = try container.dataSource(PausingSource.self)
            await expectThrows(Poison.self) {
                try await contacts.add(
                    pausing(5_000) {
                        waitForRows(1, container, store)
                        #expect(store.earlyRows > 0)
                        throw Poison()
                    })
            }
            #expect(store.earlyRows == 0)
            try RawConnection(url).execute("BEGIN IMMEDIATE; COMMIT")
            #expect(try await contacts.add(pausing(2_000) {}).inserted == 2_000)
        }
    }

    /// A save that is checked and found wrong, after its rows were written early.
    @Test func aSaveThatBreaksARuleLeavesNothing() async throws {
        try await withTimedContainer { container, store, _, url in
            let contacts = try container.dataSource(PausingSource.self)
            await expectError(.uniquenessViolated) {
                try await contacts.perform { context in
                    for number in 0..<3_000 {
                        let contact = try context.insert(ContactEntity.self)
                        (contact.uid, contact.name) = (number == 2_999 ? "1" : "\(number)", "name")
                    }
                }
            }
            #expect(store.earlyRows == 0)
            #expect(try RawConnection(url).column("SELECT count(*) FROM ContactEntity") == ["0"])
        }
    }

    /// Nothing is written of a sync that is only planned.
    @Test func aPlannedSyncWritesNothingEarly() async throws {
        try await withTimedContainer { container, store, _, _ in
            let contacts = try container.dataSource(PausingSource.self)
            let values = pausing(3_000) {
                for _ in 0..<20 { container.stack.root.waitForQueue() }
                #expect(store.earlyRows == 0)
            }
            #expect(try await contacts.planSync(values, entity: ContactEntity.self).inserted == 3_000)
            #expect(try contacts.count(ContactEntity.self) == 0)
        }
    }

    /// Other programs cannot write while the transaction is open, so it does not wait for a hook that takes its time.
    @Test func aSaveThatStandsStillGivesTheStoreFree() async throws {
        try await withTimedContainer { container, store, timers, url in
            let contacts = try container.dataSource(PausingSource.self)
            try await contacts.add(
                pausing(5_000) {
                    waitForRows(1, container, store)
                    #expect(store.earlyRows > 0)
                    container.stack.root.waitForQueue()
                    // The first time it finds that rows have come since it was set.
                    for _ in 0..<3 where store.earlyRows > 0 { timers.fire() }
                    #expect(store.earlyRows == 0)
                    try RawConnection(url).execute("INSERT INTO GroupEntity (gid, name) VALUES ('2', 'other')")
                })
            #expect(try contacts.count(ContactEntity.self) == 5_000)
            #expect(try container.main.count(GroupEntity.self) == 1)
        }
    }

    /// Nor for a save that goes on and on.
    @Test func aSaveThatTakesLongGivesTheStoreFree() async throws {
        try await withTimedContainer { container, store, timers, url in
            let contacts = try container.dataSource(PausingSource.self)
            let pauses = Guarded<[Int]>([])
            var values = pausing(12_000) { #expect(store.earlyRows == 0) }
            for index in stride(from: 2_000, to: 11_500, by: 300) {
                values[index].pause = {
                    // Each time more rows have come since the timer fired. The first time it may not be set yet.
                    let (count, before) = pauses.withLock { ($0.count, $0.last ?? 0) }
                    if count < 20 { waitForRows(before + 1, container, store) }
                    if count > 0 { timers.fire() }
                    pauses.withLock { $0.append(store.earlyRows) }
                }
            }
            try await contacts.add(values)
            #expect(pauses.withLock { $0.prefix(20).allSatisfy { $0 > 0 } })
            #expect(pauses.withLock { $0.suffix(5).allSatisfy { $0 == 0 } })
            #expect(try RawConnection(url).column("SELECT count(*) FROM ContactEntity") == ["12000"])
        }
    }

    /// A reset, the end and whatever else the queue has to do wait for one part, not for all that have come.
    @Test func eachPartOfAnEarlyWriteIsOneQueueJob() async throws {
        let (gate, store, turns) = (Gate(), Guarded<SQLiteStore?>(nil), Guarded<[Int]>([]))
        let scheduling = ManualTimers().scheduling
        var counted = scheduling
        counted.makeQueue = { label, isPrivate in
            let queue = scheduling.makeQueue(label, isPrivate)
            if label != "CoreDataSource.root" { return queue }
            return CountedQueue(queue) { work in
                guard let store = store.withLock({ $0 }) else { return work() }
                gate.wait()
                gate.open()
                let before = store.earlyRows
                work()
                turns.withLock { $0.append(store.earlyRows - before) }
            }
        }
        try await withTimedContainer(counted) { container, opened, _, _ in
            store.withLock { $0 = opened }
            let contacts = try container.dataSource(PausingSource.self)
            try await contacts.add(
                pausing(5_000) {
                    gate.open()
                    waitForRows(4_000, container, opened)
                })
            let rows = turns.withLock { $0.filter { $0 > 0 } }
            #expect(rows.count >= 12, "\(rows)")
            #expect(rows.allSatisfy { $0 <= 1_024 }, "\(rows)")
            store.withLock { $0 = nil }
        }
    }

    /// Objects that are edited once they are handed over, deleted again, or rolled back.
    @Test func rowsEditedAfterTheirEarlyWriteGetTheirFinalValues() async throws {
        let seed = testSeed()
        for number in UInt64(0)..<4 {
            try await withContainer { container, url in
                let contacts = try container.dataSource(PausingSource.self)
                var expected: [String: String] = [:]
                for round in 0..<4 {
                    let before = expected
                    let result = try? await contacts.perform { context in
                        var random = SeededRandom(seed: seed &+ number * 100 &+ UInt64(round))
                        return try editAtRandom(context, before, round, &random)
                    }
                    if let result { expected = result }
                }
                let found = try RawConnection(url).column("SELECT uid || '=' || name FROM ContactEntity")
                #expect(found.sorted() == expected.map { "\($0)=\($1)" }.sorted(), "seed \(seed), \(number)")
            }
        }
    }
}

/// A queue each of whose pieces of work is run by a closure.
private final class CountedQueue: WorkQueue {
    private let queue: any WorkQueue
    private let run: @Sendable (() -> Void) -> Void

    init(_ queue: any WorkQueue, _ run: @escaping @Sendable (() -> Void) -> Void) {
        self.queue = queue
        self.run = run
    }

    func async(_ work: @escaping @Sendable () -> Void) { queue.async { self.run(work) } }
    func sync<R>(_ work: () throws -> R) rethrows -> R { try queue.sync(work) }
    func checkIsCurrent() { queue.checkIsCurrent() }
}

/// Inserts, edits and deletes thousands of contacts, and goes back now and then, or throws.
///
/// - Returns: The names that should be stored, by uid.
private func editAtRandom(
    _ context: PrivateContext, _ before: [String: String], _ round: Int, _ random: inout SeededRandom
) throws -> [String: String] {
    var names = before
    var objects = try context.fetch(ContactEntity.self)
    for step in 0..<(1_500 + random.next(below: 2_000)) {
        switch random.next(below: 20) {
        case 0 where !objects.isEmpty:
            let object = objects.remove(at: random.next(below: objects.count))
            names[object.uid] = nil
            context.delete(object)
        case 1 where !objects.isEmpty:
            let object = objects[random.next(below: objects.count)]
            object.name = String(repeating: "edited ", count: 1 + random.next(below: 20)) + "\(step)"
            names[object.uid] = object.name
        default:
            let object = try context.insert(ContactEntity.self)
            (object.uid, object.name) = ("\(round)-\(step)", "name \(step)")
            names[object.uid] = object.name
            objects.append(object)
        }
        if random.next(below: 3_000) == 0 {
            context.rollback()
            names = before
            objects = try context.fetch(ContactEntity.self)
        }
        if random.next(below: 15_000) == 0 { throw Poison() }
    }
    return names
}
