import CoreDataSource
import Dispatch
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// Reading off the main actor, beside writers.
@MainActor @Suite struct ReadTests {
    @Test(arguments: StoreKind.allCases)
    func aReadSeesWhatWasSavedBefore(_ kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            let names = try await container.read { context in
                try context.fetch(ContactEntity.self, order: [.ascending(\.uid)]).map(\.name)
            }
            #expect(names == (0..<5).map { "name \($0)" })
        }
    }

    /// Everything in one read is of one moment, and it waits for no writer.
    @Test(arguments: StoreKind.allCases)
    func aReadSeesNoLaterSave(_ kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<10))
            let hasRead = DispatchSemaphore(value: 0)
            let hasSaved = DispatchSemaphore(value: 0)
            async let counts = container.read { context in
                let before = try context.count(ContactEntity.self)
                hasRead.signal()
                hasSaved.wait()
                let after = try context.count(ContactEntity.self)
                let found = try context.fetch(ContactEntity.self, where: \.name == "name 3").map(\.uid)
                let deleted = try context.first(ContactEntity.self, where: \.uid, equals: "uid-1")?.name
                return (before, after, found, deleted)
            }
            await hasRead.wait(times: 1)
            try await contacts.add(contactList(3..<20) { "new \($0)" })
            try await contacts.delete(contactList(1..<2))
            hasSaved.signal()
            let (before, after, found, deleted) = try await counts
            #expect(before == 10 && after == 10)
            #expect(found == ["uid-3"])
            #expect(deleted == "name 1")
            #expect(try await container.read { try $0.count(ContactEntity.self) } == 19)
        }
    }

    @Test func aReadSeesSavesThatAreNotInTheStoreYet() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            for number in 0..<50 {
                try await contacts.add(contactList(number..<number + 1), waitFor: .main)
                #expect(try await container.read { try $0.count(ContactEntity.self) } == number + 1)
            }
        }
    }

    /// A row of an older save would be laid over those of a newer one, if what is pending were copied before the store's state
    /// is settled.
    @Test func aSaveThatIsWrittenAsAReadBeginsIsSeenWhole() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        func items(_ number: Int64) -> [ItemData] { ["a", "b"].map { ItemData(key: $0, number: number) } }
        try await senders.add(items(1))
        store.fail(with: noRoom)
        try await senders.add(ItemData(key: "a", number: 2), waitFor: .main)
        let read = store.holdNextRead()
        let reading = Task {
            try await container.read { context in
                try context.fetch(Sender.self, order: [.ascending(\.key)]).map(\.number)
            }
        }
        for await _ in read.arrived {}
        store.fail(with: nil)
        try await senders.add(items(3))
        read.release()
        #expect(try await reading.value == [3, 3])
    }

    @Test func moreReadsThanReadersAllEnd() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<100))
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<200 { group.addTask { try await container.read { try $0.count(ContactEntity.self) } } }
                for try await count in group { #expect(count == 100) }
            }
        }
    }

    @Test func readsThatWaitHaveTheirTurnInTheOrderOfAsking() async throws {
        try await withContainer { container, _ in
            let (begun, next, end) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
            )
            // One of them ends first, and all that wait come after it.
            let busy = (0..<6).map { number in
                Task {
                    try await container.read { _ in
                        begun.signal()
                        (number == 0 ? next : end).wait()
                    }
                }
            }
            await begun.wait(times: 6)
            let served = Shared<[Int]>([])
            var waiting: [Task<Void, any Error>] = []
            for number in 0..<5 {
                waiting.append(Task { try await container.read { _ in served.update { $0.append(number) } } })
                while container.readers.waitingCount <= number { await Task.yield() }
            }
            next.signal()
            for task in waiting { try await task.value }
            #expect(served.value == Array(0..<5))
            for _ in 0..<5 { end.signal() }
            for task in busy { try await task.value }
        }
    }

    @Test func aReadThatWaitsForItsTurnEndsWhenItIsCancelled() async throws {
        try await withContainer { container, _ in
            let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let busy = (0..<6).map { _ in
                Task {
                    try await container.read { _ in
                        begun.signal()
                        end.wait()
                    }
                }
            }
            await begun.wait(times: 6)
            let waiting = Task { try await container.read { try $0.count(ContactEntity.self) } }
            waiting.cancel()
            await expectThrows(CancellationError.self) { try await waiting.value }
            for _ in 0..<6 { end.signal() }
            for task in busy { try await task.value }
            #expect(try await container.read { try $0.count(ContactEntity.self) } == 0)
        }
    }

    /// It ends in the middle of the rows that it is reading.
    @Test(arguments: StoreKind.allCases)
    func aReadEndsWhenItIsCancelled(_ kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<10_000))
            let asked = Shared(0)
            let test = FetchPredicate.cancelling(after: 10, asked)
            await expectThrows(CancellationError.self) {
                try await container.read { try $0.fetch(ContactEntity.self, where: test).count }
            }
            #expect((10...10 + 64).contains(asked.value))
        }
    }

    /// The reset held main back until the read had ended, however long that took.
    @Test func mainReadsOnWhileAResetWaitsForALongRead() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<5))
            let root = container.stack.root
            let position = root.feedPosition
            let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let reading = Task {
                try await container.read { context in
                    begun.signal()
                    end.wait()
                    return try context.count(ContactEntity.self)
                }
            }
            await begun.wait(times: 1)
            let resetting = Task { try await container.reset() }
            while (try? root.checkNotReset(since: position)) != nil { await Task.yield() }
            for _ in 0..<200 {
                #expect(try container.main.count(ContactEntity.self) == 5)
                await Task.yield()
            }
            end.signal()
            #expect(try await reading.value == 5)
            _ = try await resetting.value
            #expect(try container.main.count(ContactEntity.self) == 0)
        }
    }

    @Test func closingWaitsForReadsThatWereAskedForBefore() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .contacts, store: .sqlite(directory.store))
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let reading = Task {
            try await container.read { context in
                begun.signal()
                end.wait()
                return try context.count(ContactEntity.self)
            }
        }
        await begun.wait(times: 1)
        let isClosed = Shared(false)
        let closing = Task {
            try await container.close()
            isClosed.value = true
        }
        while !container.readers.isClosed { await Task.yield() }
        await expectError(.storeClosed) { try await container.read { _ in } }
        #expect(!isClosed.value)
        end.signal()
        #expect(try await reading.value == 0)
        try await closing.value
    }

    /// In the body such a relationship leads to nothing.
    @Test func aReadWhoseRelationshipCannotBeReadThrows() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let topic = try context.topic("t")
                for number in 0..<400 { try context.letter("\(number)").topic = topic }
            }
            let reading = Task {
                try await container.read { context in
                    let topic = try context.knownTopic("t")
                    withUnsafeCurrentTask { $0?.cancel() }
                    return topic.letters.map(\.key).count
                }
            }
            await expectThrows(CancellationError.self) { try await reading.value }
        }
    }

    @Test func aReadWhoseRelationshipTheStoreCannotReadThrows() async throws {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(layout)
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { try $0.letter("l").topic = try $0.topic("t") }
        await expectError(.diskFull) {
            try await container.read { context in
                let letter = try context.knownLetter("l")
                store.failRows(with: noRoom)
                return letter.topic?.key
            }
        }
        store.failRows(with: nil)
        try await container.close()
    }

    @Test func anErrorOfTheBodyIsThrown() async throws {
        try await withContainer { container, _ in
            await expectThrows(Poison.self) { try await container.read { _ in throw Poison() } }
        }
    }
}

extension DispatchSemaphore {
    /// Waits on a thread that is not of the cooperative pool.
    fileprivate func wait(times count: Int) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                for _ in 0..<count { self.wait() }
                continuation.resume()
            }
        }
    }
}
