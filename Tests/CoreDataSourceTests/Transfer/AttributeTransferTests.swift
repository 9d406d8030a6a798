import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// Values of every type go through JSON and come back exactly.
@MainActor @Suite struct AttributeTransferTests {
    private let types: [ManagedObject.Type] = [EveryType.self, Place.self, Special.self]

    private func withTypes(
        _ body: @MainActor (PersistentContainer, PlainDataSource<EveryType, Place, Special>) async throws -> Void
    ) async throws {
        let container = try await PersistentContainer(model: .allTypes, store: .inMemory)
        try await body(container, try container.dataSource(PlainDataSource<EveryType, Place, Special>.self))
        try await container.close()
    }

    /// Imports the graph into an empty store and gives what is exported of that.
    private func copied(_ graph: ObjectGraph) async throws -> ObjectGraph {
        var copy = ObjectGraph()
        try await withTypes { container, _ in
            try await container.importGraph(graph)
            copy = try container.main.exportGraph(of: types)
        }
        return copy
    }

    @Test(arguments: 0..<4) func randomValuesComeBackExactly(part: UInt64) async throws {
        let seed = testSeed() &+ part
        let label: Testing.Comment = "seed \(seed)"
        try await withTypes { container, source in
            try await source.perform { context in
                var random = SeededRandom(seed: seed)
                for _ in 0..<100 { try context.insert(EveryType.self).fill(&random) }
            }
            let graph = try container.main.exportGraph(of: types)
            #expect(try await copied(graph).difference(from: graph) == nil, label)
            #expect(try await copied(ObjectGraph(json: graph.json)).difference(from: graph) == nil, label)
            let decoded = try JSONDecoder().decode(ObjectGraph.self, from: JSONEncoder().encode(graph))
            #expect(try await copied(decoded).difference(from: graph) == nil, label)
        }
    }

