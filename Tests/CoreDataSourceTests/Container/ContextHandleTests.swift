import CoreDataSource
import CoreDataSourceActiveRecord
import ErrorExpectations
import Testing

@MainActor
struct ContextHandleTests {
    @Test func aBackgroundContextWritesWhatItsDataSourcesOwn() async throws {
        try await withChat { container, senders, rooms in
            let one = container.newBackgroundContext(for: senders)
            let key = try await one.perform { context in
                let sender = try Sender.create(in: context)
                sender.key = "s"
                return sender.key
            }
            #expect(key == "s")
            let two = container.newBackgroundContext(for: senders, rooms)
            try await two.perform { senders, rooms in
                try Sender.removeAll(in: senders)
                try Room.create(in: rooms).key = "r"
            }
            let messages = try container.dataSource(MessageDataSource.self)
            let three = container.newBackgroundContext(for: messages, rooms, senders)
            try await three.perform { _, _, senders in try Sender.create(in: senders).key = "t" }
            #expect(try senders.count(Sender.self) == 1 && rooms.count(Room.self) == 1)
        }
    }

    @Test func aBackgroundContextWritesNothingElse() async throws {
        try await withChat { container, senders, _ in
            let background = container.newBackgroundContext(for: senders)
            await expectError(.entityNotOwned) {
                try await background.perform { context in
                    try Sender.create(in: context).key = "s"
                    try Room.create(in: context).key = "r"
                }
            }
            let count = try senders.count(Sender.self)
            #expect(count == 0)
        }
    }

    @Test func aTaskThatThrowsLeavesNothing() async throws {
        try await withChat { container, senders, rooms in
            let background = container.newBackgroundContext(for: senders, rooms)
            await expectThrows(Poison.self) {
                try await background.perform { senders, rooms in
                    try Sender.create(in: senders).key = "s"
                    try Room.create(in: rooms).key = "r"
                    throw Poison()
                }
            }
            let counts = try (senders.count(Sender.self), rooms.count(Room.self))
            #expect(counts == (0, 0))
        }
    }

    /// Each of two calls waits for the other in the middle of its work: they end only if they run side by side.
    @Test func readsRunSideBySide() async throws {
        try await withChat { container, senders, _ in
            try await senders.add(ItemData(key: "s", number: 1))
            let background = container.newBackgroundContext()
            let gates = (Gate(), Gate())
            async let first = background.perform { context in
                gates.0.open()
                gates.1.wait()
                return try Sender.count(in: context)
            }
            async let second = background.perform { context in
                gates.1.open()
                gates.0.wait()
                return try Sender.count(in: context)
            }
            #expect(try await first + second == 2)
        }
    }

    @Test func writesToOneDataSourceAreSerial() async throws {
        try await withChat { container, senders, _ in
            try await senders.add(ItemData(key: "s", number: 0))
            await withTaskGroup { group in
                for _ in 0..<20 {
                    let background = container.newBackgroundContext(for: senders)
                    group.addTask {
                        try? await background.perform { context in
                            let sender = try Sender.first(in: context)
                            sender?.number += 1
                        }
                    }
                }
            }
            #expect(try Sender.first(in: container.main)?.number == 20)
        }
    }

    @Test func aTaskRunsOnce() async throws {
        try await withChat { container, senders, rooms in
            try await container.performBackgroundTask(for: senders) { try Sender.create(in: $0).key = "s" }
            try await container.performBackgroundTask(for: senders, rooms) { senders, rooms in
                try Sender.create(in: senders).key = "t"
                try Room.create(in: rooms).key = "r"
            }
            let counts = try await container.performBackgroundTask { context in
                [try Sender.count(in: context), try Room.count(in: context)]
            }
            #expect(counts == [2, 1])
        }
    }

    @Test func aBackgroundContextKeepsItsContainer() async throws {
        let background: ContextHandle<PrivateContext>
        weak var released: PersistentContainer?
        do {
            let container = try await PersistentContainer(model: .chat, store: .inMemory)
            background = container.newBackgroundContext(for: try container.dataSource(SenderDataSource.self))
            released = container
        }
        try await background.perform { try Sender.create(in: $0).key = "s" }
        #expect(try released?.main.count(Sender.self) == 1)
    }

    @Test func aTypeThatOnlyConformsTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let container = try await PersistentContainer(model: .chat, store: .inMemory)
            _ = container.newBackgroundContext(for: NoDataSource())
        }
        #expect(
            String(decoding: try #require(result).standardErrorContent, as: UTF8.self).contains(
                "A NoDataSource was passed to newBackgroundContext(for:), but is not a data source. Subclass DataSource instead of conforming to DataSourceProtocol."
            ))
    }

    @Test func aDataSourceOfAnotherContainerTraps() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let one = try await PersistentContainer(model: .chat, store: .inMemory)
            let other = try await PersistentContainer(model: .chat, store: .inMemory)
            let senders = try await other.dataSource(SenderDataSource.self)
            _ = one.newBackgroundContext(for: senders)
        }
        #expect(
            String(decoding: try #require(result).standardErrorContent, as: UTF8.self).contains(
                "A SenderDataSource of another container was passed to newBackgroundContext(for:). Use the data sources of this container."
            ))
    }
}

/// Conforms to the protocol, which apps should not do.
private final class NoDataSource: DataSourceProtocol {}
