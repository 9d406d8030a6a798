import CoreDataSource
import ErrorExpectations
import Foundation
import QueryLanguage
import SQLiteStore
import Testing

/// How the rows of a request are found.
@MainActor
struct PlanTests {
    private func withContacts(_ body: @MainActor (ContactDataSource) async throws -> Void) async throws {
        try await withContainer(.sqlite) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<300))
            try await body(contacts)
        }
    }

    @Test func aRangeIsFoundByItsIndexInWhateverOrder() async throws {
        try await withContacts { contacts in
            let above = ObjectRequest(ContactEntity.self, where: \ContactEntity.uid > "uid-97")
            let plan = try contacts.main.explain(above)
            #expect(plan.steps.contains { $0.hasPrefix("SEARCH") }, "\(plan)")
            #expect(plan.warnings.isEmpty, "\(plan)")
            #expect(try contacts.fetch(above).map(\.uid) == ["uid-98", "uid-99"])
            // A whole table, and one object of it, are read in order.
            #expect(try contacts.main.explain(ObjectRequest(ContactEntity.self)).warnings.isEmpty)
        }
    }

    @Test func sortingIsWarnedOfOnlyIfItWasAskedFor() async throws {
        try await withContacts { contacts in
            let some = FetchPredicate<ContactEntity>(
                .isIn(.keyPath(["uid"]), .list([.constant(.text("uid-1")), .constant(.text("uid-2"))]), []))
            #expect(try contacts.main.explain(ObjectRequest(ContactEntity.self, where: some)).warnings.isEmpty)
            let sorted = ObjectRequest(ContactEntity.self, where: some, order: [FetchOrder(SortDescriptor(\.age))])
            let plan = try contacts.main.explain(sorted)
            #expect(plan.warnings.count == 1)
        }
    }

    @Test func aStoreInMemoryGetsNoWarningsAboutIndexes() async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            let request = ObjectRequest(ContactEntity.self, where: \ContactEntity.uid == "1")
            #expect(try contacts.main.explain(request).warnings.isEmpty)
        }
    }

    @Test func constantExpressionsAreCalculatedBefore() async throws {
        try await withContacts { contacts in
            let negative = FetchPredicate(#Predicate<ContactEntity> { $0.age == -1 })
            #expect(negative.predicateFormat == "age == -1")
            for format in ["uid == lowercase('UID-7')", "uid == CAST('uid-7', 'NSString')"] {
                let request = ObjectRequest(ContactEntity.self, where: try FetchPredicate(format: format))
                #expect(try contacts.main.explain(request).warnings.isEmpty, "\(format)")
                #expect(try contacts.fetch(request).map(\.uid) == ["uid-7"], "\(format)")
            }
            let none = try FetchPredicate<ContactEntity>(format: "age == 1 / 0 OR age > 9223372036854775807 + 1")
            #expect(try contacts.count(ContactEntity.self, where: none) == 0)
        }
    }

    @Test func aRequiredAttributeIsNotAskedForNil() async throws {
        try await withContacts { contacts in
            let optional = try FetchPredicate<ContactEntity>(format: "phone > 'x' OR phone == nil")
            let required = try FetchPredicate<ContactEntity>(format: "name > 'name 298' OR name == nil")
            let noOther = try FetchPredicate<ContactEntity>(format: "name == nil OR uid == nil")
            let asked = try contacts.main.explain(ObjectRequest(ContactEntity.self, where: optional))
            #expect(asked.sql[0].contains("NULL"))
            let plan = try contacts.main.explain(ObjectRequest(ContactEntity.self, where: required))
            #expect(!plan.sql[0].contains("NULL") && plan.steps.contains { $0.hasPrefix("SEARCH") }, "\(plan)")
            #expect(try contacts.count(ContactEntity.self, where: optional) == 150)
            #expect(
                try contacts.count(ContactEntity.self, where: required)
                    == contactList(0..<300).count { $0.name > "name 298" })
            #expect(try contacts.count(ContactEntity.self, where: noOther) == 0)
            #expect(try contacts.count(ContactEntity.self, where: !noOther) == 300)
        }
    }

    @Test func noMoreObjectsAreAskedThanAreWanted() async throws {
        try await withContacts { contacts in
            let asked = Shared(0)
            let test = FetchPredicate<ContactEntity>(
                .custom(
                    ObjectMatcher("counts") { object in
                        asked.value += 1
                        return (object as? ContactEntity)?.uid.hasSuffix("7") ?? false
                    }))
            var request = ObjectRequest(
                ContactEntity.self, where: test, order: [FetchOrder(SortDescriptor(\.name))], limit: 3, offset: 1)
            let all = try contacts.fetch(ContactEntity.self, where: test, order: [SortDescriptor(\.name)]).map(\.uid)
            #expect(all.count == 30)
            asked.value = 0
            #expect(try contacts.fetch(request).map(\.uid) == Array(all[1..<4]))
            #expect(asked.value <= 64)
            asked.value = 0
            #expect(try contacts.main.exists(request))
            #expect(asked.value <= 64)
            // Several batches, and the last one.
            request.limit = 20
            #expect(try contacts.fetch(request).map(\.uid) == Array(all[1..<21]))
            request.limit = 200
            #expect(try contacts.fetch(request).map(\.uid) == Array(all[1...]))
            request.limit = 0
            #expect(try contacts.fetch(request).isEmpty)
            let edited = try await contacts.perform { context in
                for contact in try context.fetch(ContactEntity.self) { contact.name = "x" }
                return try context.fetch(ObjectRequest(ContactEntity.self, where: test, limit: 20)).count
            }
            #expect(edited == 20)
        }
    }

    @Test func registeredObjectsAreFoundWithoutSQLite() async throws {
        try await withContainer(.sqlite) { container, _ in
            let store = try #require(container.stack.root.store as? SQLiteStore)
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<300))
            let run = try await contacts.perform { context in
                let all = try context.fetch(ContactEntity.self)
                let before = store.counters.statementsRun
                for contact in all {
                    let uid = contact.uid
                    #expect(try context.first(ContactEntity.self, where: \.uid, equals: uid) === contact)
                    #expect(try context.fetch(ContactEntity.self, where: \.uid == uid).first === contact)
                    #expect(try context.object(ContactEntity.self, id: contact.objectID) === contact)
                }
                return store.counters.statementsRun - before
            }
            #expect(run == 0)
        }
    }

    @Test func readingAllRowsInOrderIsWarnedOf() async throws {
        try await withContacts { contacts in
            let phone = \ContactEntity.phone == "2"
            let request = ObjectRequest(ContactEntity.self, where: phone, order: [FetchOrder(SortDescriptor(\.uid))])
            let plan = try contacts.main.explain(request)
            #expect(plan.steps.contains { $0.contains("USING INDEX") } && plan.warnings.count == 1, "\(plan)")
        }
    }

    @Test func anUntestablePartIsAnErrorWhereverItStands() async throws {
        try await withContacts { contacts in
            try await contacts.add(ContactData(uid: "long", name: String(repeating: "a", count: 40) + "!", phone: "x"))
            let slow = try FetchPredicate<ContactEntity>(format: "name MATCHES '(a+)+b'")
            let predicates = [
                slow, !slow,
                try FetchPredicate<ContactEntity>(format: "name CONTAINS TERNARY(name MATCHES '(a+)+b', uid, phone)"),
                FetchPredicate<ContactEntity>(.custom(ObjectMatcher("never") { _ in false })) || slow,
            ]
            for predicate in predicates {
                expectError(.invalidPredicate, "\(predicate)") {
                    try contacts.fetch(ContactEntity.self, where: predicate)
                }
            }
            await expectError(.invalidPredicate) {
                try await contacts.delete(ContactEntity.self, where: !slow)
            }
            #expect(try contacts.count(ContactEntity.self) == 301)
            expectThrows(DataSourceError.self) { try contacts.list(ObjectRequest(ContactEntity.self, where: slow)) }
        }
    }

    @Test(arguments: [(45, 20), (100, 18), (1700, 3), (2, 90)])
    func wideAndDeepTreesAreAnswered(width: Int, depth: Int) async throws {
        try await withContacts { contacts in
            let none = \ContactEntity.phone == "none"
            var tree = \ContactEntity.name == "name 7"
            for level in 0..<depth {
                let terms = Array(repeating: level % 2 == 0 ? none : !none, count: width - 1)
                tree = terms.reversed().reduce(tree) { tree, term in level % 2 == 0 ? term || tree : term && tree }
            }
            let found = try contacts.fetch(ContactEntity.self, where: tree).map(\.uid)
            #expect(found == ["uid-7"])
        }
    }

    @Test func aCursorOfAnotherContainerIsRefused() async throws {
        try await withContacts { contacts in
            let chat = try await PersistentContainer(model: .chat, store: .inMemory)
            let rooms = try chat.dataSource(RoomDataSource.self)
            try await rooms.add(ItemData(key: "a", number: 1, text: nil))
            var request = ObjectRequest(ContactEntity.self)
            request.after = FetchCursor(try #require(try rooms.fetch(Room.self).first))
            expectError(.invalidPredicate) { try contacts.fetch(request) }
        }
    }
}
