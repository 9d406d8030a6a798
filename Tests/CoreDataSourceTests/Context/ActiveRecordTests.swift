import CoreDataSource
import CoreDataSourceActiveRecord
import ErrorExpectations
import Testing

/// The verbs of a context, asked of the class.
@MainActor
struct ActiveRecordTests {
    private func withItems(_ body: (PersistentContainer, SenderDataSource) throws -> Void) async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let senders = try container.dataSource(SenderDataSource.self)
        try senders.writeSync { context in
            for number in 1...4 {
                let sender = try Sender.create(in: context)
                sender.key = "s\(number)"
                sender.number = Int64(number)
            }
        }
        try body(container, senders)
        try await container.close()
    }

    @Test func objectsHaveTheClassOfTheCall() async throws {
        try await withItems { container, _ in
            let main = container.main
            let senders: [Sender] = try Sender.all(in: main, where: \.number >= 2, order: [.descending(\.number)])
            #expect(senders.map(\.key) == ["s4", "s3", "s2"])
            let items: [Item] = try Item.all(in: main)
            #expect(items.count == 4 && items.allSatisfy { $0 is Sender })
            let first: Sender? = try Sender.first(in: main, where: \.number > 1, order: [.ascending(\.number)])
            #expect(first?.key == "s2")
            #expect(try Sender.count(in: main, where: \.number < 3) == 2 && Room.count(in: main) == 0)
        }
    }

    @Test func aRemovedObjectIsGone() async throws {
        try await withItems { container, senders in
            try senders.writeSync { context in
                try Sender.first(in: context, where: \.key == "s1")?.remove(in: context)
                #expect(try Sender.removeAll(in: context, where: \.number > 2) == 2)
            }
            #expect(try Sender.all(in: container.main).map(\.key) == ["s2"])
            try senders.writeSync { try Sender.removeAll(in: $0) }
            #expect(try Sender.count(in: container.main) == 0)
        }
    }

    @Test func onlyTheOwnerCreatesAndRemoves() async throws {
        try await withItems { container, _ in
            let rooms = try container.dataSource(RoomDataSource.self)
            expectError(.entityNotOwned) { try rooms.writeSync { _ = try Sender.create(in: $0) } }
            expectError(.entityNotOwned) { try rooms.writeSync { try Sender.removeAll(in: $0) } }
            #expect(try Sender.count(in: container.main) == 4)
        }
    }
}
