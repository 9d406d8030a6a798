import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Deprecated properties and types. This file is the test that expansions cause no warnings: in development, a warning is an error.
enum Deprecated {
    @available(*, deprecated) enum Kind: Int16, AttributeStorable { case a, b }
    @available(*, deprecated) struct Note: Codable, Sendable, Hashable { var text = "note" }

    @StoredComposite public struct Place {
        @available(*, deprecated) public var street: String = "s"
        @available(*, deprecated) public var code: Int?
        public var city: String = "c"
        @available(*, deprecated) public var since: Date = Date(timeIntervalSinceReferenceDate: 1 + 1)
        @StoredPart(.composite) public var spot: Spot
    }

    @StoredComposite public struct Spot {
        public var x: Double = 1
        @available(*, deprecated) public var y: Double = 2
    }

    @StoredEntity class Item: ManagedObject {
        @available(*, deprecated, message: "Use name.") var title: String = "t"
        @available(*, deprecated) var made: Date = Date(timeIntervalSinceReferenceDate: 1 + 2)
        @available(*, deprecated) @Stored(.codable) var list: [Int] = [1]
        @available(*, deprecated) @Stored(.codable) var note: Note? = Note()
        @available(*, deprecated) @Stored(raw: Int16.self) var kind: Kind = .b
        @available(*, deprecated) private var secret: Int = 2 + 2
        @available(*, deprecated) @Stored(.composite) var place: Place
        @Stored(.composite) var other: Place? = Place(city: "o", spot: Spot(x: 3))
        @available(*, deprecated) @Related(inverse: "items") var owner: Owner?
        @available(*, deprecated) @Related(inverse: "item") var old: OldOwner?
        var name: String?
    }

    @StoredEntity final class Special: Item {
        var number: Int = 0
    }

    @StoredEntity class Owner: ManagedObject {
        @available(*, deprecated) @Related(inverse: "owner") var items: RelatedObjects<Item>
    }

    @available(*, deprecated) @StoredEntity class OldOwner: ManagedObject {
        @Related(inverse: "old") var item: Item?
        var title: String = "t"
    }
}

/// Names what is deprecated. A deprecated member causes no warning if it is called through a protocol.
private protocol DeprecatedUse: SendableMetatype {
    static var model: ManagedObjectModel { get }
    static var entities: [ManagedObject.Type] { get }
    static func change(_ item: Deprecated.Special, _ context: PrivateContext) throws
    static func check(_ item: Deprecated.Special)
}

private enum Use: DeprecatedUse {
    @available(*, deprecated) static let model = ManagedObjectModel("Deprecated") {
        Deprecated.Item.self
        Deprecated.Special.self
        Deprecated.Owner.self
        Deprecated.OldOwner.self
    }

    @available(*, deprecated) static var entities: [ManagedObject.Type] {
        [Deprecated.Special.self, Deprecated.Owner.self, Deprecated.OldOwner.self]
    }

    @available(*, deprecated) static func change(_ item: Deprecated.Special, _ context: PrivateContext) throws {
        #expect(item.title == "t" && item.made.timeIntervalSinceReferenceDate == 3 && item.list == [1])
        #expect(item.note?.text == "note" && item.kind == .b && item.place.street == "s")
        #expect(item.place.since.timeIntervalSinceReferenceDate == 2 && item.other?.city == "o")
        #expect(item.other?.spot == Deprecated.Spot(x: 3, y: 2))
        item.title = "changed"
        item.place.code = 7
        item.owner = try context.insert(Deprecated.Owner.self)
        item.old = try context.insert(Deprecated.OldOwner.self)
    }

    @available(*, deprecated) static func check(_ item: Deprecated.Special) {
        #expect(item.title == "changed" && item.place.code == 7 && item.place.spot.y == 2)
        #expect(item.owner?.items.count == 1 && item.old?.item === item)
    }
}

private let use: any DeprecatedUse.Type = Use.self

private final class Source: EntityDataSource {
    override class var entities: [ManagedObject.Type] { use.entities }
}

@MainActor struct DeprecatedPropertyTests {
    @Test func aDeprecatedPropertyIsStoredLikeOthers() async throws {
        let container = try await PersistentContainer(model: use.model, store: .inMemory)
        try await container.dataSource(Source.self).perform { context in
            let item = try context.insert(Deprecated.Special.self)
            item.name = "n"
            try use.change(item, context)
        }
        let item = try #require(try container.main.first(Deprecated.Special.self, where: \.name == "n"))
        use.check(item)
        #expect(Deprecated.Special.attributeKeyPaths.values.contains("title"))
        #expect(Deprecated.Special.relationshipKeyPaths.values.contains("owner"))
        try await container.close()
    }
}
