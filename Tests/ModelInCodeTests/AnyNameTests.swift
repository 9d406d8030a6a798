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

    final class Source: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Object.self, Tag.self, ManagedTag.self] }
    }

    static let model = ManagedObjectModel("AnyNames") {
        Object.self
        Tag.self
        ManagedTag.self
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
