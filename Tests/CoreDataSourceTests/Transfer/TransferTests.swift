import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// What an import does to what is stored, and what an export leaves out.
@MainActor @Suite struct TransferTests {
    private func graph(_ json: String) throws -> ObjectGraph { try ObjectGraph(json: Data(json.utf8)) }

    private func withStored(
        _ json: String, _ body: @MainActor (PersistentContainer, GraphDataSource) async throws -> Void
    ) async throws {
        try await withEmptyGraph { container in
            let source = try container.dataSource(GraphDataSource.self)
            try await container.importGraph(graph(json))
            try await body(container, source)
        }
    }

    private let board = """
        {"Topic": [{"key": "t", "title": "T"}, {"key": "u"}],
         "Letter": [{"key": "a", "subject": "A", "topic": "t", "attachments": ["x", "y"]}, {"key": "b", "topic": "t"}],
         "Attachment": [{"key": "x"}, {"key": "y"}, {"key": "z"}],
         "Label": [{"key": "l", "letters": ["b", "a"]}]}
        """

    @Test func absentPropertiesStayAndNullClearsThem() async throws {
        try await withStored(board) { container, source in
            let change = try graph(
                """
                {"Letter": [{"key": "a"}, {"key": "b", "topic": null, "labels": null}], "Topic": [{"key": "t"}]}
                """)
            #expect(try await container.importGraph(change) == SaveReport(updated: 1))
            let a = try #require(try source.main.first(Letter.self, where: \.key, equals: "a"))
            #expect(a.subject == "A" && a.topic?.title == "T" && a.attachments.map(\.key) == ["x", "y"])
            #expect(a.labels.map(\.key) == ["l"])
            let b = try #require(try source.main.first(Letter.self, where: \.key, equals: "b"))
            #expect(b.topic == nil && b.labels.isEmpty)
        }
    }

    @Test func anImportedListReplacesTheLinks() async throws {
        try await withStored(board) { container, source in
            let change = try graph(
                """
                {"Letter": [{"key": "a", "attachments": ["z", "x"]}], "Label": [{"key": "l", "letters": ["a"]}],
                 "Topic": [{"key": "u", "letters": ["a", "b"]}]}
                """)
            try await container.importGraph(change)
            let a = try #require(try source.main.first(Letter.self, where: \.key, equals: "a"))
            #expect(a.attachments.map(\.key) == ["z", "x"])
            let topics = try source.fetch(Topic.self, order: [.ascending(\.key)])
            #expect(topics.map { $0.letters.count } == [0, 2])
            #expect(try source.fetch(Label.self).first?.letters.map(\.key) == ["a"])
            // Nothing is deleted, and what is so already is not written.
            #expect(try source.count(Attachment.self) == 3)
            #expect(try await container.importGraph(change) == SaveReport())
        }
    }

    @Test func objectsOfSubEntitiesKeepTheirEntity() async throws {
        let json = """
            {"Cat": [{"key": "1", "lives": 7, "keeper": "p"}], "Dog": [{"key": "2", "chasing": "1", "keeper": "p"}],
             "Person": [{"key": "p"}]}
            """
        try await withStored(json) { container, source in
            let exported = try container.main.exportGraph(of: [Animal.self])
            #expect(exported.entityNames == ["Cat", "Dog"])
            let dog = try #require(try source.fetch(Dog.self).first)
            #expect((dog.chasing as? Cat)?.lives == 7)
            #expect(try source.fetch(Person.self).first?.animals.count == 2)
        }
    }

    @Test func aRequestExportsItsObjectsAndFollowedOnes() async throws {
        try await withStored(board) { container, _ in
            let request = ObjectRequest<Topic>(where: \.key == "t")
            let alone = try container.main.exportGraph(request)
            #expect(alone.objectCount(ofEntity: "Topic") == 1 && alone.entityNames == ["Topic"])
            let followed = try container.main.exportGraph(
                request, following: [\Topic.letters, \Letter.attachments, \Letter.labels])
            #expect("\(followed)" == "ObjectGraph (2 Attachment, 1 Label, 2 Letter, 1 Topic)")
            try await withEmptyGraph { other in
                let source = try other.dataSource(GraphDataSource.self)
                try await other.importGraph(followed)
                #expect(try source.fetch(Label.self).first?.letters.map(\.key) == ["b", "a"])
            }
            await expectThrows(DataSourceError.self) {
                try await container.read { try $0.exportGraph(request, following: [\Topic.title]) }
            }
        }
    }

