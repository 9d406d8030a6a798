import CoreDataSource
import Foundation
import FrameworkNames
import Testing

/// A delegate that shows contacts by their initials.
@MainActor
private final class ContactView: DataSourceDelegate {
    func show(_ contacts: ContactDataSource) throws {
        let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
        try contacts.register(self, dataKey: "list", request, sectionBy: \.initial)
    }

    func didChangeContent(dataKey: String) {}

    func didFail(_ error: DataSourceError, dataKey: String) { print(dataKey, error.message) }
}

/// A delegate with longer titles of sections.
@MainActor
private final class TitledView: DataSourceDelegate {
    func didChangeContent(dataKey: String) {}

    func sectionIndexTitle(forSectionName name: String, dataKey: String) -> String? {
        name.isEmpty ? nil : "\(name.prefix(2))"
    }
}

/// The examples in the comments on lists.
@MainActor
struct ListReadingSnippets {
    private func withList(_ body: @MainActor (ContactDataSource, ContactView) async throws -> Void) async throws {
        try await withContacts { _, contacts in
            let view = ContactView()
            let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
            try await contacts.update(ContactEntity.self, where: \.uid == "2", set: [.set(\.isFavorite, true)])
            try contacts.register(view, dataKey: "list", request, sectionBy: \.isFavorite)
            try await body(contacts, view)
        }
    }

    /// Starts a loop over a list that never ends by itself, and cancels it.
    private func cancelled(_ body: @escaping @MainActor () async throws -> Void) async throws {
        let loop = Task { try await body() }
        loop.cancel()
        try await loop.value
    }

    @Test func aRegisteredListIsRead() async throws {
        try await withList { contacts, _ in
            let indexPath = IndexPath(item: 0, section: 0)
            let contact = contacts.object(at: indexPath, dataKey: "list", as: ContactEntity.self)
            let title = contacts.sectionInfo(at: 0, dataKey: "list")?.name
            let shown = contacts.allObjects(dataKey: "list", as: ContactEntity.self)
            #expect(contact?.name == "Guan Ping" && title == "false" && shown.map(\.uid) == ["3", "1", "2"])
            let titles = contacts.sectionIndexTitles(dataKey: "list")  // ["F", "T"]
            #expect(titles == ["F", "T"])
            if let reason = contacts.lastUpdateReason(dataKey: "list") { print(reason) }
            // save 12 of ContactDataSource: 3 rows of ContactEntity (name, phone), 14.2 us
            let kind = ListReason.Kind(rawValue: "save")
            #expect(kind == .save)
        }
    }

    @Test func aRegisteredListIsCounted() async throws {
        try await withList { contacts, _ in
            let count = contacts.numberOfSections(dataKey: "list")
            #expect(count == 2)
        }
        try await withList { contacts, _ in
            let count = contacts.numberOfItems(inSection: 0, dataKey: "list")
            #expect(count == 2)
        }
    }

    @Test func anIndexPathHasASectionAndAnItem() async throws {
        try await withList { contacts, _ in
            let contact = contacts.allObjects(dataKey: "list")[2]
            let indexPath = contacts.indexPath(of: contact.objectID, dataKey: "list")
            #expect(indexPath == IndexPath(item: 0, section: 1))
        }
        let indexPath = IndexPath(item: 2, section: 0)
        #expect(indexPath.row == 2)
        let type = ListChangeType(rawValue: 4)  // update
        #expect(type == .update)
    }

    @Test func anIndexPathHasARow() {
        let indexPath = IndexPath(row: 2, section: 0)
        #expect(indexPath.item == 2)
    }

    @Test func listsAreRegisteredMovedPausedAndUnregistered() async throws {
        try await withList { contacts, view in
            try view.show(contacts)
            #expect(contacts.numberOfSections(dataKey: "list") == 1)
            try await contacts.registerOffMain(
                view, dataKey: "all", ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]))
            let last = contacts.allObjects(dataKey: "list").last
            try contacts.moveWindow(dataKey: "list", after: last.map { FetchCursor($0) })
            contacts.pausedDataKeys.insert("list")
            contacts.pausedDataKeys.remove("list")
            contacts.unregister(dataKey: "list")
            #expect(contacts.dataKeys == ["all"])
            let titled = TitledView()
            try contacts.register(titled, dataKey: "all", ObjectRequest<ContactEntity>(), sectionBy: \.isFavorite)
            #expect(contacts.sectionIndexTitles(dataKey: "all") == ["fa", "tr"])
            view.didFail(DataSourceError(.storeUnavailable, "The disk is full."), dataKey: "all")
        }
    }

    @Test func snapshotsAreRead() async throws {
        try await withContacts { _, contacts in
            let list = try contacts.list(
                ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]), sectionBy: \.isFavorite)
            for section in list.sections { print(section.name, section.numberOfObjects) }
            let section = list.snapshot.section(0)
            print(section.name, section.numberOfObjects)
            let indexPath = list.snapshot.indexPath(2)  // [0, 2]
            let contact = try #require(try contacts.main.first(ContactEntity.self, where: \.uid, equals: "1"))
            let index = list.snapshot.index(of: contact.objectID)
            #expect(section.numberOfObjects == 3 && indexPath == [0, 2] && index == 1)
            if let index = list.index(of: contact.objectID) {
                print(list.snapshot.indexPath(index))
            }
        }
    }

    @Test func rowsOfASnapshotAreValues() async throws {
        try await withContacts { _, contacts in
            let snapshot = try contacts.list(ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])).snapshot
            for contact in snapshot { print(contact.name) }
            for row in snapshot {
                print(row.id, row.name)
                let contact = try contacts.main.object(ContactEntity.self, id: row.id)
                print(contact?.group?.name ?? "no group")
            }
            let names = snapshot.map { row in row.map { contact in contact.name } }
            #expect(names == ["Guan Ping", "Guan Yu", "Zhang Fei"])
        }
    }

    @Test func anIteratorReturnsUpdates() async throws {
        try await withContacts { _, contacts in
            let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
            var iterator = contacts.updates(request).makeAsyncIterator()
            let first = await iterator.next()
            #expect(first?.snapshot.count == 3)
            try await contacts.add(Contact(uid: "4", name: "Zhao Yun"))
            if let update = await iterator.next() { print(update.snapshot.count, update.reason) }
            let updates = contacts.updates(request, buffering: .every(bound: 8))
            var bounded = updates.makeAsyncIterator()
            #expect(await bounded.next()?.snapshot.count == 4)
        }
    }

    @Test func loopsFollowLists() async throws {
        try await withOath { contacts, groups in
            let group = try #require(try groups.fetch(GroupEntity.self).first)
            let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
            try await cancelled {
                for await update in contacts.updates(request, buffering: .every()) { print(update.difference) }
            }
            try await cancelled {
                for await update in contacts.updates(ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])) {
                    print(update.snapshot.count, update.difference.changes.count, update.reason)
                }
            }
            try await cancelled {
                let request = ObjectRequest(
                    ContactEntity.self, order: [.ascending(\.name, [.caseInsensitive])], limit: 50)
                for await update in contacts.updates(request, sectionBy: \.initial) { print(update.snapshot.count) }
            }
            try await cancelled {
                for await update in contacts.updates(ObjectRequest(group, \.members, order: [.ascending(\.name)])) {
                    print(update.snapshot.count)
                }
            }
            #expect(!group.members.isEmpty)
        }
    }
}
