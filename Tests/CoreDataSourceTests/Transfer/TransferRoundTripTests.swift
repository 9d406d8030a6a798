import CoreDataSource
import Foundation
import TestSupport
import Testing

/// What is exported comes back as it was.
@MainActor @Suite struct TransferRoundTripTests {
    private let types = GraphDataSource.entities

    /// Makes a random graph of every shape of relationship.
    private func fill(_ source: GraphDataSource, _ random: inout SeededRandom) async throws {
        for _ in 0..<6 {
            let operations = (0..<12).map { _ in GraphOperation(&random) }
            // What the rules of the model refuse is not done.
            try? await source.perform { context in
                for operation in operations { try operation.apply(to: context) }
            }
        }
        let keys = (0..<3).map { _ in "\(Int.random(in: 0..<5, using: &random))" }
        try await source.perform { context in
            let dog = try context.findOrInsert(Dog.self, where: \.key, equals: "dog")
            dog.chasing = try context.first(Animal.self, where: \.key, equals: keys[0])
            let station = try context.findOrInsert(Station.self, where: \.key, equals: keys[1])
            try context.first(Letter.self, where: \.key, equals: keys[2])?.place = station
            // A link that the rule No Action has left leads nowhere, and a graph says so.
            for animal in try context.fetch(Animal.self) where animal.keeper == nil { animal.keeper = nil }
            for letter in try context.fetch(Letter.self) where letter.place == nil { letter.place = nil }
        }
    }

    @Test(arguments: 0..<8) func aGraphThatIsImportedAndExportedAgainIsEqual(part: UInt64) async throws {
        let seed = testSeed() &+ part
        var random = SeededRandom(seed: seed)
        let label: Testing.Comment = "seed \(seed)"
        let types = types
        try await withEmptyGraph { container in
            let source = try container.dataSource(GraphDataSource.self)
            try await fill(source, &random)
            let graph = try container.main.exportGraph(of: types)
            #expect(try await container.read { try $0.exportGraph(of: types) } == graph, label)
            #expect(try await source.perform { try $0.exportGraph(of: types) } == graph, label)
            // What is there already is not written.
            #expect(try await container.importGraph(graph) == SaveReport(), label)

            #expect(try ObjectGraph(json: graph.json) == graph, label)
            let decoded = try JSONDecoder().decode(ObjectGraph.self, from: JSONEncoder().encode(graph))
            #expect(decoded == graph, label)

            let directory = try TemporaryDirectory()
            let other = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
            _ = try other.dataSource(GraphDataSource.self)
            try await other.importGraph(ObjectGraph(json: graph.json))
            #expect(try other.main.exportGraph(of: types).difference(from: graph) == nil, label)
            #expect(try GraphReference(other.main).compacted == GraphReference(container.main).compacted, label)
            #expect(try GraphReference.inverses(other.main) == GraphReference.inverses(container.main), label)
            try await other.close()
        }
    }

    @Test func equalGraphsAreEqualFiles() async throws {
        try await withEmptyGraph { container in
            let source = try container.dataSource(GraphDataSource.self)
            try await source.perform { context in
                for key in ["b", "a", "\u{e9}\"\n"] { try context.topic(key).letters.insert(context.letter(key)) }
                try context.topic("b").title = "B"
            }
            let graph = try container.main.exportGraph(of: [Topic.self])
            let text = """
                {
                  "Topic": [
                    {
                      "key": "a",
                      "title": ""
                    },
                    {
                      "key": "b",
                      "title": "B"
                    },
                    {
                      "key": "\u{e9}\\"\\n",
                      "title": ""
                    }
                  ]
                }

                """
            #expect(String(decoding: graph.json, as: UTF8.self) == text)
            #expect("\(graph)" == "ObjectGraph (3 Topic)")
        }
    }

    /// A file is read in pieces; strings and numbers lie across their borders.
    @Test func aLongFileIsReadInPieces() async throws {
        try await withEmptyGraph { container in
            let source = try container.dataSource(GraphDataSource.self)
            try await source.perform { context in
                for number in 0..<3000 {
                    let letter = try context.letter("letter \(number)")
                    letter.subject = "\u{1f469}\u{200d}\u{1f4bb} \"\(number)\" \\ \u{1}"
                    letter.topic = try context.topic("\(number % 7)")
                }
            }
            let graph = try container.main.exportGraph(of: [Letter.self, Topic.self])
            let directory = try TemporaryDirectory()
            let file = directory.url.appending(component: "graph.json")
            try graph.json.write(to: file)
            try await withEmptyGraph { other in
                let source = try other.dataSource(GraphDataSource.self)
                let report = try await other.importGraph(contentsOf: file)
                #expect(report.inserted == 3007)
                #expect(try other.main.exportGraph(of: [Letter.self, Topic.self]) == graph)
                #expect(try source.count(Letter.self) == 3000)
            }
        }
    }
}
