// swift-format-ignore-file: AlwaysUseLowerCamelCase
import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Names that the members of the macros, the library and the standard library have as well.
enum AnyNames {
    enum Kind: Int16, AttributeStorable { case a, b }

    @StoredComposite struct EntityDescription {
        var String: String = "s"
        var AttributeDescription: Int = 1
        @StoredPart(raw: Int16.self) var Kind: Kind = .b
        @StoredPart(.codable) var StoredTypes: [Int] = Array(1...2)
    }

    @StoredEntity final class Object: ManagedObject {
        var Object: Int = 1
        var StoredTypes: String?
        var EntityDescription: Date?
        var String: String = "x"
        var AttributeDescription: Bool = true
        var RelationshipDescription: UUID = UUID()
        @Stored(raw: Int16.self) var Kind: Kind = .b
        @Stored(.composite) var composite: EntityDescription
        @Stored(.codable) var object: [Int] = Array(1...3)
        @Related(inverse: "Object") var Tag: Tag?
        @Related(inverse: "next") var previous: Object?
        @Related var next: RelatedObjects<Object>
    }

    @StoredEntity class Tag: ManagedObject {
        var Tag: Int?
        @Related var Object: RelatedObjects<Object>
    }

    @StoredEntity final class ManagedTag: Tag {
        var ManagedObject: Int = 4
    }

    /// Where an expression names a type, a property with its name means the property.
    @StoredEntity(
        indexes: [
            FetchIndexDescription(
                name: "by", elements: [FetchIndexDescription.Element(property: "FetchIndexDescription")])
        ],
        attributes: [AttributeDescription(name: "other", type: .string, isOptional: true)])
    class Types: ManagedObject {
        @Stored(raw: Swift.Int16.self) var Int16: Kind = .b
        @Stored(in: Foundation.Date(timeIntervalSinceReferenceDate: 1)...)
        var Date: Date = Foundation.Date(timeIntervalSinceReferenceDate: 5)
        var AttributeDescription: Int = 3
        var FetchIndexDescription: Int = 4
        @Stored(.composite) private var EntityDescription: EntityDescription
        @Stored(.composite) private var optional: EntityDescription?

        var parts: (EntityDescription, EntityDescription?) {
            get { (EntityDescription, optional) }
            set { (EntityDescription, optional) = newValue }
        }
    }

    /// The extension of a nested struct does not see the types around the struct.
    @StoredComposite struct Parts {
        @StoredPart(raw: Swift.Int16.self) var Int16: Kind = .b
        @StoredPart(.composite) private var EntityDescription: EntityDescription
        @StoredPart(.composite) private var optional: EntityDescription?
        @StoredPart(.codable) private var list: Listed = Listed()
        var text: String?

        mutating func set(_ number: Int) {
            EntityDescription.AttributeDescription = number
            optional = EntityDescription
            list.number = number
        }
        var numbers: [Int?] { [EntityDescription.AttributeDescription, optional?.AttributeDescription, list.number] }
    }

    struct Listed: Codable, Hashable { var number = 1 }

    @StoredEntity final class MoreTypes: Types {
        @Stored(.composite) var AnyNames: Parts
        @Stored(raw: Swift.Int16.self) var kind: Kind = .a
        var CoreDataSource: Int = 5
        var Bool: Bool = true
    }

    final class Source: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Object.self, Tag.self, ManagedTag.self, Types.self] }
    }

    static let model = ManagedObjectModel("AnyNames") {
        Object.self
        Tag.self
        ManagedTag.self
        Types.self
        MoreTypes.self
    }

    /// A type that is public by its word only.
    @StoredComposite public struct Size {
        public var width: Double = 1
        public var kind: String?
    }
}

/// Initial values that name what an initial value of a stored property can name.
enum Scopes {
    fileprivate static let depth = 11

    @StoredComposite struct Part {
        static let z = 5
        var text: String = "\(Self.z) \("\(Self.z + 1)")"
        var sum: Int = z + 1
        var closure: Int = { z + 2 }()
        @StoredPart(.codable) var list: [Int] = if z > 4 { [z] } else { [] }
    }

    @StoredEntity final class Item: ManagedObject {
        static let z = 5
        private static func text() -> String { "text" }
        private struct Secret: Codable { var number = z }

