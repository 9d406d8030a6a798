import ErrorExpectations
import ManagedModel
import RowStore
import StoreTestModel
import Testing

/// A policy that refuses a migration that would lose data, in each store.
struct LossPromises {
    private static let kinds = MigratedPlace.Kind.all
    private static let policy = ResetPolicy.migrateWithoutLoss(otherwise: .fail)

    private static let price = AttributeDescription(name: "price", type: .integer64, isOptional: true)
    private static let title = AttributeDescription(name: "title", type: .string, defaultValue: .string(""))

    /// Three items, of which two have a price, and three boxes, each with a link of each kind.
    private static func model(_ change: (inout [EntityDescription]) -> Void = { _ in }) -> ManagedObjectModel {
        var entities = [EntityDescription.item([price, title]), .box]
        change(&entities)
        return ManagedObjectModel(name: "Shop", entities: entities)
    }

    private static func without(_ relationship: String) -> ManagedObjectModel {
        model { $0[1].relationships.removeAll { $0.name == relationship } }
    }

    private static let losses: [(String, ManagedObjectModel)] = [
        ("Item.price: the values (Integer 64, optional), in 2 objects.", model { $0[0].attributes = [title] }),
        ("Item.title: the values (String, required), in 3 objects.", model { $0[0].attributes = [price] }),
        ("Box: 3 objects.", model { $0.removeLast() }),
        ("Box.items: the links (to-many Item, optional), in 3 objects.", without("items")),
        ("Box.first: the links (to-one Item, optional), in 3 objects.", without("first")),
        (
            "Box.size: the values (Integer 64, optional), in 2 objects; Item.price: the values (Integer 64, optional), in 2 objects.",
            model { entities in
                entities[0].attributes = [title]
                entities[1].attributes = []
            }
        ),
    ]

    @Test(arguments: kinds) func aLossIsRefusedAndNamedWithTheNumberOfObjects(kind: MigratedPlace.Kind) throws {
        try MigratedPlace.filled(kind, Self.model()) { place, contents in
            for (words, model) in Self.losses {
                let error = expectError(.modelChanged) { try place.open(model, Self.policy) }
                let cause =
                    "A migration would lose data: \(words) Open the store with an app whose model has this data, or"
                #expect(error?.cause?.hasPrefix(cause) == true, "\(error?.cause ?? "")")
            }
            // Nothing has changed.
            let (store, startup) = try place.open(Self.model(), .fail)
            #expect(startup.reason == .current)
            #expect(try store.contents(ModelLayout(Self.model())) == contents)
            store.close()
        }
    }

    /// Three items, and three boxes, each with an item in each of its two lists.
    ///
    /// - Parameter unordered: The relationship that is not ordered.
    private static func lists(without unordered: String? = nil) -> ManagedObjectModel {
        func list(_ name: String, _ inverse: String?) -> RelationshipDescription {
            RelationshipDescription(
                name: name, destinationName: "Item", inverseName: inverse, isToMany: true,
                isOrdered: name != unordered, isOptional: true)
        }
        let box = RelationshipDescription(name: "box", destinationName: "Box", inverseName: "parts", isOptional: true)
        return .shop(
            .item([title], links: [box]),
            EntityDescription(name: "Box", relationships: [list("items", nil), list("parts", "box")]))
    }

