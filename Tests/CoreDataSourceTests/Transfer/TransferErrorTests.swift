import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// Input that is wrong: the error names the place, and nothing is changed.
@MainActor @Suite struct TransferErrorTests {
    struct InvalidGraph: Sendable, CustomTestStringConvertible {
        let json: String
        let code: DataSourceError.Code
        /// What the message has to name.
        let place: String

        var testDescription: String { String(json.prefix(80)) }

        init(_ json: String, _ code: DataSourceError.Code, _ place: String) {
            self.json = json
            self.code = code
            self.place = place
        }
    }

    nonisolated static let wrong = [
        InvalidGraph("{\"Nothing\": []}", .unknownEntity, "\"Nothing\""),
        InvalidGraph("{\"Animal\": [{\"key\": \"1\"}]}", .abstractEntity, "Animal"),
        InvalidGraph("{\"Topic\": {}}", .invalidGraph, "Topic"),
        InvalidGraph("{\"Topic\": [1]}", .invalidGraph, "Topic[0]"),
        InvalidGraph("{\"Topic\": [], \"Topic\": []}", .invalidGraph, "Topic"),
        InvalidGraph("{\"Topic\": [{\"key\": \"1\"}, {\"key\": \"2\", \"name\": 1}]}", .unknownAttribute, "Topic[1]"),
        InvalidGraph(
            "{\"Topic\": [{\"key\": \"1\"}, {\"key\": \"2\", \"title\": 1}]}", .invalidGraph, "Topic[1].title"),
        InvalidGraph("{\"Topic\": [{\"title\": \"1\"}]}", .invalidGraph, "Topic[0]"),
        InvalidGraph("{\"Topic\": [{\"key\": null}]}", .invalidGraph, "Topic[0]"),
        InvalidGraph("{\"Topic\": [{\"key\": 1}]}", .invalidGraph, "Topic[0].key"),
        InvalidGraph("{\"Topic\": [{\"key\": \"1\"}, {\"key\": \"1\"}]}", .invalidGraph, "Topic[1]"),
        InvalidGraph("{\"Topic\": [{\"key\": \"1\", \"key\": \"2\"}]}", .invalidGraph, "line 1"),
        InvalidGraph("{\"Topic\": [{\"key\": \"1\", \"title\": null}]}", .validationFailed, "Topic.title"),
        InvalidGraph("{\"Letter\": [{\"key\": \"1\", \"topic\": \"?\"}]}", .invalidGraph, "Letter[0].topic"),
        InvalidGraph("{\"Letter\": [{\"key\": \"1\", \"topic\": [\"?\"]}]}", .invalidGraph, "Letter[0].topic"),
        InvalidGraph("{\"Letter\": [{\"key\": \"1\", \"topic\": 7}]}", .invalidGraph, "Letter[0].topic"),
        InvalidGraph("{\"Topic\": [{\"key\": \"1\", \"letters\": \"stored\"}]}", .invalidGraph, "Topic[0].letters"),
        InvalidGraph(
            "{\"Topic\": [{\"key\": \"1\", \"letters\": [\"stored\", \"stored\"]}]}", .invalidGraph,
            "Topic[0].letters[1]"),
        InvalidGraph(
            "{\"Topic\": [{\"key\": \"1\", \"letters\": [\"stored\"]}, {\"key\": \"2\", \"letters\": [\"stored\"]}]}",
            .invalidGraph, "Topic[0].letters"),
        InvalidGraph(
            "{\"Topic\": [{\"key\": \"1\", \"letters\": []}], \"Letter\": [{\"key\": \"stored\", \"topic\": \"1\"}]}",
            .invalidGraph, "Topic[0].letters"),
        InvalidGraph(
            "{\"Label\": [{\"key\": \"1\", \"letters\": []}], \"Letter\": [{\"key\": \"stored\", \"labels\": [\"1\"]}]}",
            .invalidGraph, "letters"),
        InvalidGraph("{\"Cat\": [{\"key\": \"dog\"}]}", .invalidGraph, "Cat[0]"),
        InvalidGraph("{\"Cat\": [{\"key\": \"1\", \"lives\": 40000}]}", .invalidGraph, "Cat[0].lives"),
        InvalidGraph("{\"Cat\": [{\"key\": \"1\", \"lives\": 1.5}]}", .invalidGraph, "Cat[0].lives"),
        InvalidGraph("{\"Passport\": [{\"key\": \"1\"}]}", .validationFailed, "Passport.holder"),
        InvalidGraph("", .invalidGraph, "line 1"),
        InvalidGraph("[]", .invalidGraph, "line 1"),
        InvalidGraph("{}\n\n x", .invalidGraph, "line 3"),
        InvalidGraph("{\"Topic\": [\n{\"key\": \"1\",}]}", .invalidGraph, "line 2"),
        InvalidGraph("{\"Topic\": [{\"key\": \"1\"", .invalidGraph, "line 1"),
        InvalidGraph("{\"Topic\": [{\"key\": \"\\ud800\"}]}", .invalidGraph, "surrogate"),
        InvalidGraph("{\"Topic\": [{\"key\": \"\\x\"}]}", .invalidGraph, "escape"),
        InvalidGraph("{\"Topic\": [{\"key\": \"\n\"}]}", .invalidGraph, "control character"),
        InvalidGraph("{\"Topic\": [{\"key\": 01}]}", .invalidGraph, "number"),
        InvalidGraph("{\"Topic\": [{\"key\": nul}]}", .invalidGraph, "value"),
        InvalidGraph(
            "{\"Topic\": [{\"key\": " + String(repeating: "[", count: 100_000), .invalidGraph,
            "too deep"),
    ]

