import CoreDataSource
import Foundation
import Testing

/// Many tasks, three data sources, one store. Under the thread sanitizer this is the test that must stay silent.
@MainActor
struct ConcurrencyTests {
    /// Every acknowledged row is there, and what one task did last stands.
    @Test(arguments: StoreKind.allCases)
    func sixtyFourTasksLoseNothing(kind: StoreKind) async throws {
        let directory = try TemporaryDirectory()
        let location: StoreLocation = kind == .sqlite ? .sqlite(directory.store) : .inMemory
        let container = try await PersistentContainer(model: .chat, store: location)
        let senders = try container.dataSource(SenderDataSource.self)
        let rooms = try container.dataSource(RoomDataSource.self)
        let messages = try container.dataSource(MessageDataSource.self)
        let acknowledged = Shared(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<64 {
                group.addTask {
                    for number in Int64(1)...20 {
                        let own = ItemData(key: "\(task)-\(number)", number: number)
                        let last = ItemData(key: "last-\(task)", number: number)
                        switch task % 3 {
                        case 0: try await senders.add([own, last])
                        case 1: try await rooms.add([own, last])
                        default: try await messages.add([own, last])
                        }
                        acknowledged.update { $0 += 1 }
                        try await self.readSomething(messages, task)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(acknowledged.value == 64 * 20)
        #expect(container.pendingSaveCount == 0)
        let all = try container.main.fetch(Item.self)
        #expect(all.count == 64 * 21)
        #expect(all.filter { $0.key.hasPrefix("last-") }.allSatisfy { $0.number == 20 })
        try await container.close()
    }

    private nonisolated func readSomething(_ messages: MessageDataSource, _ task: Int) async throws {
        if task % 8 == 0 {
            let count = try await messages.fetchCount()
            #expect(count >= 0)
        } else if task % 8 == 1 {
            let sorted = try await messages.perform { context in
                try context.fetch(Message.self, order: [SortDescriptor(\.number)]).map(\.number)
            }
            #expect(sorted == sorted.sorted())
        }
    }

    /// Main stays free while a large import runs, and sees all of it or nothing.
    @Test func mainAnswersDuringAnImport() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            _ = try contacts.fetch(ContactEntity.self)
            let done = Shared(false)
            let importing = Task.detached {
                defer { done.value = true }
                try await contacts.add(contactList(0..<100_000))
            }
            var answers: Set<Int> = []
            while !done.value {
                answers.insert(try contacts.count(ContactEntity.self))
                await Task.yield()
            }
            try await importing.value
            #expect(answers.isSubset(of: [0, 100_000]))
            #expect(try contacts.count(ContactEntity.self) == 100_000)
        }
    }

    /// Whoever waited for the batch would never return.
    @Test(arguments: StoreKind.allCases)
    func readsDoNotWaitForABatch(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            try await hold { pause in
                try await contacts.perform { context in
                    for value in contactList(1..<5_000) {
                        let contact = try context.insert(ContactEntity.self)
                        (contact.uid, contact.name) = (value.uid, value.name)
                    }
                    pause()
                }
            } meanwhile: {
                #expect(try contacts.count(ContactEntity.self) == 1)
                #expect(try contacts.fetch(ContactEntity.self).map(\.name) == ["name 0"])
                #expect(try contacts.list(ObjectRequest(ContactEntity.self)).count == 1)
                let count = try await container.read { try $0.count(ContactEntity.self) }
                #expect(count == 1)
            }
            #expect(try contacts.count(ContactEntity.self) == 5_000)
        }
    }

    /// A fetch that begins while a commit is under way sees each save once: not zero times, not twice.
    @Test func aFetchNeverMissesASaveThatIsBeingCommitted() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .chat, store: .sqlite(directory.store), configuration: .init(synchronous: .normal))
        let senders = try container.dataSource(SenderDataSource.self)
        let rooms = try container.dataSource(RoomDataSource.self)
        let newest = Shared<Int64>(0)
        let writing = Task.detached {
            for number in Int64(1)...2_000 {
                try await senders.add([
                    ItemData(key: "\(number)", number: number), ItemData(key: "gone", number: number),
                ])
                newest.value = number
                try await senders.delete(ItemData(key: "gone", number: 0))
            }
        }
        let reading = Task.detached {
            var seen: Int64 = 0
            while seen < 2_000 {
                let before = newest.value
                let numbers = try await rooms.perform { context in
                    try context.fetch(Sender.self).filter { $0.key != "gone" }.map(\.number)
                }
                #expect(numbers == Array(1..<Int64(numbers.count) + 1))
                #expect(Int64(numbers.count) >= max(before, seen))
                seen = Int64(numbers.count)
            }
        }
        try await writing.value
        try await reading.value
        try await container.close()
    }
}

extension EntityDataSource {
    fileprivate func fetchCount() throws -> Int { try count(Item.self) }
}
