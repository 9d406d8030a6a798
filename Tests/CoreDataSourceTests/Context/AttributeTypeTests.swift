import CoreDataSource
import Foundation
import Testing

/// Every attribute type goes through the store and comes back.
@MainActor
struct AttributeTypeTests {
    private let uuid = UUID()

    @Test(arguments: StoreKind.allCases)
    func everyTypeComesBack(kind: StoreKind) async throws {
        let directory = try TemporaryDirectory()
        let location: StoreLocation = kind == .sqlite ? .sqlite(directory.store) : .inMemory
        var container = try await PersistentContainer(model: .allTypes, store: location)
        let uuid = uuid
        try await container.dataSource(PlainDataSource<Bounded, EveryType>.self).perform { context in
            let object = try context.insert(EveryType.self)
            object.binaryRequired = Data([0, 1, 255])
            object.binaryOptional = Data()
            object.uriRequired = try #require(URL(string: "https://example.org/a?b=c#d"))
            object.uuidRequired = uuid
            object.dateRequired = Date(timeIntervalSinceReferenceDate: -0.125)
            object.decimalOptional = Decimal(string: "-0.00000000000000000001")
            object.doubleOptional = -.infinity
            object.doubleRequired = -0.0
            object.floatOptional = .greatestFiniteMagnitude
            object.integer16Optional = .min
            object.integer32Optional = .max
            object.integer64Optional = .min
            object.stringOptional = "a\0b 👩‍👩‍👧‍👦 e\u{301}"
            object.booleanOptional = false
        }
        if kind == .sqlite {
            try await container.close()
            container = try await PersistentContainer(model: .allTypes, store: location)
        }
        let object = try #require(try container.main.fetch(EveryType.self).first)
        #expect(object.binaryRequired == Data([0, 1, 255]))
        #expect(object.binaryOptional == Data())
        #expect(object.uriRequired.absoluteString == "https://example.org/a?b=c#d")
        #expect(object.uuidRequired == uuid)
        #expect(object.uuidOptional == nil)
        #expect(object.dateRequired == Date(timeIntervalSinceReferenceDate: -0.125))
        #expect(object.dateOptional == nil)
        #expect(object.decimalRequired == Decimal(string: "12345678901234567890.123456789"))
        #expect(object.decimalOptional == Decimal(string: "-0.00000000000000000001"))
        #expect(object.doubleOptional == -.infinity)
        #expect(object.doubleRequired.sign == .plus)
        #expect(object.floatOptional == .greatestFiniteMagnitude)
        #expect(object.floatRequired == 1.5)
        #expect(object.integer16Optional == .min)
        #expect(object.integer16Required == -16)
        #expect(object.integer16Zero == 0)
        #expect(object.integer32Optional == .max)
        #expect(object.integer64Optional == .min)
        #expect(object.integer64Required == .max)
        #expect(object.stringOptional?.utf8.elementsEqual("a\0b 👩‍👩‍👧‍👦 e\u{301}".utf8) == true)
        #expect(object.stringRequired == "say \"hi\" \\(there)")
        #expect(object.booleanOptional == false)
        #expect(object.booleanRequired)
        try await container.close()
    }

    @Test(arguments: StoreKind.allCases)
    func compositesAndTransformablesAreReadAsWritten(kind: StoreKind) async throws {
        let address = Address(
            class: "home", coordinate: Coordinate(latitude: 1.5, longitude: -2), street: "Main", tags: ["a", "ä"])
        let directory = try TemporaryDirectory()
        let location: StoreLocation = kind == .sqlite ? .sqlite(directory.store) : .inMemory
        let container = try await PersistentContainer(model: .allTypes, store: location)
        let places = try container.dataSource(PlainDataSource<Place, Special>.self)
        try await places.perform { context in
            let place = try context.insert(Place.self)
            #expect(place.address == nil)
            place.title = "1"
            place.address = address
            place.origin.latitude = 4
            try context.insert(Place.self).title = "2"
            try context.insert(Special.self).tags = ["x", "y"]
        }
        let found = try container.main.fetch(Place.self, order: [SortDescriptor(\.title)])
        #expect(found.map(\.address) == [address, nil])
        #expect(found.map(\.origin.latitude) == [4, 0])
        #expect(try container.main.fetch(Special.self).map(\.tags) == [["x", "y"]])
        try await places.perform(waitFor: .main) { try $0.fetch(Place.self).first?.address = nil }
        #expect(found.first?.address == nil)
        try await container.close()
    }

    @Test func settingTheSameValueIsNoEdit() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(ContactData(uid: "a", name: "n", phone: nil))
            try await contacts.perform { context in
                let contact = try #require(try context.first(ContactEntity.self, where: \.uid, equals: "a"))
                contact.name = "n"
                contact.phone = nil
                contact.birthday = nil
                #expect(!contact.hasChanges)
                contact.name = "m"
                #expect(contact.changedAttributes == ["name"])
                contact.name = "n"
            }
            #expect(container.stack.root.newestSave == 1, "a save was made of an edit that was rolled back")
        }
    }
}
