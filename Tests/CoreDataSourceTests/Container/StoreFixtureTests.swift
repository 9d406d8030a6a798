import CoreDataSource
import Foundation
import TestSupport
import Testing

/// An app of today opens the stores that this and earlier releases wrote, and reads each value through its properties.
@MainActor
struct StoreFixtureTests {
    @Test(arguments: StoreFixture.all(named: "Contacts"))
    func contactsAreKept(fixture: StoreFixture) async throws {
        let keys: DataSourceKeys = [GroupDataSource.self: "7"]
        try await check(fixture, .contacts, [.all(ContactEntity.self), .all(GroupEntity.self)], keys) { container in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
        }
    }

    @Test(arguments: StoreFixture.all(named: "Chat") + StoreFixture.all(named: "Killed"))
    func chatsAreKept(fixture: StoreFixture) async throws {
        try await check(fixture, .chat, [.all(Message.self), .all(Room.self), .all(Sender.self)]) { container in
            try await container.dataSource(RoomDataSource.self).add(ItemData(key: "new", number: 1))
        }
    }

    @Test(arguments: StoreFixture.all(named: "AllTypes"))
    func valuesOfEveryTypeAreKept(fixture: StoreFixture) async throws {
        let entities: [StoredObjects] = [
            .all(Bounded.self), .all(Child.self), .all(EveryType.self), .all(Keywords.self), .all(Parent.self),
            .all(Place.self), .all(Special.self), .all(Étage.self),
        ]
        try await check(fixture, .allTypes, entities) { container in
            #expect(try container.main.fetch(Special.self).allSatisfy { $0.tags == ["x", "é"] })
            try await container.dataSource(PlainDataSource<Bounded, EveryType>.self).perform { context in
                let object = try context.insert(EveryType.self)
                object.binaryRequired = Data()
                object.uriRequired = try #require(URL(string: "about:blank"))
                object.uuidRequired = UUID()
            }
        }
    }

    private func check(
        _ fixture: StoreFixture, _ model: ManagedObjectModel, _ entities: [StoredObjects], _ keys: DataSourceKeys = [:],
        _ add: @MainActor (PersistentContainer) async throws -> Void
    ) async throws {
        let contents = try fixture.contents()
        #expect(model.hash.description == contents.modelHash)
        let directory = try TemporaryDirectory()
        let url = try fixture.copyStore(to: directory.url)
        func open() async throws -> PersistentContainer {
            try await PersistentContainer(
                model: model, store: .sqlite(url), databaseKey: contents.databaseKey,
                configuration: .init(resetPolicy: .fail, databaseKeys: keys))
        }
        let container = try await open()
        #expect(container.startup.reason == .current)
        #expect(Set(entities.map(\.name)) == Set(contents.rows.keys))
        for entity in entities {
            let objects = try entity.fetch(container.main)
            let rows = try #require(contents.rows[entity.name])
            #expect(Set(objects.map { "\($0.objectID.key)" }) == Set(rows.keys), "\(entity.name)")
            for object in objects { expect(object, entity.keyPaths, rows["\(object.objectID.key)"] ?? [:]) }
        }
        try await add(container)
        try await container.close()

        let next = try await open()
        #expect(next.startup.reason == .current)
        let after = try entities.reduce(0) { try $0 + $1.fetch(next.main).count }
        #expect(after == contents.rows.values.reduce(0) { $0 + $1.count } + 1)
        try await next.close()
        try expectIntact(url)
    }

    /// Expects each property that is an attribute, and one column, to have the value of the row.
    private func expect(_ object: ManagedObject, _ keyPaths: [AnyKeyPath: String], _ row: [String: String]) {
        for (keyPath, attribute) in keyPaths {
            guard let value = object[keyPath: keyPath], let found = Spelling(value) else { continue }
            let name = "\(object.objectID).\(attribute)"
            // An optional number that is declared as a plain one reads as zero.
            let expected = row[attribute] ?? (found.isZero ? found.text : nil)
            #expect(found.text == expected, "\(name)")
        }
    }
}

/// All objects of one entity and none of those below it.
private struct StoredObjects {
    let name: String
    let keyPaths: [AnyKeyPath: String]
    let fetch: @MainActor (MainContext) throws -> [ManagedObject]

    static func all<Object: ManagedObject>(_ class: Object.Type) -> StoredObjects {
        StoredObjects(name: Object.entityName, keyPaths: Object.attributeKeyPaths) { main in
            try main.fetch(Object.self).filter { $0.objectID.entityName == Object.entityName }
        }
    }
}

/// What a property holds, as ``StoreContents`` spells it.
private struct Spelling {
    let text: String?
    var isZero: Bool { text == "integer 0" || text == "real 0.0" }

    /// Nil for composites and transformables.
    init?(_ value: Any) {
        switch value {
        case let value as any BinaryInteger: text = StoreContents.integer(Int64(value))
        case let value as Bool: text = StoreContents.integer(value ? 1 : 0)
        case let value as Double: text = StoreContents.real(value)
        case let value as Float: text = StoreContents.real(Double(value))
        case let value as Date: text = StoreContents.real(value.timeIntervalSinceReferenceDate)
        case let value as String: text = StoreContents.text(value)
        case let value as Decimal: text = StoreContents.text(value.description)
        case let value as URL: text = StoreContents.text(value.absoluteString)
        case let value as Data: text = StoreContents.bytes(value)
        case let value as UUID: text = StoreContents.bytes(withUnsafeBytes(of: value.uuid) { Array($0) })
        default:
            // Nil of some type.
            let mirror = Mirror(reflecting: value)
            guard mirror.displayStyle == .optional, mirror.children.isEmpty else { return nil }
            text = nil
        }
    }
}