    /// The graph says what people expect to read.
    @Test func valuesAreWrittenAsTheyAreRead() async throws {
        try await withTypes { container, source in
            try await source.perform { context in
                let object = try context.insert(EveryType.self)
                object.uriRequired = try #require(URL(string: "https://example.org/a?b=c#d"))
                object.uuidRequired = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7))
                object.binaryRequired = Data([0, 255])
                object.dateRequired = Date(timeIntervalSinceReferenceDate: 86400)
                object.dateOptional = Date(timeIntervalSinceReferenceDate: 1.0 / 3)
                object.doubleOptional = .infinity
                object.doubleRequired = 100
                object.floatRequired = 0.1
                object.decimalOptional = Decimal(string: "0.10")
            }
            let text = String(decoding: try container.main.exportGraph(of: [EveryType.self]).json, as: UTF8.self)
            for line in [
                "\"uriRequired\": \"https://example.org/a?b=c#d\"",
                "\"uuidRequired\": \"00000000-0000-0000-0000-000000000007\"", "\"binaryRequired\": \"AP8=\"",
                "\"dateRequired\": \"2001-01-02T00:00:00Z\"", "\"dateOptional\": 0.3333333333333333",
                "\"doubleOptional\": \"inf\"", "\"doubleRequired\": 100", "\"floatRequired\": 0.1",
                "\"decimalRequired\": \"12345678901234567890.123456789\"", "\"decimalOptional\": \"0.1\"",
                "\"booleanRequired\": true", "\"stringOptional\": null", "\"integer64Required\": 9223372036854775807",
            ] {
                #expect(text.contains("      " + line), "\(line) in \(text)")
            }
        }
    }

    @Test func otherSpellingsOfAValueAreRead() async throws {
        try await withTypes { container, source in
            let json = """
                {"EveryType": [{"uriRequired": "a:b", "uuidRequired": "00000000-0000-0000-0000-00000000000a",
                  "binaryRequired": "", "dateRequired": "2001-01-02T00:00:00.5Z", "dateOptional": 1e2,
                  "decimalRequired": 0.1234567890123456789012345, "decimalOptional": "-1E-3", "doubleRequired": 1e2,
                  "integer16Required": 3.0, "floatOptional": 0.1, "doubleOptional": 0.1}]}
                """
            try await container.importGraph(ObjectGraph(json: Data(json.utf8)))
            let object = try #require(try source.fetch(EveryType.self).first)
            #expect(object.dateRequired == Date(timeIntervalSinceReferenceDate: 86400.5))
            #expect(object.dateOptional == Date(timeIntervalSinceReferenceDate: 100))
            #expect(object.decimalRequired == Decimal(string: "0.1234567890123456789012345"))
            #expect(object.decimalOptional == Decimal(string: "-0.001"))
            #expect(object.doubleRequired == 100 && object.integer16Required == 3)
            #expect(object.floatOptional == 0.1 && object.doubleOptional == 0.1)
            let tooLarge = "{\"EveryType\": [{\"floatOptional\": 1e300}]}"
            let error = await expectError(.invalidGraph) {
                try await container.importGraph(ObjectGraph(json: Data(tooLarge.utf8)))
            }
            #expect(error?.attributeName == "floatOptional")
            // What the graph leaves out has its default value.
            #expect(object.stringRequired == "say \"hi\" \\(there)")
        }
    }

    @Test(arguments: ["2001-01-02T02:00:00+02:00", "2001-01-01T22:30:00-01:30", "2001-01-02T00:00:00.000Z"])
    func aMomentIsReadWithItsOffset(text: String) async throws {
        try await withTypes { container, source in
            let json =
                #"{"EveryType": [{"dateRequired": "\#(text)", "#
                + #""uriRequired": "a:b", "uuidRequired": "00000000-0000-0000-0000-00000000000a", "binaryRequired": ""}]}"#
            try await container.importGraph(ObjectGraph(json: Data(json.utf8)))
            let object = try #require(try source.fetch(EveryType.self).first)
            #expect(object.dateRequired == Date(timeIntervalSinceReferenceDate: 86400))
        }
    }

    @Test func aDateBeforeTheReformIsThatOfTheGregorianCalendar() async throws {
        try await withTypes { container, source in
            let json =
                #"{"EveryType": [{"dateRequired": -13197686400, "dateOptional": "1582-10-14T00:00:00Z", "#
                + #""uriRequired": "a:b", "uuidRequired": "00000000-0000-0000-0000-00000000000a", "binaryRequired": ""}]}"#
            try await container.importGraph(ObjectGraph(json: Data(json.utf8)))
            let object = try #require(try source.fetch(EveryType.self).first)
            #expect(object.dateRequired == object.dateOptional)
            let text = String(decoding: try container.main.exportGraph(of: types).json, as: UTF8.self)
            #expect(text.contains("\"dateRequired\": \"1582-10-14T00:00:00Z\""))
        }
    }

    @Test(arguments: [
        "2001-02-30T00:00:00Z", "2001-01-01T24:00:00Z", "2001-01-01", "2020-01-01T25:60:00Z", "1500-02-29T00:00:00Z",
    ])
    func aMomentThatDoesNotExistIsAnErrorOfTheImport(text: String) async throws {
        try await withTypes { container, source in
            let json = #"{"EveryType": [{"dateOptional": "\#(text)"}]}"#
            let error = await expectError(.invalidGraph) {
                try await container.importGraph(ObjectGraph(json: Data(json.utf8)))
            }
            let count = try source.count(EveryType.self)
            #expect(error?.attributeName == "dateOptional" && count == 0)
            let message = try #require(error?.message)
            #expect(message.contains("\"\(text)\"") && message.contains("2026-11-26T12:00:00Z"), "\(message)")
        }
    }

    @Test func compositesAndTransformablesComeBackExactly() async throws {
        let untyped = ["", "1", "1.0", "null", "\"x\"", "{\"json\":\"y\"}", "{\"base64\":\"eQ==\"}", "[1, 2]"]
        try await withTypes { container, source in
            try await source.perform { context in
                let place = try context.insert(Place.self)
                place.title = "1"
                place.address = Address(
                    class: "home", coordinate: Coordinate(latitude: 1.5, longitude: -2), street: "Main",
                    tags: ["a", "\u{e4}/\u{1}"])
                place.origin.latitude = 4
                try context.insert(Place.self).title = "2"
                for (number, bytes) in untyped.enumerated() {
                    let special = try context.insert(Special.self)
                    special.tags = ["\(number)"]
                    special.lengths = ["b": 1, "a": .max]
                    special.untyped = Data(bytes.utf8)
                    special.colour = Data([UInt8(number), 255])
                }
            }
            let graph = try container.main.exportGraph(of: types)
            #expect(try await copied(ObjectGraph(json: graph.json)).difference(from: graph) == nil)
            let text = String(decoding: graph.json, as: UTF8.self)
            #expect(text.contains("\"address\": null"))
            #expect(text.contains("\"latitude\": 1.5"))
            // Neither is of use elsewhere: one is computed, and the other is not stored.
            #expect(!text.contains("canonicalTitle") && !text.contains("cursor"))
            try await withTypes { other, source in
                try await other.importGraph(graph)
                let places = try source.fetch(Place.self, order: [.ascending(\.title)])
                #expect(places.first?.address?.tags == ["a", "\u{e4}/\u{1}"] && places.last?.address == nil)
                let specials = try source.fetch(Special.self)
                #expect(Set(specials.compactMap(\.untyped)) == Set(untyped.map { Data($0.utf8) }))
                #expect(specials.allSatisfy { $0.lengths == ["b": 1, "a": .max] })
            }
        }
    }

    /// It takes the leaves away; those that are left out stay.
    @Test func aCompositeIsClearedByNullAndChangedByItsLeaves() async throws {
        try await withTypes { container, source in
            func places(_ json: String) throws -> ObjectGraph {
                try ObjectGraph(json: Data("{\"Place\": [\(json)]}".utf8))
            }
            let keys = ["Place": "title"]
            try await container.importGraph(
                places("{\"title\": \"1\", \"address\": {\"street\": \"Main\", \"class\": \"home\"}}"), keys: keys)
            try await container.importGraph(
                places("{\"title\": \"1\", \"address\": {\"class\": null}}"), keys: keys)
            let place = try #require(try source.fetch(Place.self).first)
            #expect(place.address == Address(street: "Main"))
            let report = try await container.importGraph(
                places("{\"title\": \"1\", \"address\": null}"), keys: keys)
            #expect(report == SaveReport(updated: 1))
            #expect(place.address == nil && place.origin.latitude == 0)
        }
    }
}