    @Test func linksToObjectsThatAreNotExportedAreWrittenOnRequest() async throws {
        try await withStored(board) { container, source in
            let alone = try container.main.exportGraph(of: [Letter.self])
            let linked = try container.main.exportGraph(of: [Letter.self], links: .all)
            try await source.perform { try $0.delete(Topic.self, where: \.key == "u") }
            try await source.perform { context in
                for letter in try context.fetch(Letter.self) { letter.topic = nil }
            }
            // An absent link stays as it is.
            #expect(try await container.importGraph(alone) == SaveReport(updated: 0))
            #expect(try source.fetch(Letter.self).allSatisfy { $0.topic == nil })
            #expect(try await container.importGraph(linked) == SaveReport(updated: 2))
            #expect(try source.fetch(Letter.self).allSatisfy { $0.topic?.key == "t" })
            try await withEmptyGraph { other in
                let source = try other.dataSource(GraphDataSource.self)
                await expectThrows(DataSourceError.self) { try await other.importGraph(linked) }
                try await other.importGraph(alone)
                #expect(try source.count(Letter.self) == 2)
            }
        }
    }

    @Test func anotherKeyIsChosen() async throws {
        try await withStored(board) { container, _ in
            let titled = ["Topic": "title"]
            let exported = try container.main.exportGraph(of: [Topic.self, Letter.self], keys: titled)
            #expect(String(decoding: exported.json, as: UTF8.self).contains("\"topic\": \"T\""))
            try await withEmptyGraph { other in
                let source = try other.dataSource(GraphDataSource.self)
                try await other.importGraph(exported, keys: titled)
                #expect(try source.fetch(Letter.self).allSatisfy { $0.topic?.key == "t" })
                #expect(try await other.importGraph(exported, keys: titled) == SaveReport())
            }
            for wrong in [["Nothing": "key"], ["Topic": "nothing"], ["Topic": "letters"]] {
                expectThrows(DataSourceError.self) {
                    try container.main.exportGraph(of: [Topic.self], keys: wrong)
                }
            }
        }
    }

    @Test func anImportIsOneSaveOverAllDataSources() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            let before = container.stack.root.newestSave
            let value = try graph(
                """
                {"Letter": [{"key": "a", "topic": "t"}], "Topic": [{"key": "t", "title": "T"}]}
                """)
            #expect(try await container.importGraph(value) == SaveReport(inserted: 2))
            #expect(container.stack.root.newestSave == before.next)
            #expect(try letters.fetch(Letter.self).first?.topic?.title == "T")
            // Nobody owns labels here.
            await expectError(.entityNotOwned) {
                try await container.importGraph(
                    graph(
                        """
                        {"Label": [{"key": "l"}], "Topic": [{"key": "new"}]}
                        """))
            }
            #expect(try topics.count(Topic.self) == 1)
        }
    }

    @Test func anImportReadsWhatItLooksForTogether() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .graph, store: .sqlite(directory.store), configuration: .uncached)
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in
            for number in 0..<1000 {
                try context.letter("\(number)").topic = context.topic("\(number % 50)")
                try context.attachment("\(number)").letter = context.letter("\(number % 400)")
            }
        }
        let types: [ManagedObject.Type] = [Letter.self, Topic.self, Attachment.self]
        let before = container.statementCount
        let exported = try await container.read { try $0.exportGraph(of: types) }
        #expect(container.statementCount - before < 30)
        let between = container.statementCount
        #expect(try await container.importGraph(exported) == SaveReport())
        #expect(container.statementCount - between < 60)
        try await container.close()
    }
}
