import CoreDataSource
import ErrorExpectations
import FrameworkNames
import Testing

/// The table of the calls and their results has the right types.
@MainActor
struct CallTableTests {
    @Test func everyCallReturnsWhatTheTableSays() async throws {
        try await withContacts { container, contacts in
            let values = [Contact(uid: "1", name: "Guan Yu"), Contact(uid: "4", name: "Zhao Yun")]
            let added: SaveReport = try await contacts.add(values)
            let updated: SaveReport = try await contacts.update(
                ContactEntity.self, where: \.uid == "1", set: [.set(\.note, "")])
            let synced: SyncReport = try await contacts.sync(values)
            let planned: SyncReport = try await contacts.planSync(values, entity: ContactEntity.self)
            let counts: (Int, Int) = try await contacts.perform { context in
                let new: ContactEntity = try context.insert(ContactEntity.self)
                new.uid = "5"
                let found: ContactEntity = try context.findOrInsert(ContactEntity.self, where: \.uid, equals: "6")
                context.delete(found)
                let first: ContactEntity? = try context.first(ContactEntity.self, where: \.uid == "5")
                let updates: Int = try context.update(ContactEntity.self, where: \.uid == "4", set: [.set(\.note, "")])
                let deletions: Int = try context.delete(ContactEntity.self, where: \.uid == "5")
                #expect(first === new)
                return (updates, deletions)
            }
            let all = SyncScope("contacts", ContactEntity.self)
            let loaded: ScopeFreshness = try await contacts.load(all, maxAge: .zero) { _ in .list(values) }
            #expect(added.inserted == 1 && updated.updated == 1 && synced.totalDeleted == 2)
            #expect(planned.totalDeleted == 0 && counts.0 == 1 && counts.1 == 1 && loaded.isComplete)
            try await read(container, contacts)
            let deleted: SaveReport = try await contacts.delete(values)
            let rest: SaveReport = try await contacts.delete(ContactEntity.self, where: nil)
            #expect(deleted.deleted == 2 && rest.deleted == 0)
        }
    }

    private func read(_ container: PersistentContainer, _ contacts: ContactDataSource) async throws {
        let objects: [ContactEntity] = try contacts.fetch(ContactEntity.self)
        let count: Int = try contacts.count(ContactEntity.self)
        let values: [ContactValue] = try await contacts.fetch(as: ContactValue.self)
        let list: LiveList<ContactEntity> = try contacts.list(ObjectRequest(ContactEntity.self))
        let aggregate: LiveAggregate<Int> = try contacts.liveAggregate(ObjectRequest(ContactEntity.self), .count())
        #expect(objects.count == 2 && count == 2 && values.count == 2 && list.count == 2 && aggregate.value == 2)
        let draft: Draft<ContactEntity> = try contacts.draft(of: objects[0])
        draft.object.note = "edited"
        let saved: DraftReport = try await draft.save()
        #expect(saved.save.updated == 1)
        await expectError(.historyNotKept) {
            let undone: DraftReport? = try await container.undo(author: "editor")
            return undone
        }
    }
}