    /// Puts a second item into each list of the first box.
    private func addItems(to store: any PersistentStore) throws {
        let layout = ModelLayout(Self.lists())
        let (item, box) = (try #require(layout.entity(named: "Item")), try #require(layout.entity(named: "Box")))
        let links = try #require(layout.entities.first { $0.links != nil })
        let (key, owner) = (Int64(item.index * 10 + 9), Int64(box.index * 10 + 1))
        var row = RowSnapshot(columnCount: item.columns.count)
        row.setValue(.text("second"), try #require(item.column(named: "title")))
        row.setInteger(owner, try #require(item.column(named: "box")))
        row.setInteger(5, try #require(item.column(named: "box.position")))
        var pair = RowSnapshot(columnCount: links.columns.count)
        let columns = links.pairColumns(isReversed: false)
        pair.setInteger(owner, columns.own.key)
        pair.setInteger(key, columns.other.key)
        pair.setInteger(5, try #require(columns.other.position))
        try store.write([.of(item.index, insert: [StoredRow(key: key, row: row)])])
        try store.write([.of(links.index, insert: [StoredRow(key: 200_000, row: pair)])])
    }

    @Test(arguments: kinds, ["items", "parts"])
    func aLostOrderIsRefusedIfAnObjectHasSeveralLinks(kind: MigratedPlace.Kind, name: String) throws {
        let words = "Box.\(name): the order (to-many Item, ordered, optional)"
        try MigratedPlace.filled(kind, Self.lists()) { place, _ in
            let (store, startup) = try place.open(Self.lists(without: name), Self.policy)
            #expect(startup.migration?.losses == [words] && startup.fallback == nil)
            store.close()
        }
        try MigratedPlace.filled(kind, Self.lists()) { place, _ in
            let store = try place.open(Self.lists()).store
            try addItems(to: store)
            store.close()
            let error = expectError(.modelChanged) { try place.open(Self.lists(without: name), Self.policy) }
            let cause = "A migration would lose data: \(words), in 1 object. Open the store with"
            #expect(error?.cause?.hasPrefix(cause) == true, "\(error?.cause ?? "")")
        }
    }

    @Test(arguments: kinds) func aMigrationThatLosesNothingIsMade(kind: MigratedPlace.Kind) throws {
        try MigratedPlace.filled(kind, Self.model()) { place, _ in
            let email = AttributeDescription(name: "email", type: .string, isOptional: true)
            let newer = Self.model { entities in
                entities[0].attributes.append(email)
                entities.append(EntityDescription(name: "Tag"))
            }
            let (store, startup) = try place.open(newer, Self.policy)
            #expect(startup.migration?.rowsCarried == 6 && startup.fallback == nil)
            store.close()
            // No item has an email, and there are no tags, so the older model lacks nothing.
            let (again, second) = try place.open(Self.model(), Self.policy)
            #expect(second.migration?.rowsCarried == 6)
            #expect(second.migration?.losses == ["Item.email: the values (String, optional)", "Tag: the objects"])
            again.close()
        }
    }

    /// Links of one of two sources are lost to all entities, and links of the other source to all entities but one. SQLite
    /// accepts 500 terms in a compound SELECT.
    @Test func lossesOfLinksToManyEntitiesAreCounted() throws {
        func model(_ source: String, _ destination: String) -> ManagedObjectModel {
            let parts = RelationshipDescription(
                name: "parts", destinationName: destination, inverseName: "owner", isToMany: true, isOptional: true)
            let owner = RelationshipDescription(
                name: "owner", destinationName: source, inverseName: "parts", isOptional: true)
            var entities = ["Owner", "Owner1", "Owner2", "Part"].map { EntityDescription(name: $0) }
            entities += (1...260).map { EntityDescription(name: "Part\($0)") }
            for index in entities.indices {
                let name = entities[index].name
                entities[index].isAbstract = name == "Owner" || name == "Part"
                if !entities[index].isAbstract {
                    entities[index].parentName = name.hasPrefix("Owner") ? "Owner" : "Part"
                }
                if name == source { entities[index].relationships = [parts] }
                if name == destination { entities[index].relationships = [owner] }
            }
            return ManagedObjectModel(name: "Shop", entities: entities)
        }
        try MigratedPlace.filled(.file, model("Owner", "Part")) { place, _ in
            let error = expectError(.modelChanged) { try place.open(model("Owner1", "Part1"), Self.policy) }
            let cause =
                "A migration would lose data: Owner.parts: the links (to-many Part, optional) of Owner2, in 3 objects."
            #expect(error?.cause?.hasPrefix(cause) == true, "\(error?.cause ?? "")")
        }
    }

    @Test(arguments: kinds) func afterALossTheOtherPolicyApplies(kind: MigratedPlace.Kind) throws {
        try MigratedPlace.filled(kind, Self.model()) { place, _ in
            let (store, startup) = try place.open(
                Self.without("first"), .migrateWithoutLoss(otherwise: .changedEntities))
            #expect(startup.fallback?.hasPrefix("A migration would lose data: Box.first: the links") == true)
            #expect(startup.entitiesReset == ["Box"] && startup.rowsDropped == 3 && startup.migration == nil)
            store.close()
            let (other, reset) = try place.open(
                .shop(EntityDescription(name: "Tag")), .migrateWithoutLoss(otherwise: .discard))
            #expect(reset.fallback?.hasPrefix("A migration would lose data: Item: 3 objects.") == true)
            #expect(reset.isReset && reset.rowsDropped == 3)
            other.close()
        }
    }

    /// The rows of another owner are dropped on purpose.
    @Test(arguments: kinds) func rowsOfAnotherKeyAreDropped(kind: MigratedPlace.Kind) throws {
        let place = try MigratedPlace(kind)
        let store = try place.open(Self.model(), keys: ["Item": "1"]).store
        try store.fill(ModelLayout(Self.model()))
        store.close()
        let newer = Self.model { $0[0].attributes = [Self.title] }
        let (other, startup) = try place.open(
            newer, .migrateWithoutLoss(otherwise: .discard), keys: ["Item": "2"])
        #expect(startup.entitiesReset == ["Item"] && startup.migration?.rowsCarried == 3 && startup.fallback == nil)
        other.close()
    }
}
