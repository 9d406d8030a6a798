import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// Keys that name two objects, and strings that differ in their bytes alone.
@MainActor @Suite struct TransferKeyTests {
    private func graph(_ json: String) throws -> ObjectGraph { try ObjectGraph(json: Data(json.utf8)) }

    /// A sub-entity has a table of its own, and a subject is unique in neither.
    @Test func aChosenKeyThatNamesTwoObjectsIsRefused() async throws {
        let container = try await PersistentContainer(model: .mail, store: .inMemory)
        let source = try container.dataSource(MailDataSource.self)
        let keys = ["Message": "subject"]
        func mail(repliesTo subject: String) throws -> ObjectGraph {
            try graph(
                """
                {"Message": [{"subject": "same"}, {"subject": "reply", "replyTo": "\(subject)"}],
                 "Note": [{"subject": "same"}, {"subject": "other"}]}
                """)
        }
        let linked = await expectError(.invalidGraph) {
            try await container.importGraph(mail(repliesTo: "same"), keys: keys)
        }
        #expect(linked?.message.contains("\"same\"") == true)
        #expect(linked?.message.contains("Message[1].replyTo") == true, "\(linked?.message ?? "")")
        #expect(try source.count(MailMessage.self) == 0)

        try await container.importGraph(mail(repliesTo: "other"), keys: keys)
        let exported = try container.main.exportGraph(of: [MailMessage.self], keys: keys)
        #expect(exported.objectCount(ofEntity: "Note") == 2)
        try await source.perform { context in
            let same = try context.first(MailMessage.self, where: \.subject, equals: "same")
            try context.first(MailMessage.self, where: \.subject, equals: "reply")?.replyTo = same
        }
        let error = expectThrows(DataSourceError.self) {
            try container.main.exportGraph(of: [MailMessage.self], keys: keys)
        }
        #expect(error?.message.contains("Message.replyTo") == true && error?.message.contains("\"same\"") == true)
        try await container.close()
    }

    @Test func aStoredObjectWhoseKeyIsDoubleIsNotChanged() async throws {
        let container = try await PersistentContainer(model: .allTypes, store: .inMemory)
        let source = try container.dataSource(PlainDataSource<Parent, Place>.self)
        try await source.perform { context in
            for name in ["same", "same", "other"] { try context.insert(Parent.self).name = name }
        }
        let error = await expectThrows(DataSourceError.self) {
            try await container.importGraph(
                graph("{\"Parent\": [{\"name\": \"other\"}, {\"name\": \"same\"}]}"), keys: ["Parent": "name"])
        }
        #expect(error?.message.contains("Parent[1]") == true && error?.message.contains("\"same\"") == true)
        // Also if no other object is looked for.
        await expectThrows(DataSourceError.self) {
            try await container.importGraph(graph("{\"Parent\": [{\"name\": \"same\"}]}"), keys: ["Parent": "name"])
        }
        let exported = expectThrows(DataSourceError.self) {
            try container.main.exportGraph(of: [Parent.self], keys: ["Parent": "name"])
        }
        #expect(exported?.message.contains("\"same\"") == true)
        try await container.close()
    }

    @Test func aChosenKeyIsThatOfSubEntities() async throws {
        try await withGraph(.inMemory) { container, _ in
            let keys = ["Animal": "name"]
            let cats = "{\"Cat\": [{\"key\": \"1\", \"name\": \"Tom\"}]}"
            let first = try await container.importGraph(self.graph(cats), keys: keys)
            let renamed = "{\"Cat\": [{\"key\": \"2\", \"name\": \"Tom\"}]}"
            let second = try await container.importGraph(self.graph(renamed), keys: keys)
            #expect(first.inserted == 1 && second.updated == 1)
            #expect(try container.main.fetch(Cat.self).map(\.key) == ["2"])
        }
    }

    @Test func stringsAreComparedByteByByte() async throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        try await withGraph { container, source in
            try await source.perform { context in
                for key in [composed, decomposed] { try context.letter(key).topic = try context.topic(key) }
            }
            let exported = try container.main.exportGraph(of: [Letter.self, Topic.self])
            #expect(exported.objectCount(ofEntity: "Letter") == 2)
            try await withEmptyGraph { other in
                _ = try other.dataSource(GraphDataSource.self)
                try await other.importGraph(exported)
                #expect(try other.main.exportGraph(of: [Letter.self, Topic.self]) == exported)
                for letter in try other.main.fetch(Letter.self) {
                    #expect(letter.topic.map { Array($0.key.utf8) } == Array(letter.key.utf8))
                }
            }
        }
        let graphs = try [composed, decomposed].map { try graph("{\"Topic\": [{\"key\": \"\($0)\"}]}") }
        #expect(graphs[0] != graphs[1] && graphs[0].difference(from: graphs[1]) != nil)
        // Two names, neither of which comes twice.
        let names = "{\"Topic\": [{\"key\": \"1\", \"\(composed)\": 1, \"\(decomposed)\": 1}]}"
        try await withEmptyGraph { container in
            _ = try container.dataSource(GraphDataSource.self)
            let read = try graph(names)
            #expect(try JSONDecoder().decode(ObjectGraph.self, from: read.json).objectCount(ofEntity: "Topic") == 1)
            await expectError(.unknownAttribute) { try await container.importGraph(read) }
        }
    }

    @Test func anExportOnMainIsOfOneMoment() async throws {
        let layout = ModelLayout(.graph)
        let store = FaultyStore(over: InMemoryStore(layout))
        let container = PersistentContainer(layout, store, startup: StoreStartup(reason: .firstLaunch))
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { try $0.letter("a").topic = try $0.topic("t") }
        let types: [ManagedObject.Type] = [Letter.self, Topic.self]
        let before = try container.main.exportGraph(of: types)
        let done = Gate()
        store.afterNextRead {
            Task.detached {
                try await source.perform { context in
                    try context.delete(Topic.self, where: nil)
                    try context.letter("b").topic = try context.topic("u")
                }
                done.open()
            }
            done.wait()
        }
        #expect(try container.main.exportGraph(of: types) == before)
        let request = ObjectRequest(Letter.self)
        #expect(try container.main.exportGraph(request, following: [\Letter.topic]) != before)
        #expect(try container.main.exportGraph(of: types) != before)
        try await container.close()
    }
}
