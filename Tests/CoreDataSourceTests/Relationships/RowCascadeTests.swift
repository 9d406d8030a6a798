import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// Cascades to rows from whose deletion nothing follows, which do not become objects.
@MainActor @Suite struct RowCascadeTests {
    /// More letters than delete rules are applied to at once, with two attachments each.
    private nonisolated static let letterCount = 1200

    private func withLetters(
        _ body: @MainActor (PersistentContainer, GraphDataSource) async throws -> Void
    ) async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for number in 0..<Self.letterCount {
                    let letter = try context.letter("\(number)")
                    letter.attachments = [try context.attachment("\(number)a"), try context.attachment("\(number)b")]
                }
                _ = try context.attachment("apart")
            }
            try await body(container, source)
        }
    }

    @Test func aCascadeDeletesRegisteredAndUnregisteredRowsAlike() async throws {
        for isRegistered in [true, false] {
            try await withLetters { container, source in
                if !isRegistered { try await source.perform { $0.forgetObjects() } }
                let list = try source.list(ObjectRequest(Attachment.self))
                let held = try container.main.fetch(Attachment.self, where: \.key == "7a")
                let report = try await source.delete(Letter.self, where: nil)
                #expect(report.deleted == Self.letterCount * 3)
                #expect(list.snapshot.map { $0.key } == ["apart"])
                #expect(held.first?.isDeleted == true)
                #expect(try container.main.fetch(Attachment.self).map(\.key) == ["apart"])
                // The context knows that the keys are free, and makes new objects.
                let added = try await source.perform { context in
                    try (0..<Self.letterCount).map { try context.attachment("\($0)a").isInserted }
                }
                #expect(!added.contains(false))
                #expect(try container.main.count(Attachment.self) == Self.letterCount + 1)
            }
        }
    }

    @Test func aCascadeOfABatchThatFailsLeavesTheRows() async throws {
        try await withLetters { container, source in
            try await source.perform { context in
                try context.letter("of p").author = try context.person("p")
                try context.letter("of p").attachments = [try context.attachment("of p")]
            }
            await expectThrows(DataSourceError.self) {
                try await source.perform { context in
                    context.delete(try context.person("p"))
                    try context.delete(Letter.self, where: \.key != "of p")
                }
            }
            let count = Self.letterCount * 2 + 2
            #expect(try container.main.count(Attachment.self) == count)
            #expect(try await source.perform { try $0.count(Attachment.self) } == count)
            // The letters that are deleted in the same save deny nothing.
            try await source.perform { context in
                context.delete(try context.person("p"))
                try context.delete(Letter.self, where: nil)
            }
            #expect(try container.main.fetch(Attachment.self).map(\.key) == ["apart"])
        }
    }

    @Test func aBatchThatAlsoChangesRowsDeletesEachOnce() async throws {
        try await withLetters { container, source in
            try await source.perform { context in
                // Inserted, moved, deleted and edited attachments are objects.
                try context.letter("0").attachments.append(try context.attachment("new"))
                try context.attachment("1a").letter = nil
                context.delete(try context.attachment("2a"))
                try context.attachment("3a").key = "changed"
                try context.delete(Letter.self, where: nil)
            }
            #expect(Set(try container.main.fetch(Attachment.self).map(\.key)) == ["apart", "1a"])
        }
    }

    @Test func aRehearsalOfACascadeLeavesNothing() async throws {
        try await withLetters { container, source in
            let plan = try await source.planSync([], entity: Letter.self, options: .allowsEmpty)
            #expect(plan.deleted == Self.letterCount)
            #expect(try container.main.count(Attachment.self) == Self.letterCount * 2 + 1)
            let report = try await source.delete(Letter.self, where: nil)
            #expect(report.deleted == Self.letterCount * 3)
        }
    }

    /// The rows have no objects that could be rolled back, and those that others hold are gone already.
    @Test func aCascadeThatTheStoreRefusesBringsItsRowsBack() async throws {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(layout)
        let container = PersistentContainer(
            layout, store, startup: StoreStartup(reason: .firstLaunch), configuration: .init())
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in
            for number in 0..<3 { try context.letter("\(number)").attachments = [try context.attachment("\(number)")] }
        }
        let list = try source.list(ObjectRequest(Attachment.self))
        store.fail(with: noRoom)
        await expectError(.diskFull) { try await source.delete(Letter.self, where: nil) }
        store.fail(with: nil)
        // Main, the list and the context that deleted them have them again, with their links.
        let attachments = try container.main.fetch(Attachment.self)
        #expect(attachments.map(\.key) == ["0", "1", "2"] && attachments.allSatisfy { $0.letter?.key == $0.key })
        #expect(list.snapshot.map { $0.key } == ["0", "1", "2"])
        let found = try await source.perform { context in
            try (0..<3).map { number in
                let attachment = try context.attachment("\(number)")
                return !attachment.isInserted && attachment.letter?.attachments.count == 1
            }
        }
        #expect(!found.contains(false))
        // A second try deletes them.
        #expect(try await source.delete(Letter.self, where: nil).deleted == 6)
        #expect(try container.main.count(Attachment.self) == 0 && list.snapshot.isEmpty)
        try await container.close()
    }
}
