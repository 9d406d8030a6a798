import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// The undo of a draft goes on after its save, with the kept history.
@MainActor
struct DraftUndoSaveTests {
    private func withContact(
        _ place: HistoryPlace,
        _ body: @MainActor (PersistentContainer, ContactDataSource, ContactEntity) async throws -> Void
    ) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            try await body(
                container, contacts, try #require(try container.main.first(ContactEntity.self)))
        }
    }

    @Test(arguments: HistoryPlace.all)
    func savesOfADraftAreUndoneAndRedone(place: HistoryPlace) async throws {
        try await withContact(place) { container, contacts, contact in
            let draft = try contacts.draft(of: contact)
            #expect(try await draft.undoSave() == nil)
            for note in ["1", "2"] {
                draft.object.note = note
                try await container.withAuthor("editor") { try await draft.save() }
                // A save of others between them stays.
                try await contacts.perform { try $0.fetch(ContactEntity.self).first?.age += 1 }
            }
            #expect(!draft.canUndo)
            var notes: [String?] = []
            for _ in 0..<3 {
                let report = try await draft.undoSave()
                #expect((report == nil) == (notes.count == 2))
                #expect(report.map { $0.revertedRecord?.author == "editor" } ?? true)
                #expect(draft.object.note == contact.note)
                notes.append(contact.note)
            }
            #expect(notes == ["1", nil, nil] && contact.age == 2)
            notes = []
            for _ in 0..<3 {
                try await draft.redoSave()
                notes.append(draft.object.note)
            }
            #expect(notes == ["1", "2", "2"] && contact.note == "2")
            // A redone save can be undone again.
            try await draft.undoSave()
            #expect(contact.note == "1" && draft.object.note == "1")
            // The undo is a step of the author, too.
            try await container.undo(author: "editor")
            #expect(contact.note == nil)
            #expect(try await draft.undoSave() == nil)
            #expect(try await container.redo(author: "editor") != nil)
            #expect(contact.note == "1")
        }
    }

    /// Without an author, and between other saves without one.
    @Test(arguments: HistoryPlace.all)
    func onlySavesOfTheDraftAreUndone(place: HistoryPlace) async throws {
        try await withContact(place) { container, contacts, contact in
            let draft = try contacts.draft(of: contact)
            let other = try contacts.draft(of: contact)
            draft.object.note = "mine"
            try await draft.save()
            other.object.phone = "7"
            try await other.save()
            try await contacts.perform { try $0.fetch(ContactEntity.self).first?.age = 9 }
            draft.object.name = "unsaved"
            try await draft.undoSave(waitFor: .main)
            #expect(contact.note == nil && contact.phone == "7" && contact.age == 9)
            // The edit stays in the draft.
            #expect(draft.hasChanges && draft.object.name == "unsaved" && contact.name == "name 0")
            try await draft.save(resolving: .keepMine)
            #expect(contact.name == "unsaved")
            try await other.undoSave()
            #expect(contact.phone != "7")
            let records = try await container.records()
            #expect(records.allSatisfy { $0.author == nil })
        }
    }

    @Test func savesOfTwoAuthorsAreUndoneAndRedoneInTheirOrder() async throws {
        try await withContact(.sqlite) { container, contacts, contact in
            let draft = try contacts.draft(of: contact)
            for note in ["1", "2"] {
                draft.object.note = note
                try await container.withAuthor("author \(note)") { try await draft.save() }
            }
            try await draft.undoSave()
            try await draft.undoSave()
            #expect(contact.note == nil)
            try await draft.redoSave()
            #expect(contact.note == "1")
            try await draft.redoSave()
            #expect(contact.note == "2")
            #expect(try await draft.redoSave() == nil)
        }
    }

    /// Each save has a record, and a record of its undo.
    @Test func theHistoryIsReadOnceForManyUndoneSaves() async throws {
        let readCount = Shared(0)
        var configuration = PersistentContainer.Configuration.keeping()
        configuration.trace = { trace in
            if trace.sql.contains("\"changes\" FROM \"_history\"") { readCount.update { $0 += trace.rowCount } }
        }
        try await HistoryPlace.sqlite.withContainer(configuration) { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            let draft = try contacts.draft(of: try #require(try container.main.first(ContactEntity.self)))
            for number in 0..<20 {
                draft.object.note = "\(number)"
                try await draft.save()
            }
            for _ in 0..<20 { #expect(try await draft.undoSave() != nil) }
            let recordCount = try await container.records().count
            readCount.update { $0 = 0 }
            #expect(try await draft.undoSave() == nil)
            #expect(
                recordCount == 41 && (recordCount...2 * recordCount).contains(readCount.value), "\(readCount.value)")
        }
    }

    @Test func aConflictLeavesTheSave() async throws {
        try await withContact(.sqlite) { _, contacts, contact in
            let draft = try contacts.draft(of: contact)
            draft.object.note = "mine"
            try await draft.save()
            try await contacts.perform { try $0.fetch(ContactEntity.self).first?.note = "theirs" }
            await expectError(.draftConflict) { try await draft.undoSave() }
            #expect(contact.note == "theirs")
            let report = try await draft.undoSave(resolving: .keepMine)
            #expect(contact.note == nil && report?.conflicts.count == 1)
        }
    }

    @Test func anInsertedObjectIsDeletedAndComesBack() async throws {
        try await withContact(.sqlite) { container, contacts, _ in
            let draft = try contacts.draft(inserting: ContactEntity.self)
            (draft.object.uid, draft.object.name) = ("new", "new")
            try await draft.save()
            try await draft.undoSave()
            #expect(try container.main.count(ContactEntity.self) == 1 && draft.object.isDeleted)
            try await draft.redoSave()
            #expect(try container.main.count(ContactEntity.self) == 2)
        }
    }

    @Test func withoutAHistoryOrAfterItsEndTheDraftSaysSo() async throws {
        try await withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            let draft = try contacts.draft(of: try #require(try container.main.first(ContactEntity.self)))
            draft.object.note = "mine"
            try await draft.save()
            await expectError(.historyNotKept) { try await draft.undoSave() }
            await expectError(.historyNotKept) { try await draft.redoSave() }
            draft.discard()
            await expectError(.draftDiscarded) { try await draft.undoSave() }
        }
    }
}
