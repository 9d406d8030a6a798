import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// What deleting an object does to others, in one data source and across several.
@MainActor @Suite struct DeleteRuleTests {
    private func withGraph(
        _ body: @MainActor (PersistentContainer, GraphDataSource) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        for location in [StoreLocation.sqlite(directory.store), .inMemory] {
            let container = try await PersistentContainer(model: .graph, store: location)
            try await body(container, try container.dataSource(GraphDataSource.self))
            try await container.close()
        }
    }

    @Test func cascadeDeletesWhatFollowsInOnePass() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let topic = try context.topic("t")
                for number in 0..<3 {
                    let letter = try context.letter("\(number)")
                    letter.topic = topic
                    letter.attachments = [try context.attachment("\(number)a"), try context.attachment("\(number)b")]
                    letter.labels.insert(try context.label("l"))
                }
                _ = try context.letter("apart")
            }
            let report = try await source.delete(Topic.self, where: nil)
            #expect(report.deleted == 10 && report.updated == 0)
            #expect(try container.main.fetch(Letter.self).map(\.key) == ["apart"])
            #expect(try container.main.count(Attachment.self) == 0)
            #expect(try container.main.first(Label.self, where: \.key, equals: "l")?.letters.isEmpty == true)
        }
    }

    @Test func aCascadeAlongACycleEnds() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let folders = try (0..<4).map { try context.folder("\($0)") }
                for (number, folder) in folders.enumerated() { folder.parent = folders[(number + 1) % 4] }
                try context.folder("self").parent = try context.folder("self")
            }
            try await source.perform { context in
                context.delete(try context.folder("2"))
                context.delete(try context.folder("self"))
            }
            #expect(try container.main.count(Folder.self) == 0)
        }
    }

    @Test func nullifyTakesTheLinkOutOfRowsThatStay() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let letter = try context.letter("a")
                letter.labels.insert(try context.label("l"))
                letter.readBy = try context.person("reader")
                try context.folder("f").letters.insert(letter)
                try context.person("x").spouse = try context.person("y")
                try context.person("x").friends.insert(try context.person("reader"))
            }
            try await source.perform { context in
                context.delete(try context.person("reader"))
                context.delete(try context.person("x"))
            }
            // Neither the link without an inverse nor that of both ends leads anywhere.
            #expect(try container.main.first(Letter.self)?.readBy == nil)
            #expect(try container.main.first(Person.self)?.spouse == nil)
            let report = try await source.delete(Letter.self, where: nil)
            #expect(report.deleted == 1)
            #expect(try container.main.first(Folder.self)?.letters.isEmpty == true)
            #expect(try container.main.first(Label.self)?.letters.isEmpty == true)
            // No link is left that a later object could get.
            for table in container.stack.layout.entities where table.links != nil {
                #expect(try container.stack.root.rows.rows(RowQuery(entity: table.index), table).rows.isEmpty)
            }
        }
    }

    @Test func denyKeepsTheObjectAndNamesTheLinkedOne() async throws {
        try await withGraph { container, source in
            try await source.perform { try $0.letter("a").author = $0.person("p") }
            let error = await expectError(.deletionDenied) {
                try await source.perform { context in
                    context.delete(try context.person("p"))
                    _ = try context.topic("t")
                }
            }
            #expect(error?.entityName == "Person" && error?.attributeName == "letters")
            #expect(error?.message.contains(#/is Deny and Letter/\d+ is linked\. /#) == true)
            #expect(try container.main.count(Person.self) == 1 && container.main.count(Topic.self) == 0)
        }
    }

    @Test func objectsDeletedOrMovedInTheSameSaveDenyNothing() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for key in ["a", "b", "c"] { try context.letter(key).author = try context.person("p") }
                try context.letter("c").topic = try context.topic("t")
            }
            try await source.perform { context in
                context.delete(try context.person("p"))
                context.delete(try context.letter("a"))
                try context.letter("b").author = try context.person("q")
                // By a cascade.
                context.delete(try context.topic("t"))
            }
            #expect(try container.main.fetch(Person.self).map(\.key) == ["q"])
            #expect(try container.main.fetch(Letter.self).map { $0.author?.key } == ["q"])
        }
    }

    @Test func aLinkThatNoActionLeavesReadsAsNil() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let cat = try context.insert(Cat.self)
                cat.key = "c"
                cat.keeper = try context.person("p")
            }
            try await source.delete(Person.self, where: nil)
            #expect(try container.main.first(Cat.self)?.keeper == nil)
            // A later object does not get it.
            try await source.perform { _ = try $0.person("next") }
            #expect(try container.main.first(Person.self)?.animals.isEmpty == true)
            #expect(try container.main.first(Cat.self)?.keeper == nil)
        }
    }

    @Test func aRequiredLinkThatNullifyWouldTakeIsAnError() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let passport = try context.insert(Passport.self)
                passport.key = "1"
                passport.holder = try context.person("p")
            }
            // It cascades from the person, and is required from the passport.
            try await source.delete(Person.self, where: nil)
            #expect(try container.main.count(Passport.self) == 0)
            await expectError(.validationFailed) {
                try await source.perform { context in
                    let passport = try context.insert(Passport.self)
                    passport.key = "2"
                    passport.holder = try context.person("q")
                    passport.holder = nil
                }
            }
            #expect(try container.main.count(Person.self) == 0)
        }
    }

    @Test func anObjectThatIsInsertedAndDeletedAgainLeavesNoLink() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                let topic = try context.topic("t")
                let letter = try context.letter("a")
                letter.readBy = try context.person("p")
                letter.labels.insert(try context.label("l"))
                context.delete(try context.person("p"))
                context.delete(letter)
                _ = topic
            }
            #expect(try container.main.count(Letter.self) == 0 && container.main.count(Topic.self) == 1)
            #expect(try container.main.first(Label.self)?.letters.isEmpty == true)
        }
    }

    // MARK: Several data sources

    @Test func aCascadeReachesWhatAnotherDataSourceOwns() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add(["a", "b"])
            try await letters.perform { context in
                try context.letter("a").attachments = [try context.attachment("1")]
                #expect(try context.count(Letter.self) == 2)
            }
            let report = try await topics.delete("t")
            #expect(report.deleted == 4)
            #expect(try container.main.count(Letter.self) == 0)
            // The other data source has followed it.
            try await letters.perform { context in
                #expect(try context.count(Letter.self) == 0)
                #expect(try context.first(Letter.self, where: \.key, equals: "a") == nil)
                _ = try context.letter("a")
            }
            #expect(try container.main.fetch(Letter.self).map(\.key) == ["a"])
        }
    }

    @Test func theOwnerOfTheRowOwnsItsLink() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add("a")
            await expectError(.entityNotOwned) {
                try await topics.perform { context in
                    let letter = try #require(try context.first(Letter.self))
                    try context.topic("t").letters.remove(letter)
                }
            }
            try await container.perform(in: topics, letters) { topics, letters in
                try topics.topic("other").letters.insert(try letters.letter("a"))
            }
            #expect(try container.main.first(Letter.self)?.topic?.key == "other")
        }
    }

    @Test func aHookThatAddsMayNotDeleteWhatReachesFurther() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await topics.add("t")
            try await letters.add("a")
            let deleting = try container.dataSource(LabelDataSource.self)
            try await container.perform(in: deleting, letters) { labels, letters in
                try letters.letter("a").labels.insert(try labels.label("l"))
            }
            let error = await expectError(.entityNotOwned) { try await deleting.add("l") }
            #expect(error?.message.contains("perform(in:)") == true)
            // Nor while other calls wait, in either form.
            for _ in 0..<20 {
                async let first = refusal(of: deleting)
                async let second = refusal(of: deleting)
                let third = await expectThrows(DataSourceError.self) { try await deleting.add("l") }
                #expect(await [first, second, third?.code] == [.entityNotOwned, .entityNotOwned, .entityNotOwned])
            }
            try await deleting.delete("l")
            #expect(try container.main.first(Letter.self)?.labels.isEmpty == true)
        }
    }

    /// The code of the error with which a call with a callback fails.
    private func refusal(of labels: LabelDataSource) async -> DataSourceError.Code? {
        await withCheckedContinuation { continuation in
            labels.add(["l"]) { result in
                do {
                    _ = try result.get()
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: (error as? DataSourceError)?.code)
                }
            }
        }
    }

    @Test func callsOfDataSourcesThatReachEachOtherEnd() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<16 {
                    group.addTask {
                        for round in 0..<20 {
                            switch (task + round) % 4 {
                            case 0: try await topics.add("t")
                            case 1: try await letters.add("\(task)")
                            case 2: try await topics.delete("t")
                            default: try await letters.delete("\(task)")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            // Whatever came last, no link leads to a row that is gone: it would lead nowhere, and yet be stored.
            let keys = Set(try container.main.fetch(Topic.self).map(\.objectID.key))
            let layout = try #require(container.stack.layout.entity(named: "Letter"))
            let column = try #require(layout.column(named: "topic"))
            for letter in try container.stack.root.rows.rows(RowQuery(entity: layout.index), layout).rows {
                #expect(letter.row.isNull(column) || keys.contains(letter.row.integer(column)))
            }
        }
    }
}

/// Labels, whose hook deletes instead of adding.
final class LabelDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Label.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        let label = try context.label(key)
        context.delete(label)
        return label
    }

    override func onDelete(_ key: String, in context: PrivateContext) throws {
        try context.delete(Label.self, where: \.key == key)
    }
}
