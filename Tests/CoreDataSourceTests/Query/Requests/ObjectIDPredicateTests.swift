import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

extension ContactEntity {
    /// An id that is no property of the model.
    fileprivate var sameID: ManagedObjectID { objectID }
}

/// The predicate for objects with given ids.
@MainActor
struct ObjectIDPredicateTests {
    private nonisolated static func check(
        _ context: ManagedObjectContext, _ ids: [ManagedObjectID], _ place: String
    ) throws {
        let wanted = Set(ids)
        let all = try context.fetch(ContactEntity.self, order: [.descending(\.name)])
        let predicate = FetchPredicate<ContactEntity>.isIn(\.objectID, ids)
        let found = try context.fetch(ContactEntity.self, where: predicate, order: [.descending(\.name)])
        let listed = all.filter { wanted.contains($0.objectID) }
        #expect(found.map(\.uid) == listed.map(\.uid), "\(place)")
        #expect(try context.count(ContactEntity.self, where: predicate) == listed.count, "\(place)")
        #expect(try context.count(ContactEntity.self, where: !predicate) == all.count - listed.count, "\(place)")
        let mixed = predicate && .contains(\.name, "1")
        #expect(
            Set(try context.fetch(ContactEntity.self, where: mixed).map(\.uid))
                == Set(listed.filter { $0.name.contains("1") }.map(\.uid)), "\(place)")
        let longest = try context.aggregate(ObjectRequest(where: predicate), .count(\.phone), .max(\.name))
        #expect(longest.0 == Int64(listed.count { $0.phone != nil }) && longest.1 == listed.first?.name, "\(place)")
    }

    @Test(arguments: StorePlace.all) func everyContextFindsTheObjectsWithTheIDs(place: StorePlace) async throws {
        try await place.withSource(ContactDataSource.self) { container, contacts in
            let groups = try container.dataSource(GroupDataSource.self)
            try await groups.add(GroupData(gid: "g", name: "Oath"))
            let group = try #require(try groups.fetch(GroupEntity.self).first).objectID
            try await contacts.add(contactList(0..<300, name: { "name \($0 * 7919 % 1000 + 1000)" }))
            var random = SeededRandom(seed: testSeed())
            for round in 0..<6 {
                let seed = random.next()
                let all = try contacts.fetch(ContactEntity.self).map(\.objectID)
                var ids = all.filter { _ in random.next(below: [300, 3, 1][round % 3]) == 0 } + [group]
                ids += ids.prefix(2)
                try Self.check(contacts.main, ids, "on main")
                try await container.read { [ids] in try Self.check($0, ids, "in a snapshot") }
                try await contacts.perform { [ids] context in
                    try Self.check(context, ids, "in a batch without edits")
                    var random = SeededRandom(seed: seed)
                    for object in try context.fetch(ContactEntity.self) where random.next(below: 20) == 0 {
                        if random.next(below: 3) == 0 {
                            context.delete(object)
                        } else {
                            object.name = "1 \(round)\(object.uid)"
                        }
                    }
                    let new = try context.insert(ContactEntity.self)
                    (new.uid, new.name) = ("new \(round)", "new \(round)")
                    try Self.check(context, ids + [new.objectID], "in a batch")
                }
                let draft = try contacts.draft(inserting: ContactEntity.self)
                (draft.object.uid, draft.object.name) = ("draft", "draft 1")
                try Self.check(draft.context, ids + [draft.object.objectID], "in a draft")
                draft.discard()
            }
        }
    }

    /// SQLite allows 32,766 variables, PostgreSQL 65,535.
    @Test(arguments: StorePlace.all) func aPredicateMayHaveMoreIDsThanSQLVariables(place: StorePlace) async throws {
        try await place.withSource(ContactDataSource.self) { container, contacts in
            try await contacts.add(contactList(0..<50))
            let ids = try contacts.main.ids(ObjectRequest<ContactEntity>(limit: 3))
            let layout = container.stack.layout.entity(named: "ContactEntity")!
            let many = (1_000_000..<1_070_000).map { ManagedObjectID(layout, key: $0) } + ids
            let before = container.statementCount
            #expect(try contacts.count(ContactEntity.self, where: .isIn(\.objectID, many)) == 3)
            #expect(container.statementCount - before <= 1)
            #expect(try contacts.count(ContactEntity.self, where: !.isIn(\.objectID, many)) == 47)
        }
    }

    /// However many ids there are, and wherever the existing ones stand among them.
    @Test(arguments: StorePlace.all) func anyNumberOfObjectsIsFoundInOneStatement(place: StorePlace) async throws {
        try await place.withSource(ContactDataSource.self) { container, contacts in
            try await contacts.add(contactList(0..<50))
            let ids = try contacts.main.ids(ObjectRequest<ContactEntity>(order: [.descending(\.uid)], limit: 3))
            let layout = try #require(container.stack.layout.entity(named: "ContactEntity"))
            let others = (1_000_000..<1_070_000).map { ManagedObjectID(layout, key: $0) }
            let many = [ids[2]] + others[..<40_000] + [ids[0]] + others[40_000...] + [ids[1], ids[2]]
            let before = container.statementCount
            let found = try contacts.main.objects(ContactEntity.self, ids: many).map(\.objectID)
            #expect(container.statementCount - before <= 1)
            #expect(found == [ids[2], ids[0], ids[1], ids[2]])
            let (read, statements) = try await contacts.perform { context in
                let before = container.statementCount
                let read = try context.objects(ContactEntity.self, ids: many).map(\.objectID)
                return (read, container.statementCount - before)
            }
            #expect(read == found && statements <= 1)
        }
    }

    @Test func thePredicateIsAlsoForRelatedObjectsAndForLists() async throws {
        try await StorePlace.sqlite.withSource(ContactDataSource.self) { container, contacts in
            try await contacts.add(contactList(0..<4))
            let all = try contacts.fetch(ContactEntity.self, order: [.ascending(\.uid)])
            let ids = [all[1].objectID, all[3].objectID]
            let list = try contacts.list(
                ObjectRequest(ContactEntity.self, where: .isIn(\.objectID, ids), order: [.descending(\.name)]))
            #expect(list.snapshot.map(\.uid) == ["uid-3", "uid-1"])
            try await contacts.add(ContactData(uid: "uid-1", name: "z"), waitFor: .main)
            try await contacts.add(ContactData(uid: "uid-2", name: "z"), waitFor: .main)
            #expect(list.snapshot.map(\.uid) == ["uid-1", "uid-3"])
            try await contacts.delete(ContactData(uid: "uid-3", name: ""), waitFor: .main)
            #expect(list.snapshot.map(\.uid) == ["uid-1"])
            #expect(list.index(of: ids[0]) == 0 && list.index(of: ids[1]) == nil)
            #expect(
                try contacts.count(ContactEntity.self, where: FetchPredicate(format: "SELF IN %@", ids)) == 1)
            #expect(try contacts.count(GroupEntity.self, where: .any(\.members, .isIn(\.objectID, ids))) == 0)
            #expect(FetchPredicate<ContactEntity>.isIn(\.objectID, []).predicateFormat == "SELF IN {}")
            expectThrows(DataSourceError.self) {
                try contacts.fetch(ContactEntity.self, where: .isIn(\.sameID, ids))
            }
        }
    }

    /// Ids that were decoded have the name of their entity, and may have any key.
    @Test(arguments: StorePlace.all) func anIDOfAnotherEntityMatchesNothing(place: StorePlace) async throws {
        try await place.withSource(ContactDataSource.self) { container, contacts in
            try await contacts.add(contactList(0..<1))
            let id = try #require(try contacts.fetch(ContactEntity.self).first).objectID
            let text = String(decoding: try JSONEncoder().encode(id), as: UTF8.self)
            let other = try JSONDecoder().decode(
                ManagedObjectID.self, from: Data(text.replacing("ContactEntity", with: "GroupEntity").utf8))
            #expect(try contacts.fetch(ContactEntity.self, where: .isIn(\.objectID, [other])).isEmpty)
            #expect(try contacts.fetch(ContactEntity.self, where: .isIn(\.objectID, [other, id])).count == 1)
        }
    }
}
