import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// A record is taken back in a new save, which is merged with everything that was saved since.
@MainActor
struct RevertTests {
    private func edit(
        _ source: ContactDataSource, _ uid: String = "uid-0", _ body: @escaping @Sendable (ContactEntity) -> Void
    ) async throws {
        try await source.perform { context in
            body(try #require(try context.first(ContactEntity.self, where: \.uid, equals: uid)))
        }
    }

    private func contact(_ container: PersistentContainer, _ uid: String = "uid-0") throws -> ContactEntity? {
        try container.main.first(ContactEntity.self, where: \.uid, equals: uid)
    }

    private func withContacts(
        _ place: HistoryPlace, _ body: @MainActor (PersistentContainer, ContactDataSource) async throws -> Void
    ) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<2))
            try await body(container, contacts)
        }
    }

    @Test(arguments: HistoryPlace.all)
    func changedValuesBecomeTheOldValues(place: HistoryPlace) async throws {
        try await withContacts(place) { container, contacts in
            try await edit(contacts) { ($0.name, $0.note) = ("new", "new") }
            try await edit(contacts) { $0.age = 7 }
            let record = try await container.records()[1]
            let report = try await container.revert(record)
            #expect(report.save == SaveReport(updated: 1) && report.conflicts.isEmpty && report.merged.isEmpty)
            let found = try #require(try contact(container))
            #expect(found.name == "name 0" && found.note == nil && found.age == 7)
            // Nothing is left to revert.
            #expect(try await container.revert(record).save == SaveReport())
            #expect(try await container.records().map(\.kind) == [.incoming, .local, .local, .local])
        }
    }

    @Test(arguments: HistoryPlace.all)
    func anInsertedObjectIsDeletedAndADeletedOneComesBack(place: HistoryPlace) async throws {
        try await withContacts(place) { container, contacts in
            let id = try #require(try contact(container)?.objectID)
            try await contacts.perform { try $0.insert(ContactEntity.self).uid = "x" }
            try await contacts.perform { try $0.delete(ContactEntity.self, where: \.uid == "uid-0") }
            let records = try await container.records()
            #expect(try await container.revert(records[2]).save == SaveReport(inserted: 1))
            let found = try #require(try contact(container))
            #expect(found.objectID == id && found.name == "name 0" && found.phone == "0")
            #expect(try await container.revert(records[1]).save == SaveReport(deleted: 1))
            #expect(try contact(container, "x") == nil)
            // It exists again, and it is gone already.
            for record in records[1...] { #expect(try await container.revert(record).save == SaveReport()) }
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aValueThatWasChangedSinceIsAConflict(place: HistoryPlace) async throws {
        try await withContacts(place) { container, contacts in
            try await edit(contacts) { ($0.name, $0.age) = ("first", 1) }
            try await edit(contacts) { $0.name = "second" }
            let record = try await container.records()[1]
            let error = try #require(await expectError(.draftConflict) { try await container.revert(record) })
            #expect(error.message.contains("ContactEntity") && error.attributeName == "name")
            #expect(
                error.message.contains("was changed by record 2, and again by another save. Revert with resolving:"))
            let found = try #require(try contact(container))
            #expect(found.name == "second" && found.age == 1)
            let kept = try await container.revert(record, resolving: .takeTheirs)
            #expect(found.name == "second" && found.age == 0)
            let conflict = try #require(kept.conflicts.first)
            #expect(conflict.base as? String == "first" && conflict.mine as? String == "name 0")
            #expect(conflict.theirs as? String == "second" && conflict.choice == .theirs)
            try await container.revert(record, resolving: .keepMine)
            #expect(found.name == "name 0")
        }
    }

    @Test(arguments: HistoryPlace.all)
    func anInsertedObjectThatWasEditedSinceIsAConflict(place: HistoryPlace) async throws {
        try await withContacts(place) { container, contacts in
            try await contacts.perform { try $0.insert(ContactEntity.self).uid = "x" }
            try await edit(contacts, "x") { $0.name = "edited" }
            let record = try await container.records()[1]
            let error = try #require(await expectError(.draftConflict) { try await container.revert(record) })
            #expect(error.message.contains("would be deleted, because record 2 inserted it"))
            try await container.revert(record, resolving: .takeTheirs)
            #expect(try contact(container, "x")?.name == "edited")
            try await container.revert(record, resolving: .keepMine)
            #expect(try contact(container, "x") == nil)
        }
    }

    @Test(arguments: HistoryPlace.all)
    func anEditedObjectThatWasDeletedSinceIsAConflict(place: HistoryPlace) async throws {
        try await withContacts(place) { container, contacts in
            try await edit(contacts) { $0.name = "new" }
            try await contacts.perform { try $0.delete(ContactEntity.self, where: \.uid == "uid-0") }
            let record = try await container.records()[1]
            // The record has not all values of the object.
            for resolution in [DraftResolution.fail, .keepMine] {
                let error = try #require(
                    await expectError(.draftConflict) { try await container.revert(record, resolving: resolution) })
                #expect(error.message.contains("was edited by record 2, and deleted by another save."))
                #expect(error.message.contains("revert the deletion of the object first"))
            }
            try await container.revert(record, resolving: .takeTheirs)
            #expect(try contact(container) == nil)
            try await container.revert(try await container.records()[2])
            try await container.revert(record)
            #expect(try contact(container)?.name == "name 0")
        }
    }

    @Test(arguments: HistoryPlace.all)
    func valuesOfAServerAreRevertedOnlyWhenAskedFor(place: HistoryPlace) async throws {
        try await withContacts(place) { container, contacts in
            try await contacts.add(ContactData(uid: "uid-0", name: "served"))
            let record = try await container.records()[1]
            let error = try #require(await expectError(.recordNotRevertible) { try await container.revert(record) })
            #expect(error.message.contains("pass includingIncoming: true"))
            try await container.revert(record, includingIncoming: true)
            #expect(try contact(container)?.name == "name 0")
        }
    }

    @Test(arguments: HistoryPlace.all)
    func recordsThatCannotBeRevertedAreRefused(place: HistoryPlace) async throws {
        try await withContacts(place) { container, contacts in
            try await edit(contacts) { $0.name = "new" }
            let record = try await container.records()[1]
            try await HistoryPlace.memory.withContainer { other, _ in
                _ = try other.dataSource(ContactDataSource.self)
                await expectError(.historyOfOtherStore) { try await other.revert(record) }
            }
            let old = try await container.records()[0]
            _ = try await container.reset()
            for record in [record, old] {
                await expectError(.historyExpired) { try await container.revert(record, includingIncoming: true) }
            }
            let reset = try await container.records()[0]
            let error = try #require(await expectError(.recordNotRevertible) { try await container.revert(reset) })
            #expect(error.message.contains("Record 1 has no values"))
        }
    }

    /// The other store does not even have the entity.
    @Test(arguments: HistoryPlace.all)
    func aRecordOfAStoreWithALargerModelIsRefused(place: HistoryPlace) async throws {
        try await place.withContainer(model: .library) { library, _ in
            let shelves = try library.dataSource(ShelfSource.self)
            try await shelves.perform { try $0.insert(Volume.self).key = "a" }
            let record = try #require(try await library.records().last)
            try await withContacts(place) { other, _ in
                await expectError(.historyOfOtherStore) { try await other.revert(record) }
            }
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aUniqueValueThatAnotherObjectHasIsAConflict(place: HistoryPlace) async throws {
        try await withContacts(place) { container, contacts in
            try await contacts.perform { try $0.delete(ContactEntity.self, where: \.uid == "uid-0") }
            try await contacts.perform { try $0.insert(ContactEntity.self).uid = "uid-0" }
            let record = try await container.records()[1]
            await expectError(.draftConflict) { try await container.revert(record) }
            let report = try await container.revert(record, resolving: .takeTheirs)
            #expect(report.conflicts.map(\.kind) == [.takenByOthers] && report.save == SaveReport())
            // A revert that changes nothing has no record.
            #expect(try await container.records().count == 3)
            #expect(try contact(container)?.name != "name 0")
            #expect(try await container.revert(record, resolving: .keepMine).save == SaveReport(updated: 1))
            #expect(try contact(container)?.name == "name 0")
            #expect(try container.main.count(ContactEntity.self) == 2)
        }
    }

    @Test func anEntityWithoutADataSourceIsNamed() async throws {
        let directory = try TemporaryDirectory()
        let first = try await HistoryPlace.sqlite.open(directory.store)
        try await first.dataSource(ContactDataSource.self).perform { try $0.insert(ContactEntity.self).uid = "x" }
        try await first.close()
        let second = try await HistoryPlace.sqlite.open(directory.store)
        let record = try await second.records()[0]
        let error = try #require(await expectError(.entityNotOwned) { try await second.revert(record) })
        #expect(error.message.contains("ContactEntity is edited by record 1"))
        try await second.close()
    }

    /// What was deleted before a migration comes back with the default values of the attributes that are new.
    @Test(arguments: HistoryPlace.migrated)
    func aRecordOfAnEarlierModelIsReverted(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store)
        let contacts = try first.dataSource(ContactDataSource.self)
        try await contacts.perform { try $0.insert(ContactEntity.self).uid = "a" }
        try await contacts.perform { try $0.insert(ContactEntity.self).uid = "b" }
        try await contacts.perform { try $0.delete(ContactEntity.self, where: \.uid == "b") }
        try await first.close()
        var model = ManagedObjectModel.contacts
        let index = try #require(model.entities.firstIndex { $0.name == "ContactEntity" })
        model.entities[index].attributes.append(
            AttributeDescription(name: "rank", type: .integer64, defaultValue: .integer(5)))
        let configuration = PersistentContainer.Configuration(synchronous: .normal, resetPolicy: .migrate)
        let second = try await place.open(directory.store, configuration, model: model)
        _ = try second.dataSource(ContactDataSource.self)
        let records = try await second.records()
        try await second.revert(records[2])
        let back = try #require(try contact(second, "b"))
        let rank = try #require(back.layout.column(named: "rank"))
        let value: Int64 = back.attribute(at: rank)
        #expect(value == 5)
        // The value that the migration has set is no edit.
        try await second.revert(records[0])
        #expect(try contact(second, "a") == nil)
        try await second.close()
    }

    /// The app has kept the record, and the entities of the new model have other indexes.
    @Test(arguments: HistoryPlace.migrated)
    func aRecordThatWasReadBeforeAMigrationIsReverted(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store)
        let contacts = try first.dataSource(ContactDataSource.self)
        try await contacts.perform { try $0.insert(ContactEntity.self).uid = "a" }
        let record = try #require(try await first.records().last)
        try await first.close()
        var model = ManagedObjectModel.contacts
        let added = EntityDescription(
            name: "Aardvark", attributes: [AttributeDescription(name: "key", type: .string)])
        model.entities.insert(added, at: 0)
        let configuration = PersistentContainer.Configuration(synchronous: .normal, resetPolicy: .migrate)
        let second = try await place.open(directory.store, configuration, model: model)
        _ = try second.dataSource(ContactDataSource.self)
        #expect(try await second.revert(record).save == SaveReport(deleted: 1))
        #expect(try contact(second, "a") == nil)
        try await second.close()
    }

    // MARK: Relationships

    @Test(arguments: HistoryPlace.all)
    func whatDeleteRulesDeletedComesBackWithItsLinks(place: HistoryPlace) async throws {
        try await place.withContainer(model: .library) { container, _ in
            let shelves = try container.dataSource(ShelfSource.self)
            let (tags, loans) = (try container.dataSource(TagSource.self), try container.dataSource(LoanSource.self))
            let nodes = try container.dataSource(NodeSource.self)
            try await shelves.add(ShelfValue(key: "s", books: ["a", "b"]))
            try await tags.add(["x", "y"])
            try await loans.add(LoanValue(key: "l", book: "a", day: "d"))
            try await container.perform(in: shelves, tags, nodes) { shelves, _, nodes in
                let book = try #require(try shelves.first(Volume.self, where: \.key, equals: "a"))
                book.tags.set(try shelves.fetch(Tag.self))
                let node = try nodes.insert(Node.self)
                (node.key, node.book) = ("n", book)
            }
            let before = try await contents(container)
            try await shelves.perform { try $0.delete(Rack.self, where: \.key == "s") }
            let deletion = try #require(try await container.records().last)
            #expect(try await contents(container) != before)
            try await container.revert(deletion)
            #expect(try await contents(container) == before)
        }
    }

    /// Whoever keeps the object keeps what was linked to it with it.
    @Test(arguments: HistoryPlace.all)
    func aKeptObjectKeepsItsLinks(place: HistoryPlace) async throws {
        try await place.withContainer(model: .peers()) { container, _ in
            let peers = try container.dataSource(PeerDataSource.self)
            try await peers.add(["a", "b"])
            try await peers.perform { context in
                let peer = try context.insert(Peer.self)
                peer.key = "new"
                peer.friends.set([try context.peer("a")])
                try context.peer("b").boss = peer
            }
            try await peers.perform { try $0.peer("new").name = "edited" }
            let record = try await container.records()[1]
            await expectError(.draftConflict) { try await container.revert(record) }
            try await container.revert(record, resolving: .takeTheirs)
            let peer = try container.main.peer("new")
            #expect(peer.friends.map(\.key) == ["a"] && peer.reports.map(\.key) == ["b"])
        }
    }

    /// An old number of books is not what there is now.
    @Test(arguments: HistoryPlace.all)
    func aHookCalculatesWhatARevertChanges(place: HistoryPlace) async throws {
        try await place.withContainer(model: .library) { container, _ in
            let shelves = try container.dataSource(ScriptedShelves.self)
            func put(_ books: [String]) async throws {
                try await shelves.perform { context in
                    let shelf = try context.findOrInsert(Rack.self, where: \.key, equals: "s")
                    for key in books { try context.findOrInsert(Volume.self, where: \.key, equals: key).shelf = shelf }
                }
            }
            try await put(["a"])
            try await put(["c"])
            try await shelves.perform { try $0.delete(Volume.self, where: \.key == "c") }
            try await put(["d"])
            try await container.revert(try await container.records()[1])
            let shelf = try #require(try container.main.fetch(Rack.self).first)
            #expect(shelf.bookCount == 2 && shelf.books.count == 2)
        }
    }

    /// Nobody has read the owner of the order, and the record has only the moved object.
    @Test(arguments: HistoryPlace.lasting)
    func anOrderIsRestoredInAStoreThatWasOpenedAgain(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        let first = try await place.open(directory.store, model: .peers())
        let peers = try first.dataSource(PeerDataSource.self)
        try await peers.add(["boss", "a", "b", "c"])
        func order(_ keys: [String]) async throws {
            try await peers.perform { context in
                try context.peer("boss").reports.set(try keys.map { try context.peer($0) })
                try context.peer("boss").friends.set(try keys.map { try context.peer($0) })
            }
        }
        try await order(["a", "b", "c"])
        try await order(["c", "a", "b"])
        try await peers.perform { $0.delete(try $0.peer("a")) }
        try await first.close()
        let orders = [["c", "a", "b"], ["a", "b", "c"]]
        for (turn, expected) in orders.enumerated() {
            let container = try await place.open(directory.store, model: .peers())
            _ = try container.dataSource(PeerDataSource.self)
            try await container.revert(try await container.records()[3 - turn])
            let boss = try container.main.peer("boss")
            #expect(boss.reports.map(\.key) == expected && boss.friends.map(\.key) == expected)
            try await container.close()
        }
    }

    /// The objects with their links, as text.
    private func contents(_ container: PersistentContainer) async throws -> [String] {
        try await container.read { context in
            var lines: [String] = []
            for rack in try context.fetch(Rack.self) {
                lines.append("\(rack.objectID) \(rack.key) \(rack.books.map(\.key).sorted())")
            }
            for book in try context.fetch(Volume.self) {
                lines.append("\(book.objectID) \(book.key) \(book.tags.map(\.key).sorted())")
                lines.append("\(book.loans.map(\.key)) \(book.nodes.map(\.key)) \(book.shelf?.key ?? "-")")
            }
            for loan in try context.fetch(Loan.self) {
                lines.append("\(loan.objectID) \(loan.key) \(loan.book?.key ?? "-") \(loan.day?.key ?? "-")")
            }
            for node in try context.fetch(Node.self) { lines.append("\(node.objectID) \(node.book?.key ?? "-")") }
            return lines.sorted()
        }
    }

    @Test(arguments: HistoryPlace.all)
    func anOrderIsRestored(place: HistoryPlace) async throws {
        try await place.withContainer(model: .peers()) { container, _ in
            let peers = try container.dataSource(PeerDataSource.self)
            try await peers.add(["boss", "a", "b", "c", "d"])
            try await peers.perform { context in
                let others = try ["a", "b", "c", "d"].map { try context.peer($0) }
                try context.peer("boss").reports.set(others)
                try context.peer("boss").friends.set(others)
            }
            try await peers.perform { context in
                let moved = try ["d", "c", "b", "a"].map { try context.peer($0) }
                try context.peer("boss").reports.set(moved)
                try context.peer("boss").friends.set(Array(moved.prefix(3)))
            }
            try await peers.perform { context in context.delete(try context.peer("b")) }
            let records = try await container.records()
            @MainActor func orders() throws -> [[String]] {
                let boss = try container.main.peer("boss")
                return [boss.reports.map(\.key), boss.friends.map(\.key)]
            }
            try await container.revert(records[3])
            #expect(try orders() == [["d", "c", "b", "a"], ["d", "c", "b"]])
            try await container.revert(records[2])
            #expect(try orders() == [["a", "b", "c", "d"], ["a", "b", "c", "d"]])
            try await container.revert(records[1])
            #expect(try orders() == [[], []])
        }
    }
}
