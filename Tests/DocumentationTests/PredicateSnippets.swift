import CoreDataSource
import Foundation
import FrameworkNames
import Testing

struct ContactValue: ManagedObjectConvertible {
    var name: String

    init(_ contact: ContactEntity) {
        name = contact.name
    }
}

/// The examples in the comments on predicates, orders, aggregates and requests.
@MainActor
struct PredicateSnippets {
    @Test func everyFormOfAPredicateFetches() async throws {
        let grown: FetchPredicate<ContactEntity> = \.age >= 18 && 0.5...1 ~= \.score
        let named: FetchPredicate<ContactEntity> = .contains(\.name, "yu") || \.age > 60
        let macro = FetchPredicate<ContactEntity>(#Predicate { $0.name != $0.uid })
        let format = try FetchPredicate<ContactEntity>(format: "age >= %d", 18)
        try await withContacts { _, contacts in
            let counts = try [grown, named, macro, format].map { try contacts.count(ContactEntity.self, where: $0) }
            #expect(counts == [0, 0, 3, 2])
        }
    }

    @Test func predicatesAreMadeFromOtherForms() async throws {
        let grown = FetchPredicate<ContactEntity>(#Predicate { $0.age >= 18 })
        let between =
            try FetchPredicate<ContactEntity>(format: "age BETWEEN {%d, %d}", 18, 30)
        let template = try FetchPredicate<ContactEntity>(format: "age > $AGE")
        let predicate = try template.substituting(["AGE": 18])
        try await withContacts { _, contacts in
            let found = try contacts.fetch(ContactEntity.self, where: predicate)
            #expect(found.map(\.uid) == ["1", "2"])
            #expect(try contacts.count(ContactEntity.self, where: grown) == 2)
            #expect(try contacts.fetch(ContactEntity.self, where: between).map(\.uid) == ["2"])
        }
    }

    @Test func argumentsMayBeAnArray() async throws {
        let predicate = try FetchPredicate<ContactEntity>(
            format: "age >= %@ AND name == %@", arguments: [18, "Guan Yu"])
        try await withContacts { _, contacts in
            let found = try contacts.fetch(ContactEntity.self, where: predicate)
            #expect(found.map(\.uid) == ["1"])
        }
    }

    @Test func valuesAreCompared() async throws {
        try await withContacts { _, contacts in
            let request = ObjectRequest(ContactEntity.self, where: \.phone == "110")
            let named: FetchPredicate<ContactEntity> = .contains(\.name, "guan")
            let guans: FetchPredicate<ContactEntity> = .beginsWith(\.name, "Guan")
            #expect(try contacts.count(ContactEntity.self, where: named) == 0)
            let brothers = ObjectRequest(ContactEntity.self, where: .isIn(\.uid, ["1", "2"]))
            let young = ObjectRequest(ContactEntity.self, where: .isIn(\.age, ..<18))
            let found = try [request, ObjectRequest(where: guans), brothers, young].map {
                try contacts.fetch($0).map(\.uid)
            }
            #expect(found == [["1"], ["1", "3"], ["1", "2"], ["3"]])
        }
    }

    /// The examples inside sentences.
    @Test func stringsAndRangesAreMatched() async throws {
        try await withContacts { _, contacts in
            let predicates: [FetchPredicate<ContactEntity>] = [
                .endsWith(\.name, "Fei"), .like(\.name, "G*"), .matches(\.phone, "[0-9]+"),
                .isIn(\.phone, ["110", "120"]), .isIn(\.birthday, ..<Date.now), .isIn(\.age, 18..<30),
            ]
            let found = try predicates.map { try contacts.fetch(ContactEntity.self, where: $0).map(\.uid) }
            #expect(found == [["2"], ["1", "3"], ["1"], ["1"], [], ["2"]])
            let named: FetchPredicate<ContactEntity> = .equal(\.name, "guan yu", [.caseInsensitive])
            #expect(try contacts.count(ContactEntity.self, where: named) == 1)
            let matching = StringMatching(rawValue: 3)  // [.caseInsensitive, .diacriticInsensitive]
            #expect(matching == [.caseInsensitive, .diacriticInsensitive])
        }
    }

    @Test func aContextFetches() async throws {
        try await withContacts { container, _ in
            try await container.read { context in
                var request = ObjectRequest(ContactEntity.self, where: \.age >= 18)
                request.order = [.ascending(\.name, [.caseInsensitive, .numeric])]
                let grown = try context.fetch(request)
                #expect(grown.map(\.uid) == ["1", "2"])
            }
            try await container.read { context in
                let grown = try context.fetch(ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)])
                let byName = try context.fetch(ContactEntity.self, order: [SortDescriptor(\.name)])
                let oldest = try context.first(ContactEntity.self, order: [.descending(\.age)])
                #expect(grown.count == 2 && byName.map(\.uid) == ["3", "1", "2"] && oldest?.uid == "1")
                if try context.exists(ContactEntity.self, where: \.phone == "110") { print("known") }
            }
            try await container.read { context in
                let ids = try context.ids(ObjectRequest(ContactEntity.self, where: \.age >= 18))
                let grown = try context.objects(ContactEntity.self, ids: ids)
                #expect(grown.map(\.objectID) == ids)
            }
            try await container.read { context in
                let grown = try context.fetch(as: ContactValue.self, ObjectRequest(where: \.age >= 18))
                #expect(grown.map(\.name) == ["Guan Yu", "Zhang Fei"])
            }
        }
    }

