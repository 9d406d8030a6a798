import CoreDataSource
import Foundation
import TestSupport
import Testing

/// An entity without indexes.
@StoredEntity
final class Shipment: ManagedObject {
    var box: Int64 = 0
    var weight: Int64 = 0
    var date: Double = 0
}

/// An entity with an index for an order.
@StoredEntity(
    indexes: [FetchIndexDescription(name: "byBoxAndDate", elements: [.init(property: "box"), .init(property: "date")])])
final class Carton: ManagedObject {
    @Stored(unique: true) var code: Int64 = 0
    var box: Int64 = 0
    var weight: Int64 = 0
    var date: Double = 0
}

/// The indexes that an explanation advises.
@MainActor
struct IndexAdviceTests {
    private nonisolated static let requests: [ObjectRequest<Shipment>] = [
        ObjectRequest(Shipment.self, order: [.ascending(\.weight)]),
        ObjectRequest(Shipment.self, order: [.descending(\.weight), .descending(\.date)]),
        ObjectRequest(Shipment.self, order: [.descending(\.weight), .ascending(\.date)]),
        ObjectRequest(Shipment.self, where: \.box == 3, order: [.ascending(\.weight)]),
        ObjectRequest(Shipment.self, where: \.box == 3, order: [.ascending(\.weight), .descending(\.date)]),
        ObjectRequest(Shipment.self, where: \.box == 3, order: [.ascending(\.box), .ascending(\.date)]),
        ObjectRequest(
            Shipment.self, where: \.box == 3 && \.weight == 4,
            order: [.ascending(\.box), .descending(\.weight), .ascending(\.date)]),
    ]

    private func warnings(_ number: Int, _ model: ManagedObjectModel) async throws -> [String] {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: model, store: .sqlite(directory.store))
        let shipments = try container.dataSource(PlainDataSource<Shipment>.self)
        try await shipments.perform { context in
            for number in 0..<20 { try context.insert(Shipment.self).box = Int64(number % 4) }
        }
        let warnings = try container.main.explain(Self.requests[number]).warnings
        try await container.close()
        return warnings
    }

    /// No index finds the objects without related objects, and the predicate cannot be narrower.
    @Test func anObjectWithoutRelatedObjectsGetsAdviceThatCanBeFollowed() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for key in ["a", "b", "c"] { try context.letter(key).labels.insert(try context.label("l")) }
            }
            let warnings = try container.main.explain(ObjectRequest(Letter.self, where: .none(\.labels, .all))).warnings
            #expect(!warnings.isEmpty && !warnings.contains { $0.contains("Narrow the predicate") }, "\(warnings)")
        }
    }

    /// In a model that has the index, nothing is left to advise.
    @Test(arguments: requests.indices)
    func theAdvisedIndexIsUsed(number: Int) async throws {
        var model = ManagedObjectModel("Shipments") { Shipment.self }
        let advice = try await warnings(number, model).compactMap(Self.elements)
        #expect(advice.count == 1)
        let elements = try #require(advice.first).map { words in
            FetchIndexDescription.Element(property: words[0], isAscending: words.last != "descending")
        }
        model.entities[0].indexes = [FetchIndexDescription(name: "advised", elements: elements)]
        #expect(try await warnings(number, model) == [])
    }

    /// The predicate has several fixed attributes, and the index begins with another one of them than the advice would.
    @Test func anIndexThatIsNotUsedIsNamedByItsAttributes() async throws {
        let model = ManagedObjectModel("Cartons") { Carton.self }
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: model, store: .sqlite(directory.store))
        let predicate: FetchPredicate<Carton> = \.weight == 4 && \.box == 3 && .isIn(\.code, [1, 2])
        let plan = try container.main.explain(
            ObjectRequest(Carton.self, where: predicate, order: [.descending(\.date)]))
        #expect(plan.warnings.count == 1 && plan.warnings[0].contains("The index on box, date is not used"), "\(plan)")
        try await container.close()
    }

    /// Returns the words of each element; nil for a warning that does not advise an index for the order.
    private nonisolated static func elements(_ warning: String) -> [[String]]? {
        guard warning.hasPrefix("All matching rows") else { return nil }
        for start in ["in this order: ", "Add a fetch index on "] {
            guard let range = warning.range(of: start) else { continue }
            let list = warning[range.upperBound...].dropLast()
            return list.components(separatedBy: ", ").map { $0.components(separatedBy: " ") }
        }
        return nil
    }

    /// An index ends before an element that has no column.
    @Test func anIndexBeginsWithTheAttributesThatAreStored() async throws {
        var model = ManagedObjectModel("Shipments") { Shipment.self }
        let elements = ["box", "missing", "weight"].map { FetchIndexDescription.Element(property: $0) }
        model.entities[0].indexes = [FetchIndexDescription(name: "damaged", elements: elements)]
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: model, store: .sqlite(directory.store))
        let plan = try container.main.explain(ObjectRequest(Shipment.self, where: \.box == 3))
        #expect(plan.warnings.isEmpty && plan.steps.contains { $0.hasPrefix("SEARCH") }, "\(plan)")
        try await container.close()
    }
}
