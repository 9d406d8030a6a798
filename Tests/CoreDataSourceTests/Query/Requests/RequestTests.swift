import CoreDataSource
import ErrorExpectations
import Foundation
import QueryLanguage
import Testing

/// What a request can ask for beyond objects that match.
@MainActor
struct RequestTests {
    private func withContacts(
        _ kind: StoreKind, _ body: @MainActor (ContactDataSource) async throws -> Void
    ) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add((0..<20).map { ContactData(uid: "\($0)", name: "n\($0 % 5)", phone: nil) })
            try await body(contacts)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func pagesFollowEachOtherWhateverIsAddedBetween(kind: StoreKind) async throws {
        try await withContacts(kind) { contacts in
            var request = ObjectRequest(ContactEntity.self, order: [.descending(\.name)], limit: 6)
            var pages: [String] = []
            while case let page = try contacts.fetch(request), let last = page.last {
                pages += page.map(\.uid)
                request.after = FetchCursor(last)
                // One that belongs to a page that was there, and one that comes at the end of all.
                try await contacts.add(ContactData(uid: "new \(pages.count)", name: "z", phone: nil))
                try await contacts.delete(ContactData(uid: last.uid, name: "", phone: nil))
            }
            let expected = (0..<20).sorted { ($0 % 5, -$0) > ($1 % 5, -$1) }.map(String.init)
            #expect(pages == expected)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func stringsAreSortedAsRequested(kind: StoreKind) async throws {
        try await withContainer(kind) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let names = ["file10", "File9", "é", "f", "E", "file9"]
            try await contacts.add(names.enumerated().map { ContactData(uid: "\($0)", name: $1, phone: nil) })
            @MainActor func sorted(_ order: FetchOrder<ContactEntity>) throws -> [String] {
                try contacts.fetch(ObjectRequest(ContactEntity.self, order: [order])).map(\.name)
            }
            #expect(try sorted(.ascending(\.name)) == ["E", "File9", "f", "file10", "file9", "é"])
            #expect(
                try sorted(.ascending(\.name, [.caseInsensitive, .diacriticInsensitive, .numeric]))
                    == ["é", "E", "f", "File9", "file9", "file10"])
            let byLength = FetchCollation { lhs, rhs in
                lhs.count == rhs.count
                    ? .orderedSame : lhs.count < rhs.count ? .orderedAscending : .orderedDescending
            }
            #expect(
                try sorted(.by(\.name, byLength)) == ["é", "f", "E", "File9", "file9", "file10"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func valuesComeWithoutObjects(kind: StoreKind) async throws {
        try await withContacts(kind) { contacts in
            var request = ObjectRequest(
                ContactEntity.self, where: \ContactEntity.name < "n2",
                order: [.ascending(\.name)])
            let values = try contacts.main.values(request, \.name, \.uid, \.phone)
            #expect(values.map { $0.0 + $0.1 } == ["n00", "n05", "n010", "n015", "n11", "n16", "n111", "n116"])
            #expect(values.allSatisfy { $0.2 == nil })
            request.isDistinct = true
            #expect(try contacts.main.values(request, \.name) == ["n0", "n1"])
            request.offset = 1
            #expect(try contacts.main.values(request, \.name) == ["n1"])
            let inBatch = try await contacts.perform { context in
                try context.insert(ContactEntity.self).name = "n1!"
                try context.fetch(ContactEntity.self, where: \.uid == "0").first?.name = "n"
                let values = try context.values(
                    ObjectRequest(
                        ContactEntity.self, where: \ContactEntity.name < "n2",
                        order: [.ascending(\.name)]), \.name)
                context.rollback()
                return values
            }
            #expect(inBatch == ["n", "n0", "n0", "n0", "n1", "n1", "n1", "n1", "n1!"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func valuesAreAddedUp(kind: StoreKind) async throws {
        try await withContacts(kind) { contacts in
            let all = ObjectRequest(ContactEntity.self)
            let (count, phones, least, most) = try contacts.main.aggregate(
                all, .count(), .count(\.phone), .min(\.name), .max(\.name))
            #expect((count, phones, least, most) == (20, 0, "n0", "n4"))
            var some = ObjectRequest(ContactEntity.self, order: [.descending(\.name)])
            some.limit = 6
            let groups = try contacts.main.aggregate(some, groupBy: \.name, .count(), .min(\.uid))
            #expect(groups.map(\.key) == ["n4", "n3"])
            #expect(groups.map(\.values.0) == [4, 2])
            #expect(groups.map(\.values.1) == ["14", "3"])
        }
    }

    @Test func numbersAreAddedUpByTheirKind() async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add((0..<10).map { ItemData(key: "\($0)", number: Int64($0), text: nil) })
        let request = ObjectRequest(Sender.self)
        let (sum, average, most) = try senders.main.aggregate(
            request, .sum(\.number), .average(\.number), .max(\.number))
        #expect(sum == 45)
        #expect(average == 4.5)
        #expect(most == 9)
        try await senders.add(ItemData(key: "much", number: .max, text: nil))
        expectError(.numberOverflow) { try senders.main.aggregate(request, .sum(\.number)) }
    }

    @Test(arguments: StoreKind.allCases)
    func idsAreFetchedInTheirOrder(kind: StoreKind) async throws {
        try await withContacts(kind) { contacts in
            let ids = try contacts.main.ids(ObjectRequest(ContactEntity.self, order: [.descending(\.name)]))
            #expect(ids.count == 20)
            try await contacts.delete(ContactData(uid: "4", name: "", phone: nil))
            #expect(try contacts.main.objects(ContactEntity.self, ids: ids).map(\.objectID) == Array(ids.dropFirst()))
            let here = try await contacts.perform { context in
                let first = try context.objects(ContactEntity.self, ids: ids.prefix(3))
                context.delete(first[0])
                return try context.objects(ContactEntity.self, ids: ids).map(\.objectID)
            }
            #expect(here == Array(ids.dropFirst(2)))
        }
    }

    @Test func subEntitiesCountOnlyIfAsked() async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(ItemData(key: "a", number: 1, text: nil))
        var request = ObjectRequest(Item.self)
        #expect(try senders.main.count(request) == 1)
        request.includesSubentities = false
        #expect(try senders.main.count(request) == 0)
        #expect(try senders.fetch(request).isEmpty)
    }

    private static func isEven(_ asked: Shared<Int>) -> FetchPredicate<ContactEntity> {
        let test = ObjectMatcher("a closure") { object in
            asked.update { $0 += 1 }
            return (object as? ContactEntity).flatMap { Int($0.uid) }?.isMultiple(of: 2) == true
        }
        return FetchPredicate(.custom(test))
    }

    @Test func testsOfObjectsComeBeforeTheWindow() async throws {
        try await withContacts(.sqlite) { contacts in
            let asked = Shared(0)
            let few = \ContactEntity.name < "n2" && RequestTests.isEven(asked)
            #expect(few.needsObjects == "a closure")
            let page = try contacts.fetch(ObjectRequest(ContactEntity.self, where: few, limit: 2, offset: 1))
            #expect(page.map(\.uid) == ["6", "10"])
            #expect(asked.value == 8)
            let odd = !RequestTests.isEven(asked) || \ContactEntity.uid == "6"
            let request = ObjectRequest(ContactEntity.self, where: odd)
            let found = try contacts.fetch(request).map(\.uid)
            #expect(found == ["1", "3", "5", "6", "7", "9", "11", "13", "15", "17", "19"])
            #expect(try contacts.main.count(request) == 11)
            #expect(try contacts.main.values(request, \.uid).first == "1")
        }
    }

    @Test func anErrorOfATestIsTheCauseOfTheError() async throws {
        try await withContacts(.sqlite) { contacts in
            let request = ObjectRequest(
                ContactEntity.self,
                where: FetchPredicate(.custom(ObjectMatcher("throws") { _ -> Bool in throw Poison() }))
            )
            expectError(.predicateFailed) { try contacts.fetch(request) }
        }
    }

    @Test func explanationsNameFullScans() async throws {
        try await withContacts(.sqlite) { contacts in
            let scan = try contacts.main.explain(
                ObjectRequest(ContactEntity.self, where: \ContactEntity.phone == "secret"))
            #expect(scan.warnings.count == 1)
            #expect(scan.sql.count == 1)
            #expect(!scan.sql[0].contains("secret"))
            let found = try contacts.main.explain(
                ObjectRequest(ContactEntity.self, where: \ContactEntity.uid == "1"))
            #expect(found.warnings.isEmpty)
            #expect(found.steps.contains { $0.contains("INDEX") })
            let prefix = FetchPredicate<ContactEntity>(.text(.keyPath(["uid"]), .beginsWith, .constant(.text("1")), []))
            let range = try contacts.main.explain(
                ObjectRequest(ContactEntity.self, where: prefix, order: [.ascending(\.uid)]))
            #expect(range.warnings.isEmpty, "\(range)")
            #expect(range.steps.contains { $0.contains("INDEX") })
            #expect(try contacts.count(ContactEntity.self, where: prefix) == 11)
        }
    }

    @Test func aCursorOfAnotherEntityIsRefused() async throws {
        let container = try await PersistentContainer(model: .chat, store: .inMemory)
        let rooms = try container.dataSource(RoomDataSource.self)
        try await rooms.add(ItemData(key: "a", number: 1, text: nil))
        var request = ObjectRequest(Sender.self)
        request.after = FetchCursor(try #require(try rooms.fetch(Room.self).first))
        expectError(.invalidPredicate) { try rooms.fetch(request) }
    }
}
