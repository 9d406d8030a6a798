import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// A topic, and letters that it names without being linked to them.
private struct NamingValue: Sendable {
    var key: String
    var letters: [String] = []
}

private final class NamingDataSource: DataSource<NamingValue> {
    nonisolated override class var entities: [ManagedObject.Type] { [Letter.self, Topic.self] }

    nonisolated override func onAdd(_ value: NamingValue, in context: PrivateContext) throws -> ManagedObject? {
        let topic = try context.topic(value.key)
        topic.title += "+"
        for key in value.letters { try context.letter(key).subject = "of \(value.key)" }
        return topic
    }
}

/// The animals themselves are the list.
private final class KennelDataSource: DataSource<String> {
    nonisolated override class var entities: [ManagedObject.Type] { [Animal.self] }

    nonisolated override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        key.hasPrefix("c") ? try context.cat(key) : try context.dog(key)
    }
}

/// What a sync without all operations does to objects that its hooks and delete rules change.
@MainActor @Suite struct SyncChildrenRulesTests {
    @Test func aSaveHoldsEachRowOnceThoughAChangeOfItWasRolledBack() async throws {
        let layout = ModelLayout(.peers())
        let store = FaultyStore(layout)
        let container = PersistentContainer(
            layout, store, startup: StoreStartup(reason: .firstLaunch), configuration: .init())
        let peers = try container.dataSource(PeerDataSource.self)
        try await peers.perform { context in
            let (a, b) = (try context.insert(Peer.self), try context.insert(Peer.self))
            (a.key, b.key) = ("a", "b")
            a.boss = b
        }
        // The hook changes a, which is rolled back; then b is deleted, which changes a again.
        let report = try await peers.sync(["a"], entity: Peer.self, operations: [.insert, .delete])
        #expect(report.skipped == 1 && report.deleted == 1)
        let changes = try #require(store.committedChanges.last?.last)
        for entity in changes.entities {
            let keys = entity.inserted.map(\.key) + entity.updated.map(\.key) + entity.deleted.map(\.key)
            #expect(Set(keys).count == keys.count)
        }
        #expect(changes.entities.flatMap(\.updated).count == 1)
        let peer = try container.main.peer("a")
        #expect(peer.boss == nil && peer.name == nil)
        try await container.close()
    }

    @Test func operationsAlsoLimitChangesOfChildren() async throws {
        try await withEmptyGraph { container in
            let topics = try container.dataSource(NamingDataSource.self)
            @MainActor func subjects() throws -> [String: String] {
                Dictionary(try container.main.fetch(Letter.self).map { ($0.key, $0.subject) }) { first, _ in first }
            }
            try await topics.add([NamingValue(key: "a", letters: ["x"])])
            let list = [NamingValue(key: "a"), NamingValue(key: "b", letters: ["x", "y"])]
            let inserts = try await topics.sync(list, entity: Topic.self, operations: .insert)
            #expect(inserts.inserted == 1 && inserts.insertedChildren == 1 && inserts.updatedChildren == 0)
            // The topic a and the letter x.
            #expect(inserts.skipped == 2)
            #expect(try subjects() == ["x": "of a", "y": "of b"])
            let more = [NamingValue(key: "a", letters: ["x", "z"]), NamingValue(key: "c")]
            let updates = try await topics.sync(more, entity: Topic.self, operations: .update)
            #expect(updates.updated == 1 && updates.insertedChildren == 0 && updates.skipped == 2)
            #expect(try subjects() == ["x": "of a", "y": "of b"])
            #expect(try container.main.fetch(Topic.self, order: [.ascending(\.key)]).map(\.title) == ["++", "+"])
        }
    }

    @Test func anObjectWhoseChangedKeyWasRolledBackIsFoundByItsOldOne() async throws {
        try await withEmptyGraph { container in
            let source = try container.dataSource(RenamingDataSource.self)
            try await source.perform { context in for key in ["a", "b"] { _ = try context.topic(key) } }
            let report = try await source.sync(["a"], entity: Topic.self, operations: .insert)
            #expect(report.skipped == 1 && report.inserted == 0)
            try await source.perform { context in
                #expect(try context.first(Topic.self, where: \.key, equals: "new a") == nil)
                try context.topic("a").title = "found"
            }
            #expect(try container.main.fetch(Topic.self, order: [.ascending(\.key)]).map(\.title) == ["found", ""])
        }
    }

    /// A link in a join table is no object, though it has a row.
    @Test func linksAreNoChildren() async throws {
        try await withEmptyGraph { container in
            let source = try container.dataSource(LabelingDataSource.self)
            let report = try await source.sync(["a", "b"], entity: Letter.self, options: .reportsIDs)
            #expect(report.inserted == 2 && report.insertedChildren == 1 && report.updatedChildren == 0)
            #expect(report.ids?.insertedChildren.map(\.entityName) == ["Label"])
            let inserts = try await source.sync(["a", "c"], entity: Letter.self, operations: .insert)
            #expect(inserts.inserted == 1 && inserts.unchanged == 1 && inserts.kept == 1 && inserts.skipped == 0)
            #expect(try container.main.first(Label.self)?.letters.map(\.key) == ["a", "b", "c"])
        }
    }

