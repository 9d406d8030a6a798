import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Testing

/// A stored value that is none of its attribute's type reads as another one, which is reported.
@MainActor
struct DamagedValueTests {
    private func insertOne(_ container: PersistentContainer) async throws {
        try await container.dataSource(PlainDataSource<Bounded, EveryType>.self).perform { context in
            let object = try context.insert(EveryType.self)
            object.binaryRequired = Data()
            object.uriRequired = try #require(URL(string: "https://example.org"))
            object.uuidRequired = UUID()
        }
    }

    /// A store of one object, in which another program has changed an attribute.
    private func withDamage(
        _ attribute: String, _ sql: String,
        _ body: (PersistentContainer, EveryType) throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        var container = try await PersistentContainer(model: .allTypes, store: .sqlite(directory.store))
        try await insertOne(container)
        try await container.close()
        try RawConnection(directory.store).execute("UPDATE EveryType SET \(attribute) = \(sql), uuidOptional = x'01'")
        container = try await PersistentContainer(model: .allTypes, store: .sqlite(directory.store))
        let failures = container.failures
        let object = try #require(try container.main.fetch(EveryType.self).first)
        try body(container, object)
        // They are reported in their order, so that this one is the last.
        _ = object.uuidOptional
        try await container.close()
        var reported: [String?] = []
        for await failure in failures.map(\.error) {
            #expect(failure.code == .damagedValue && failure.entityName == "EveryType")
            reported.append(failure.attributeName)
            if failure.attributeName == "uuidOptional" { break }
        }
        #expect(reported == [attribute, "uuidOptional"], "\(sql) is reported once")
    }

    /// The failures of the container report what is wrong in the store.
    @Test func theContainerReportsADamagedValue() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .allTypes, store: .sqlite(directory.store))
        try await insertOne(container)
        try RawConnection(directory.store).execute("UPDATE EveryType SET decimalRequired = 'abc'")
        var failures = container.failures.makeAsyncIterator()
        let object = try #require(try container.main.fetch(EveryType.self).first)
        #expect(object.decimalRequired == 0)
        let failure = await failures.next()
        #expect(failure?.kind == .store && failure?.dataSourceName == nil)
        #expect(failure?.error.code == .damagedValue && failure?.error.attributeName == "decimalRequired")
        try await container.close()
        #expect(await failures.next() == nil)
    }

    /// The type of a transformable is not a part of the hash.
    @Test(arguments: [StoreKind.sqlite, .inMemory]) func aValueOfAnEarlierTypeIsReported(kind: StoreKind) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .allTypes, store: kind == .sqlite ? .sqlite(directory.store) : .inMemory)
        let column = try #require(container.stack.layout.entity(named: "Special")?.column(named: "tags"))
        try await container.dataSource(PlainDataSource<Special>.self).perform { context in
            try context.insert(Special.self).setTransformable(["a": 1], at: column)
        }
        var failures = container.failures.makeAsyncIterator()
        let object = try #require(try container.main.fetch(Special.self).first)
        #expect(object.tags == nil)
        let failure = await failures.next()
        #expect(failure?.kind == .store && failure?.error.code == .damagedValue)
        #expect(failure?.error.message.contains("cannot be decoded as the type of the attribute") == true)
        try await container.close()
    }

    private func expectThrown(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) {
        expectError(.damagedValue, sourceLocation: sourceLocation) { try body() }
    }

    @Test(arguments: ["'abc'", "'12abc'", "''", "'1e'", "x'ff'"])
    func aDamagedDecimalIsReportedAndQueriesThrow(sql: String) async throws {
        try await withDamage("decimalRequired", sql) { container, object in
            for _ in 0..<3 { #expect(object.decimalRequired == 0) }
            let request = ObjectRequest(EveryType.self)
            expectThrown { _ = try container.main.values(request, \.integer16Required, \.decimalRequired) }
            expectThrown { _ = try container.main.aggregate(request, .count(), .sum(\.decimalRequired)) }
            expectThrown { _ = try container.main.aggregate(request, .average(\.decimalRequired)) }
            expectThrown { _ = try container.main.aggregate(request, .count(), .max(\.decimalRequired)) }
            expectThrown { _ = try container.main.aggregate(request, groupBy: \.decimalRequired, .count()) }
            // What does not read it goes on.
            let counts = try container.main.aggregate(request, .count(), .count(\.decimalRequired))
            #expect(counts.0 == 1 && counts.1 == 1)
            let values = try container.main.values(request, \.integer16Required)
            #expect(values.count == 1)
        }
    }

    @Test(arguments: ["x'00112233'", "'0011223344556677889900112233445566'", "x''"])
    func aUUIDIsReported(sql: String) async throws {
        try await withDamage("uuidRequired", sql) { container, object in
            #expect(object.uuidRequired == UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
            expectThrown { _ = try container.main.values(ObjectRequest(EveryType.self), \.uuidRequired) }
        }
    }

    @Test(arguments: ["''"])
    func aURLIsReported(sql: String) async throws {
        try await withDamage("uriRequired", sql) { container, object in
            #expect(object.uriRequired.absoluteString == "about:blank")
            expectThrown { _ = try container.main.values(ObjectRequest(EveryType.self), \.uriRequired) }
        }
    }

    @Test(arguments: ["CAST(x'61ff62' AS TEXT)", "CAST(x'f09f98' AS TEXT)"])
    func aStringThatIsNotUTF8IsReported(sql: String) async throws {
        try await withDamage("stringRequired", sql) { container, object in
            #expect(object.stringRequired.contains("\u{FFFD}"))
            expectThrown { _ = try container.main.values(ObjectRequest(EveryType.self), \.stringRequired) }
        }
    }

    @Test(arguments: ["integer16Required", "integer32Required"])
    func aNumberThatDoesNotFitIsReported(attribute: String) async throws {
        try await withDamage(attribute, "5000000000") { container, object in
            let request = ObjectRequest(EveryType.self)
            if attribute == "integer16Required" {
                _ = object.integer16Required
                expectThrown { _ = try container.main.values(request, \.integer16Required) }
            } else {
                _ = object.integer32Required
                expectThrown { _ = try container.main.values(request, \.integer32Required) }
            }
        }
    }

    @Test(arguments: ["integer64Required", "doubleRequired", "dateRequired"], ["'many'", "x'00'"])
    func aStringInsteadOfANumberIsReported(attribute: String, sql: String) async throws {
        try await withDamage(attribute, sql) { _, _ in }
    }

    /// Nil reads as zero where the type is no optional, and that is none.
    @Test func nilIsNoDamage() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .allTypes, store: .sqlite(directory.store))
        let failures = container.failures
        try await container.dataSource(PlainDataSource<Bounded, EveryType>.self).perform { context in
            let object = try context.insert(EveryType.self)
            _ = (object.uuidRequired, object.uriRequired, object.decimalOptional, object.stringOptional)
            context.delete(object)
        }
        try await container.close()
        for await failure in failures { Issue.record("\(failure)") }
    }
}