    @Test(arguments: wrong) func anInvalidGraphIsNamedAndChangesNothing(wrong: InvalidGraph) async throws {
        try await withEmptyGraph { container in
            let source = try container.dataSource(GraphDataSource.self)
            let stored = "{\"Letter\": [{\"key\": \"stored\"}], \"Dog\": [{\"key\": \"dog\"}]}"
            try await container.importGraph(ObjectGraph(json: Data(stored.utf8)))
            let before = try container.main.exportGraph(of: GraphDataSource.entities)
            let directory = try TemporaryDirectory()
            let file = directory.url.appending(component: "graph.json")
            try Data(wrong.json.utf8).write(to: file)
            for isFile in [false, true] {
                let error = await expectError(wrong.code) {
                    if isFile {
                        try await container.importGraph(contentsOf: file)
                    } else {
                        try await container.importGraph(ObjectGraph(json: Data(wrong.json.utf8)))
                    }
                }
                #expect(error?.message.contains(wrong.place) == true, "\(error?.message ?? "")")
            }
            #expect(try container.main.exportGraph(of: GraphDataSource.entities) == before)
            #expect(try source.count(Letter.self) == 1)
        }
    }

    @Test func aFileThatIsMissingIsAnError() async throws {
        try await withEmptyGraph { container in
            await expectError(.entityNotOwned) {
                try await container.importGraph(contentsOf: URL(filePath: "/nowhere/graph.json"))
            }
            _ = try container.dataSource(GraphDataSource.self)
            await expectError(.invalidGraph) {
                try await container.importGraph(contentsOf: URL(filePath: "/nowhere/graph.json"))
            }
        }
    }

    @Test func objectsWithoutAKeyAreNotExported() async throws {
        let container = try await PersistentContainer(model: .allTypes, store: .inMemory)
        try await container.dataSource(PlainDataSource<Parent, Place>.self).perform { context in
            let parent = try context.insert(Parent.self)
            parent.name = "same"
            try context.insert(Place.self).owner = parent
            let other = try context.insert(Parent.self)
            other.name = "same"
        }
        // Neither has a key by itself, and the one that is chosen is not unique.
        for keys in [[:], ["Parent": "name"]] {
            expectError(.invalidGraph) {
                try container.main.exportGraph(of: [Parent.self, Place.self], keys: keys)
            }
        }
        #expect(try container.main.exportGraph(of: [Place.self]).objectCount(ofEntity: "Place") == 1)
        try await container.close()
    }
}