    /// What a hook has linked or unlinked cannot be rolled back one by one.
    @Test(arguments: ["link", "unlink", "unlink and edit", "relabel"])
    func aLinkThatMayNotBeChangedIsRefused(hook: String) async throws {
        try await withEmptyGraph { container in
            let source = try container.dataSource(LabelingDataSource.self)
            try await source.add(["a", "b"])
            for isPlan in [true, false] {
                await expectError(.invalidRequest) {
                    let operations: SyncOperations = hook == "relabel" ? [.update, .delete] : [.insert, .delete]
                    if isPlan {
                        _ = try await source.planSync([hook, "b"], entity: Letter.self, operations: operations)
                    } else {
                        try await source.sync([hook, "b"], entity: Letter.self, operations: operations)
                    }
                }
            }
            #expect(try container.main.first(Label.self)?.letters.map(\.key) == ["a", "b"])
            #expect(try container.main.knownLetter("a").topic == nil && container.main.knownLetter("a").subject == "")
            try await source.sync([hook, "b"], entity: Letter.self)
        }
    }

    @Test func onlyObjectsInScopeBeforeTheSyncAreDeleted() async throws {
        try await withEmptyGraph { container in
            let source = try container.dataSource(MovingDataSource.self)
            try await source.perform { context in
                for (key, subject) in [("in", ""), ("out", "scope"), ("a", "")] {
                    try context.letter(key).subject = subject
                }
            }
            // The hook moves one letter into the scope and another one out of it.
            let report = try await source.sync(["a"], entity: Letter.self, scope: \.subject == "scope")
            #expect(report.deleted == 1 && report.updated == 1 && report.updatedChildren == 1)
            let letters = try container.main.fetch(Letter.self, order: [.ascending(\.key)])
            #expect(letters.map(\.key) == ["a", "in"] && letters.allSatisfy { $0.subject == "scope" })
        }
    }

    @Test func anAbstractEntityIsSyncedThroughItsSubEntities() async throws {
        try await withEmptyGraph { container in
            let kennel = try container.dataSource(KennelDataSource.self)
            try await kennel.sync(["c1", "d1"], entity: Animal.self)
            let report = try await kennel.sync(["d1", "d2"], entity: Animal.self)
            #expect(report.inserted == 1 && report.unchanged == 1 && report.deleted == 1)
            #expect(try container.main.fetch(Animal.self, order: [.ascending(\.key)]).map(\.key) == ["d1", "d2"])
            // What is there is found, and what is not has no class.
            try await kennel.perform { context in
                let found = try context.findOrInsert(Animal.self, where: \.key, equals: "d1")
                #expect(found is Dog)
                expectError(.abstractEntity) {
                    try context.findOrInsert(Animal.self, where: \.key, equals: "new")
                }
            }
        }
    }

    @Test func anAbstractEntityIsNotSyncedWithoutAllItsSubEntities() async throws {
        try await withEmptyGraph { container in
            let cats = try container.dataSource(CatDataSource.self)
            await expectError(.entityNotOwned) { try await cats.sync(["c1"], entity: Animal.self) }
        }
    }
}

private final class CatDataSource: DataSource<String> {
    nonisolated override class var entities: [ManagedObject.Type] { [Cat.self] }

    nonisolated override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        try context.cat(key)
    }
}

/// Gives each topic another key.
private final class RenamingDataSource: DataSource<String> {
    nonisolated override class var entities: [ManagedObject.Type] { [Topic.self, Letter.self] }

    nonisolated override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        let topic = try context.topic(key)
        topic.key = "new \(key)"
        return topic
    }
}

/// Gives each letter the label "l"; some values do something else to the letter "a".
private final class LabelingDataSource: DataSource<String> {
    nonisolated override class var entities: [ManagedObject.Type] { [Label.self, Letter.self, Topic.self] }

    nonisolated override func onAdd(_ value: String, in context: PrivateContext) throws -> ManagedObject? {
        let letter = try context.letter(value.count == 1 ? value : "a")
        switch value {
        case "link": letter.topic = try context.topic("t")
        case "unlink": letter.labels.removeAll()
        case "unlink and edit":
            letter.labels.removeAll()
            letter.subject = "edited"
        case "relabel": letter.labels.set([try context.label("other")])
        default: letter.labels.insert(try context.label("l"))
        }
        return letter
    }
}

/// Moves letters into the scope and out of it.
private final class MovingDataSource: DataSource<String> {
    nonisolated override class var entities: [ManagedObject.Type] { [Letter.self] }

    nonisolated override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        try context.letter("in").subject = "scope"
        try context.letter("out").subject = ""
        let letter = try context.letter(key)
        letter.subject = "scope"
        return letter
    }
}