        var a: Int = z
        var b: String = text()
        var c: Int = depth
        var d: Int = { z + 2 }()
        var e: String = "\(Item.z)"
        private var f: Int = z + 3
        @Stored(.codable) private var g: Secret = Secret(number: z + 4)
        @Stored(.codable) private var h: Secret? = Secret(number: z + 5)
        @Stored(.codable) var i: [Int] = [z]
        @Stored(.composite) var part: Part
        @Stored(.composite) var other: Part? = Part(text: "t", sum: z, closure: 1, list: [])

        var numbers: [Int?] { [a, c, d, f, g.number, h?.number, part.sum, part.closure, other?.sum] }
    }

    final class Source: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Item.self] }
    }

    static let model = ManagedObjectModel("Scopes") { Item.self }
}

@MainActor struct AnyNameTests {
    @Test func typesAndPropertiesMayHaveTheNamesOfOtherTypes() async throws {
        let directory = try TemporaryDirectory()
        let location = StoreLocation.sqlite(directory.url.appending(component: "a.sqlite"))
        let first = try await PersistentContainer(model: AnyNames.model, store: location)
        try await first.dataSource(AnyNames.Source.self).perform { context in
            let object = try context.insert(AnyNames.Object.self)
            #expect(object.object == [1, 2, 3] && object.Kind == .b && object.composite.StoredTypes == [1, 2])
            object.Object = 7
            object.StoredTypes = "types"
            object.EntityDescription = Date(timeIntervalSinceReferenceDate: 5)
            object.composite.AttributeDescription = 8
            let tag = try context.insert(AnyNames.ManagedTag.self)
            tag.Tag = 9
            object.Tag = tag
        }
        try await first.close()
        let second = try await PersistentContainer(model: AnyNames.model, store: location)
        let object = try #require(try second.main.fetch(ObjectRequest<AnyNames.Object>()).first)
        #expect(object.Object == 7 && object.StoredTypes == "types" && object.String == "x" && object.Kind == .b)
        #expect(object.EntityDescription == Date(timeIntervalSinceReferenceDate: 5))
        #expect(object.composite.AttributeDescription == 8 && object.composite.Kind == .b)
        #expect(object.Tag?.Tag == 9 && object.Tag?.Object.count == 1 && object.previous == nil)
        try await second.close()
    }

    @Test func aPropertyMayHaveTheNameOfATypeOfItsArguments() async throws {
        let entity = try #require(AnyNames.model.entity(named: "Types"))
        #expect(entity.attributes.map(\.name).contains("other"))
        #expect(entity.indexes.map { $0.elements.map(\.property) } == [["FetchIndexDescription"]])
        let date = try #require(entity.attributes.first { $0.name == "Date" })
        #expect(date.minimum == .date(1) && date.defaultValue == .date(5))
        let container = try await PersistentContainer(model: AnyNames.model, store: .inMemory)
        try await container.dataSource(AnyNames.Source.self).perform { context in
            let object = try context.insert(AnyNames.MoreTypes.self)
            #expect(object.Int16 == .b && object.kind == .a && object.AttributeDescription == 3)
            #expect(object.parts.0.String == "s" && object.parts.1 == nil)
            var part = object.parts.0
            part.AttributeDescription = 8
            object.parts = (part, part)
            #expect(object.AnyNames.numbers == [1, nil, 1] && object.AnyNames.Int16 == .b)
            object.AnyNames.set(9)
        }
        let object = try #require(try container.main.fetch(ObjectRequest<AnyNames.Types>()).first)
        #expect(object.parts.0.AttributeDescription == 8 && object.parts.1?.AttributeDescription == 8)
        #expect((object as? AnyNames.MoreTypes)?.AnyNames.numbers == [9, 9, 9])
        #expect(object.Date == Date(timeIntervalSinceReferenceDate: 5))
        try await container.close()
    }

    @Test func initialValuesNameStaticMembers() async throws {
        let container = try await PersistentContainer(model: Scopes.model, store: .inMemory)
        try await container.dataSource(Scopes.Source.self).perform { context in
            let item = try context.insert(Scopes.Item.self)
            #expect(item.numbers == [5, 11, 7, 8, 9, 10, 6, 7, 5])
            #expect(item.b == "text" && item.e == "5" && item.i == [5])
            #expect(item.part.text == "5 6" && item.part.list == [5] && item.other?.text == "t")
        }
        try await container.close()
    }

    @Test func aPublicCompositeCanBeInATypeThatIsNotPublic() {
        #expect(AnyNames.Size.attributes().map(\.name) == ["width", "kind"])
    }
}
