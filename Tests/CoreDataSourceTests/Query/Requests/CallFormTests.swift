import CoreDataSource
import Foundation
import Testing

/// Every call that takes a predicate takes each of its three forms, and nil or none where that means all.
@MainActor @Suite struct CallFormTests {
    private struct Uid: ManagedObjectConvertible {
        var uid: String

        init(_ contact: ContactEntity) {
            uid = contact.uid
        }
    }

    private let wanted = "name 7"
    private let sort = [FetchOrder<ContactEntity>.ascending(\.uid)]

    private func withContacts(
        _ body: @MainActor (ContactDataSource, FetchPredicate<ContactEntity>) async throws -> Void
    ) async throws {
        try await withContainer(.inMemory) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<20))
            try await body(contacts, try FetchPredicate(format: "name == %@", wanted))
        }
    }

    @Test func firstTakesEveryForm() async throws {
        try await withContacts { contacts, format in
            let wanted = wanted
            let found = [
                try contacts.main.first(ContactEntity.self, where: format, order: sort),
                try contacts.main.first(ContactEntity.self, where: \.name == wanted),
                try contacts.main.first(ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == wanted })),
            ]
            #expect(found.map { $0?.uid } == ["uid-7", "uid-7", "uid-7"])
            #expect(try contacts.main.first(ContactEntity.self)?.uid == "uid-0")
            #expect(try contacts.main.first(ContactEntity.self, where: nil)?.uid == "uid-0")
            #expect(
                try contacts.main.first(ContactEntity.self, where: \.name != "", order: [.descending(\.uid)])?.uid
                    == "uid-9"
            )
            let descriptor = SortDescriptor(\ContactEntity.uid, order: .reverse)
            #expect(try contacts.main.first(ContactEntity.self, order: [FetchOrder(descriptor)])?.uid == "uid-9")
            #expect(try contacts.main.first(ContactEntity.self, where: \.name == "?") == nil)
            let inContext = try await contacts.perform { context in
                [
                    try context.first(ContactEntity.self)?.uid,
                    try context.first(ContactEntity.self, where: format)?.uid,
                    try context.first(ContactEntity.self, where: \.name == wanted)?.uid,
                    try context.first(ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == wanted }))?.uid,
                ]
            }
            #expect(inContext == ["uid-0", "uid-7", "uid-7", "uid-7"])
        }
    }

    @Test func existsTakesEveryForm() async throws {
        try await withContacts { contacts, format in
            let wanted = wanted
            #expect(try contacts.main.exists(ContactEntity.self))
            #expect(try contacts.main.exists(ContactEntity.self, where: nil))
            #expect(try contacts.main.exists(ContactEntity.self, where: format))
            #expect(try contacts.main.exists(ContactEntity.self, where: \.name == wanted))
            #expect(try !contacts.main.exists(ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == "?" })))
            let inContext = try await contacts.perform { context in
                [
                    try context.exists(ContactEntity.self),
                    try context.exists(ContactEntity.self, where: format),
                    try context.exists(ContactEntity.self, where: \.name == wanted),
                    try context.exists(ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == "?" })),
                ]
            }
            #expect(inContext == [true, true, true, false])
            try await contacts.delete(ContactEntity.self, where: nil)
            #expect(try !contacts.main.exists(ContactEntity.self))
            #expect(try contacts.main.first(ContactEntity.self) == nil)
        }
    }

    @Test func requestsTakeEveryForm() async throws {
        try await withContacts { contacts, format in
            let wanted = wanted
            let requests: [ObjectRequest<ContactEntity>] = [
                ObjectRequest(ContactEntity.self, where: format, order: sort),
                ObjectRequest(ContactEntity.self, where: \.name == wanted, order: sort),
                ObjectRequest(ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == wanted }), order: sort),
                ObjectRequest(where: \.name == wanted, order: sort, limit: 3),
                ObjectRequest(where: format, order: [.descending(\.uid)]),
                ObjectRequest(where: \.name == wanted, order: [.descending(\.uid)]),
                ObjectRequest(where: FetchPredicate(#Predicate { $0.name == wanted }), order: [.descending(\.uid)]),
            ]
            let found = try requests.map { try contacts.fetch($0).map(\.uid) }
            #expect(found == Array(repeating: ["uid-7"], count: requests.count))
            #expect(try contacts.main.count(ObjectRequest(ContactEntity.self, where: nil)) == 20)
            #expect(try contacts.main.count(ObjectRequest(ContactEntity.self, where: nil, order: sort)) == 20)
        }
    }

    @Test func valuesTakeEveryForm() async throws {
        try await withContacts { contacts, format in
            let wanted = wanted
            var found = try await contacts.fetch(as: Uid.self, ObjectRequest(where: format))
            found += try await contacts.fetch(as: Uid.self, ObjectRequest(where: \.name == wanted))
            found += try await contacts.fetch(
                as: Uid.self, ObjectRequest(where: FetchPredicate(#Predicate { $0.name == wanted })))
            found += try contacts.main.fetch(as: Uid.self, ObjectRequest(where: format))
            found += try contacts.main.fetch(as: Uid.self, ObjectRequest(where: \.name == wanted))
            found += try contacts.main.fetch(
                as: Uid.self, ObjectRequest(where: FetchPredicate(#Predicate { $0.name == wanted })))
            found += try await contacts.perform { context in
                try context.fetch(as: Uid.self, ObjectRequest(where: format))
                    + context.fetch(as: Uid.self, ObjectRequest(where: \.name == wanted))
                    + context.fetch(
                        as: Uid.self, ObjectRequest(where: FetchPredicate(#Predicate { $0.name == wanted })))
            }
            #expect(found.map(\.uid) == Array(repeating: "uid-7", count: 9))
            #expect(try await contacts.fetch(as: Uid.self, ObjectRequest(where: nil)).count == 20)
            #expect(try await contacts.fetch(as: Uid.self).count == 20)
        }
    }

    @Test func updatesTakeEveryForm() async throws {
        try await withContacts { contacts, format in
            let wanted = wanted
            let reports = [
                try await contacts.update(ContactEntity.self, where: format, set: [.set(\.phone, "1")]),
                try await contacts.update(ContactEntity.self, where: \.name == wanted, set: [.set(\.phone, "2")]),
                try await contacts.update(
                    ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == wanted }),
                    set: [.set(\.phone, "3")]),
            ]
            #expect(reports == Array(repeating: SaveReport(updated: 1), count: 3))
            #expect(try contacts.main.first(ContactEntity.self, where: \.name == wanted)?.phone == "3")
            #expect(try await contacts.update(ContactEntity.self, set: [.set(\.phone, "x")]).updated == 20)
            #expect(try await contacts.update(ContactEntity.self, where: nil, set: [.set(\.phone, "y")]).updated == 20)
            let favorites = try await contacts.update(
                ContactEntity.self, where: !\.isFavorite, set: [.set(\.isFavorite, true)])
            #expect(favorites.updated == 20)
        }
    }

    @Test func deletionsTakeEveryForm() async throws {
        try await withContacts { contacts, format in
            let other = "name 9"
            let reports = [
                try await contacts.delete(ContactEntity.self, where: format),
                try await contacts.delete(ContactEntity.self, where: \.name == "name 8", waitFor: .main),
                try await contacts.delete(ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == other })),
            ]
            #expect(reports == Array(repeating: SaveReport(deleted: 1), count: 3))
            #expect(try contacts.count(ContactEntity.self) == 17)
        }
    }

    @Test func theScopeOfASyncTakesEveryForm() async throws {
        try await withContacts { contacts, format in
            let (wanted, other) = (wanted, "name 9")
            let list = [ContactData(uid: "uid-0", name: "name 0", phone: "0")]
            let plans = [
                try await contacts.planSync(list, entity: ContactEntity.self, scope: format),
                try await contacts.planSync(list, entity: ContactEntity.self, scope: \.name == wanted),
                try await contacts.planSync(
                    list, entity: ContactEntity.self, scope: FetchPredicate(#Predicate { $0.name == wanted })),
            ]
            #expect(plans.map(\.deleted) == [1, 1, 1])
            let syncs = [
                try await contacts.sync(list, entity: ContactEntity.self, scope: format),
                try await contacts.sync(list, entity: ContactEntity.self, scope: \.name == "name 8", waitFor: .main),
                try await contacts.sync(
                    list, entity: ContactEntity.self, scope: FetchPredicate(#Predicate { $0.name == other })),
            ]
            #expect(syncs.map(\.deleted) == [1, 1, 1])
            #expect(try await contacts.sync(list, entity: ContactEntity.self, scope: nil).deleted == 16)
        }
    }

    @Test func listsTakeEveryForm() async throws {
        try await withContacts { contacts, format in
            let wanted = wanted
            let lists = [
                try contacts.list(ObjectRequest(ContactEntity.self, where: format)),
                try contacts.list(ObjectRequest(ContactEntity.self, where: \.name == wanted, limit: 3)),
                try contacts.list(
                    ObjectRequest(
                        ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == wanted }), order: sort)),
            ]
            for list in lists { #expect(list.snapshot.map(\.uid) == ["uid-7"]) }
            #expect(try contacts.list(ObjectRequest(ContactEntity.self, where: nil)).count == 20)
            for updates in [
                contacts.updates(ObjectRequest(ContactEntity.self, where: format)),
                contacts.updates(
                    ObjectRequest(ContactEntity.self, where: \.name == wanted, order: sort), sectionBy: \.initial),
                contacts.updates(
                    ObjectRequest(ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == wanted })),
                    buffering: .every()),
            ] {
                var iterator = updates.makeAsyncIterator()
                #expect(await iterator.next()?.snapshot.map(\.uid) == ["uid-7"])
            }
            let delegate = RecordingDelegate()
            try contacts.register(delegate, dataKey: "1", ObjectRequest(ContactEntity.self, where: format))
            try contacts.register(delegate, dataKey: "2", ObjectRequest(ContactEntity.self, where: \.name == wanted))
            try contacts.register(
                delegate, dataKey: "3",
                ObjectRequest(ContactEntity.self, where: FetchPredicate(#Predicate { $0.name == wanted }), order: sort),
                sectionBy: \.initial)
            for key in ["1", "2", "3"] {
                #expect(contacts.allObjects(dataKey: key, as: ContactEntity.self).map(\.uid) == ["uid-7"])
            }
        }
    }
}
