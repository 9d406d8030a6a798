import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// A file that is slow to come, and values that JSON can say and an attribute cannot hold.
@MainActor @Suite struct GraphFileTests {
    @Test func dataSourcesDoNotWaitForAFileThatIsStillWritten() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            let directory = try TemporaryDirectory()
            let pipe = directory.url.appending(component: "graph.json")
            try #require(mkfifo(pipe.path, 0o600) == 0)
            let task = Task { try await container.importGraph(contentsOf: pipe) }
            let writer = try await Self.opened(pipe)
            try writer.write(contentsOf: Data("{\"Topic\": [{\"key\": \"new\"}".utf8))
            // The import is in the middle of its file.
            try await topics.add("while it reads")
            try writer.write(contentsOf: Data("]}".utf8))
            try writer.close()
            #expect(try await task.value == SaveReport(inserted: 1))
            #expect(try container.main.fetch(Topic.self).map(\.key).sorted() == ["new", "while it reads"])
        }
    }

    @Test func anImportThatWaitsForItsFileCanBeCancelled() async throws {
        try await withTopicsAndLetters { container, _, _ in
            let directory = try TemporaryDirectory()
            let pipe = directory.url.appending(component: "graph.json")
            try #require(mkfifo(pipe.path, 0o600) == 0)
            let task = Task { try await container.importGraph(contentsOf: pipe) }
            task.cancel()
            await expectThrows(CancellationError.self) { try await task.value }
            #expect(try container.main.count(Topic.self) == 0)
            // Whoever still opens the file is let go.
            try await Self.opened(pipe).close()
        }
    }

    /// Opening a pipe for writing waits for its reader.
    private nonisolated static func opened(_ pipe: URL) async throws -> FileHandle {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try FileHandle(forWritingTo: pipe) })
            }
        }
    }

    @Test(arguments: [
        "2001-02-30T00:00:00Z", "2001-02-29T00:00:00Z", "1500-02-29T00:00:00Z", "2001-13-01T00:00:00Z",
        "2001-00-01T00:00:00Z",
        "2001-01-00T00:00:00Z", "2001-01-01T25:00:00Z", "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z",
        "2001-01-01T00:00:61Z", "2001-01-01T00:00:00Z trailing", "2001-01-01T00:00:00", "2001-01-01", "1-1-1T0:0:0Z",
        " 2001-01-01T00:00:00Z", "2001-01-01T00:00:00+25:00", "2001-01-01T00:00:00.Z", "",
    ])
    func aMomentThatDoesNotExistIsRefused(text: String) async throws {
        #expect(DateText.seconds(text) == nil)
    }

    @Test(arguments: [
        "2001-01-01T00:00:00Z", "2000-02-29T23:59:59Z", "1600-02-29T00:00:00Z", "2001-01-01T00:00:00.123Z",
        "2001-01-01T00:00:00+02:00", "2001-01-01T00:00:00-0930", "0001-01-01T00:00:00Z",
    ])
    func aMomentThatExistsIsTaken(text: String) async throws {
        #expect(DateText.seconds(text) != nil)
    }

    @Test(arguments: [60, 120, 126, 127, 128, 129, 200])
    func aTransformableComesBackHoweverDeeplyItIsNested(depth: Int) async throws {
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let json = #"{"Recording": [{"title": "a", "cover": "AA==", "notes": {"json": "\#(text)"}}]}"#
        var exported: [Data] = []
        for graph in [json.utf8, nil] {
            try await withRecordings([]) { container, _ in
                let data = try graph.map { Data($0) } ?? #require(exported.last)
                try await container.importGraph(ObjectGraph(json: data))
                exported.append(try container.main.exportGraph(of: [Recording.self]).json)
            }
        }
        #expect(exported[0] == exported[1])
        #expect(String(decoding: exported[0], as: UTF8.self).count { $0 == "[" } >= depth)
    }

    private final class Entry: ManagedObject {
        override class var entityName: String { "Entry" }
    }

    @Test func aDerivedAttributeIsNoKey() async throws {
        let attributes = [
            AttributeDescription(
                name: "lower", type: .string, isOptional: true, derivationExpression: "lowercase:(name)"),
            AttributeDescription(name: "name", type: .string),
        ]
        let model = ManagedObjectModel(
            name: "Derived",
            entities: [
                EntityDescription(
                    name: "Entry", attributes: attributes, uniquenessConstraints: [["lower"], ["name"]])
            ])
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let entries = try container.dataSource(PlainDataSource<Entry>.self)
        try await entries.perform { try $0.insert(Entry.self).setAttribute("A", at: 1) }
        let graph = try container.main.exportGraph(of: [Entry.self])
        #expect(try await container.importGraph(ObjectGraph(json: graph.json)) == SaveReport())
        await expectError(.unknownAttribute) {
            try await container.importGraph(graph, keys: ["Entry": "lower"])
        }
        try await container.close()
    }
}