    @Test func aContextCounts() async throws {
        try await withContacts { container, _ in
            let context = container.main
            let minors = try context.count(ContactEntity.self, where: \.age < 18)
            let request = ObjectRequest(ContactEntity.self, where: \.age >= 18, limit: 100)
            let count = try context.count(request)  // at most 100
            #expect(minors == 1 && count == 2)
        }
    }

    @Test func objectsAreFetchedAsValues() async throws {
        let container = try await PersistentContainer(model: .contacts, store: .inMemory)
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(Contact(uid: "1", name: "Guan Yu", age: 32))

        struct ContactValue: ManagedObjectConvertible {
            var name: String

            init(_ contact: ContactEntity) {
                name = contact.name
            }
        }

        let grown = try await contacts.fetch(
            as: ContactValue.self, ObjectRequest(where: \.age >= 18, order: [.ascending(\.name)]))
        #expect(grown.map(\.name) == ["Guan Yu"])
        try await container.close()
    }

    @Test func aggregatesAreCalculated() async throws {
        try await withContacts { container, _ in
            let context = container.main
            let count = try context.aggregate(ObjectRequest<ContactEntity>(), .count())  // 3
            let reachable = try context.aggregate(ObjectRequest<ContactEntity>(), .count(\.phone))  // 1
            let years = try context.aggregate(ObjectRequest<ContactEntity>(), .sum(\.age))  // 75
            let average = try context.aggregate(ObjectRequest<ContactEntity>(), .average(\.age))  // 25.0
            #expect(count == 3 && reachable == 1 && years == 75 && average == 25)
            let youngest = try context.aggregate(ObjectRequest<ContactEntity>(), .min(\.age))  // 16
            let oldest = try context.aggregate(ObjectRequest<ContactEntity>(), .max(\.age))  // 32
            #expect(youngest == 16 && oldest == 32)
        }
    }

    @Test func extremesOfOptionalAttributesAreCalculated() async throws {
        try await withContacts { container, _ in
            try await container.read { context in
                let phone = try context.aggregate(ObjectRequest<ContactEntity>(), .min(\.phone))  // 110
                #expect(phone == "110")
            }
            try await container.read { context in
                let phone = try context.aggregate(ObjectRequest<ContactEntity>(), .max(\.phone))  // 110
                #expect(phone == "110")
            }
        }
    }

    @Test func ordersAreMadeInSeveralWays() async throws {
        try await withContacts { _, contacts in
            var request = ObjectRequest<ContactEntity>()
            request.order = [FetchOrder("name", isAscending: false, [.caseInsensitive])]
            let byName = try contacts.fetch(request).map(\.uid)
            request.order = [.ascending(\.group?.name), .ascending(\.name, [.caseInsensitive])]
            let byGroup = try contacts.fetch(request).map(\.uid)
            request.order = [.descending(\.age)]
            let byAge = try contacts.fetch(request).map(\.uid)
            let swedish = FetchCollation { $0.compare($1, locale: Locale(identifier: "sv")) }
            request.order = [.by(\.name, swedish)]
            let bySwedishName = try contacts.fetch(request).map(\.uid)
            let found = [byName, byGroup, byAge, bySwedishName]
            #expect(found == [["2", "1", "3"], ["3", "1", "2"], ["1", "2", "3"], ["3", "1", "2"]])
        }
    }

    @Test func requestsAreMade() async throws {
        try await withContacts { _, contacts in
            let request = ObjectRequest(ContactEntity.self, order: [SortDescriptor(\.age, order: .reverse)])
            let found = try contacts.fetch(request)
            #expect(found.map(\.uid) == ["1", "2", "3"])
        }
    }

    @Test func aCursorIsTheEndOfAPage() async throws {
        try await withContacts { _, contacts in
            var request = ObjectRequest(ContactEntity.self, order: [.descending(\.age)], limit: 1)
            let page = try contacts.fetch(request)
            request.after = page.last.map { FetchCursor($0) }
            #expect(try contacts.fetch(request).map(\.uid) == ["2"])
        }
    }

    @Test func aRequestMayHaveALimit() async throws {
        try await withContacts { _, contacts in
            let request = ObjectRequest(ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)], limit: 50)
            #expect(try contacts.fetch(request).map(\.uid) == ["1", "2"])
            try await contacts.update(
                ContactEntity.self, where: \.age >= 18, set: [.set(\.isFavorite, true), .set(\.note, nil)])
            #expect(try contacts.count(ContactEntity.self, where: \.isFavorite == true) == 2)
        }
    }
}
