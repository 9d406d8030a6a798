import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Types inside of another type, which an extension of a struct does not see by their names.
enum Warehouse {
    enum Unit: Int16, AttributeStorable { case piece, kilogram }

    struct Tag: Codable, Hashable {
        var text = ""
    }

    @StoredComposite struct Size {
        var width: Double = 1
    }

    @StoredComposite struct Packing {
        @StoredPart(raw: Int16.self) var unit: Unit = .kilogram
        @StoredPart(.codable) var tags: [Tag] = [Tag(text: "new")]
        @StoredPart(.codable) var label: Tag?
        @StoredPart(.composite) var size: Size
        @StoredPart(.codable) var marks: [Tag] = Self.defaultMarks
        static let defaultMarks = [Tag(text: "mark")]
    }

    fileprivate struct Seal: Codable {
        var number: Int
    }

    @StoredEntity final class Product: ManagedObject {
        @Stored(.composite) var packing: Packing
        @Stored(.composite) var gift: Packing?
        @Stored(.codable) fileprivate var seal: Seal?
        @Stored(.codable) private var origin: Origin?

        private struct Origin: Codable {
            var country = ""
        }

        var country: String? {
            get { origin?.country }
            set { origin = newValue.map { Origin(country: $0) } }
        }
    }

    final class Source: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Product.self] }
    }

    static let model = ManagedObjectModel("Warehouse") { Product.self }
}

@MainActor struct NestedTypeTests {
    @Test func typesInsideOfAnotherTypeAreStored() async throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation.sqlite(directory.url.appending(component: "a.sqlite"))
        let gift = Warehouse.Packing(
            unit: .piece, tags: [], label: Warehouse.Tag(text: "red"), size: Warehouse.Size(width: 3))
        let first = try await PersistentContainer(model: Warehouse.model, store: location)
        try await first.dataSource(Warehouse.Source.self).perform { context in
            let product = try context.insert(Warehouse.Product.self)
            #expect(product.packing.unit == .kilogram && product.packing.tags == [Warehouse.Tag(text: "new")])
            #expect(product.packing.label == nil && product.packing.size.width == 1)
            #expect(product.packing.marks == Warehouse.Packing.defaultMarks)
            product.gift = gift
            product.seal = Warehouse.Seal(number: 7)
            product.country = "Shu"
        }
        try await first.close()
        let second = try await PersistentContainer(model: Warehouse.model, store: location)
        let product = try #require(try second.main.fetch(ObjectRequest<Warehouse.Product>()).first)
        #expect(product.gift == gift && product.packing.unit == .kilogram)
        #expect(product.packing.tags == [Warehouse.Tag(text: "new")])
        #expect(product.packing.marks == Warehouse.Packing.defaultMarks)
        #expect(product.seal?.number == 7 && product.country == "Shu")
        try await second.close()
    }
}