extension EveryType {
    fileprivate func fill(_ random: inout SeededRandom) {
        let real = Double(bitPattern: random.next())
        binaryRequired = Data((0..<random.next(below: 5)).map { _ in UInt8.random(in: 0...255, using: &random) })
        booleanOptional = [nil, true, false].randomElement(using: &random) ?? nil
        dateRequired = Date(timeIntervalSinceReferenceDate: .random(in: -1e10...1e10, using: &random))
        dateOptional = Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random).rounded())
        doubleOptional = real.isNaN ? nil : real
        doubleRequired = .random(in: -1...1, using: &random)
        let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
        floatOptional = float.isNaN ? nil : float
        integer16Optional = .random(in: .min ... .max, using: &random)
        integer32Optional = .random(in: .min ... .max, using: &random)
        integer64Optional = .random(in: .min ... .max, using: &random)
        decimalRequired =
            Decimal(Int64.random(in: .min ... .max, using: &random)) / Decimal(1_000_000_007)
        decimalOptional = Decimal(string: "\(Int.random(in: 0..<1000, using: &random))e-\(random.next(below: 30))")
        let scalars = (0..<random.next(below: 6)).compactMap { _ in
            Unicode.Scalar(UInt32.random(in: 0..<0x11_0000, using: &random) >> UInt32(random.next(below: 16)))
        }
        stringRequired = String(String.UnicodeScalarView(scalars))
        uuidRequired = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(random.next(below: 256))))
        uriRequired = URL(string: "https://example.org/\(random.next())") ?? URL(fileURLWithPath: "/")
    }
}
