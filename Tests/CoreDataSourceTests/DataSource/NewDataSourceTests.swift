import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// Data sources that are made while a call waits for its queues.
@MainActor
struct NewDataSourceTests {
    /// Deletes all people.
    private func delete(_ people: PlainDataSource<Person>, withCallback: Bool) async throws {
        if !withCallback {
            try await people.delete(Person.self, where: nil)
            return
        }
        try await withCheckedThrowingContinuation { continuation in
            people.performLater {
                try $0.delete(Person.self, where: nil)
            } callback: {
                continuation.resume(with: $0)
            }
        }
    }

    /// Runs the body while a batch of people runs, and then lets the batch end.
    private func whileRunning(_ people: PlainDataSource<Person>, _ body: () async throws -> Void) async throws {
        try await hold({ pause in try await people.perform { _ in pause() } }, meanwhile: body)
    }

    /// The attachments are reached only by the hook of the letters, whose data source is made while the deletion waits. To keep its
    /// order, a call with a callback does not leave its first queue. So it cannot wait for a queue that comes before that one.
    @Test(arguments: [true, false], [true, false])
    func aDeletionThatWaitsReachesAnOlderDataSourceThroughANewOne(isFirst: Bool, withCallback: Bool) async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { _, graph in
            try await graph.perform { context in
                let letter = try context.letter("l")
                letter.readBy = try context.person("p")
                try context.attachment("a").letter = letter
            }
        }
        let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        if isFirst { _ = try container.dataSource(PlainDataSource<Attachment>.self) }
        let people = try container.dataSource(PlainDataSource<Person>.self)
        if !isFirst { _ = try container.dataSource(PlainDataSource<Attachment>.self) }
        _ = try container.dataSource(PlainDataSource<Passport>.self)
        var deleting: Task<Void, any Error>?
        try await whileRunning(people) {
            deleting = Task { try await delete(people, withCallback: withCallback) }
            while container.stack.root.admission.queuedValueCount < 2 { await Task.yield() }
            _ = try container.dataSource(VanishingLetters.self)
        }
        let isRefused = isFirst && withCallback
        if isRefused {
            await expectError(.entityNotOwned) { try await deleting?.value }
        } else {
            try await deleting?.value
        }
        let count = isRefused ? 1 : 0
        #expect(try container.main.count(Person.self) == count)
        #expect(try container.main.count(Letter.self) == count)
        #expect(try container.main.count(Attachment.self) == count)
        try await container.close()
    }
}

/// Letters that are all deleted when one of them changes.
private final class VanishingLetters: DataSource<String>, SaveCompleting {
    override class var entities: [ManagedObject.Type] { [Letter.self] }

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws {
        try context.delete(Letter.self, where: nil)
    }
}
