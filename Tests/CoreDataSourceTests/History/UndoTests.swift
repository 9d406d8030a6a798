import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import TestSupport
import Testing

/// The saves of an author can be undone and redone, one by one.
@MainActor
struct UndoTests {
    /// The report has the whole record that was reverted, which redo needs.
    @Test(arguments: HistoryPlace.all)
    func theReportOfAnUndoPrintsOnlyCounts(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
            try await container.write(note: "1", by: "editor")
            let report = try #require(try await container.undo(author: "editor"))
            #expect("\(report)" == "0 inserted, 1 updated, 0 deleted, 0 merged, 0 conflicts")
        }
    }

    @Test(arguments: HistoryPlace.all)
    func savesAreUndoneAndRedoneInOrder(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
            for note in ["1", "2", "3"] { try await container.write(note: note, by: "editor") }
            var notes: [String?] = []
            @MainActor func undo() async throws {
                let report = try await container.undo(author: "editor")
                notes.append(report == nil ? "end" : try container.note)
            }
            @MainActor func redo() async throws {
                let report = try await container.redo(author: "editor")
                notes.append(report == nil ? "end" : try container.note)
            }
            try await redo()
            try await undo()
            try await undo()
            try await redo()
            try await redo()
            try await redo()
            #expect(notes == ["end", "2", "1", "2", "3", "end"])
            notes = []
            for _ in 0..<4 { try await undo() }
            #expect(notes == ["2", "1", nil, "end"])
            notes = []
            try await redo()
            try await container.write(note: "4", by: "editor")
            try await redo()
            for _ in 0..<3 { try await undo() }
            #expect(notes == ["1", "end", "1", nil, "end"])
            let records = try await container.records()
            #expect(records.dropFirst().allSatisfy { $0.author == "editor" && $0.kind == .local })
        }
    }

    @Test(arguments: HistoryPlace.all)
    func onlyTheSavesOfTheAuthorAreUndone(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            try await container.write(note: "mine", by: "me")
            try await container.withAuthor("other") {
                try await contacts.perform { try $0.fetch(ContactEntity.self).first?.age = 9 }
            }
            try await container.withAuthor("me") { try await contacts.add(contactList(5..<6)) }
            // An add is a step, too.
            try await container.undo(author: "me")
            #expect(try container.main.count(ContactEntity.self) == 1)
            try await container.undo(author: "me")
            let found = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-0"))
            #expect(found.note == nil && found.age == 9)
            #expect(try await container.undo(author: "me") == nil)
            #expect(try await container.undo(author: "nobody") == nil)
        }
    }

    @Test(arguments: HistoryPlace.all)
    func aConflictLeavesTheStep(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
            try await container.write(note: "first", by: "me")
            try await container.write(note: "second", by: "me")
            try await container.write(note: "third", by: "other")
            await expectError(.draftConflict) { try await container.undo(author: "me") }
            #expect(try container.note == "third")
            let report = try await container.undo(author: "me", resolving: .keepMine)
            #expect(try container.note == "first" && report?.conflicts.count == 1)
            // The report has the record that was undone, and then the record of the undo.
            let undone = try #require(report?.revertedRecord)
            let change = try #require(try undone.changes(of: ContactEntity.self).first)
            #expect(change.old?.note == "first" && change.new?.note == "second")
            let redone = try await container.redo(author: "me")
            #expect(redone?.revertedRecord?.number == undone.number + 2)
            let record = try #require(try await container.records().last)
            #expect(try await container.revert(record).revertedRecord?.number == record.number)
        }
    }

    /// The app has decided about this step alone, so the call does not go on to an older one.
    @Test(arguments: HistoryPlace.all)
    func aStepWhoseNewerValuesAreKeptIsDone(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
            for note in ["first", "second"] { try await container.write(note: note, by: "me") }
            try await container.write(note: "third", by: "other")
            for step in [Int64(3), 2] {
                let report = try #require(try await container.undo(author: "me", resolving: .takeTheirs))
                #expect(report.save == SaveReport() && report.conflicts.map(\.choice) == [.theirs])
                #expect(report.revertedRecord?.number == step)
                #expect(try container.note == "third")
            }
            #expect(try await container.undo(author: "me") == nil)
            #expect(try await container.redo(author: "me") == nil)
        }
    }

    /// A save that is only on main is a step, too.
    @Test(arguments: HistoryPlace.all)
    func savesThatAreNotInTheStoreYetAreUndone(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            for round in 0..<20 {
                try await container.withAuthor("me") {
                    try await contacts.perform(waitFor: .main) { context in
                        try context.first(ContactEntity.self, where: \.uid, equals: "uid-0")?.note = "\(round)"
                    }
                    try await contacts.perform(waitFor: .main) { context in
                        try context.first(ContactEntity.self, where: \.uid, equals: "uid-0")?.age = 7
                    }
                }
                try await container.undo(author: "me", waitFor: .main)
                let found = try #require(try container.main.first(ContactEntity.self, where: \.uid, equals: "uid-0"))
                #expect(found.note == "\(round)" && found.age == 0)
                try await container.redo(author: "me", waitFor: .main)
                #expect(found.age == 7)
                try await container.undo(author: "me", waitFor: .main)
                try await container.undo(author: "me", waitFor: .main)
                #expect(found.note == nil && found.age == 0)
            }
        }
    }

    /// For a menu.
    @Test(arguments: HistoryPlace.all)
    func theNextStepIsKnown(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
            #expect(try await container.nextUndo(author: "me") == nil)
            for note in ["1", "2"] { try await container.write(note: note, by: "me") }
            let step = try #require(try await container.nextUndo(author: "me"))
            #expect(try step.changes(of: ContactEntity.self).first?.new?.note == "2")
            #expect(try await container.nextRedo(author: "me") == nil)
            try await container.undo(author: "me")
            #expect(try await container.nextUndo(author: "me")?.number == step.number - 1)
            #expect(try await container.nextRedo(author: "me")?.number == step.number + 1)
        }
    }

    /// A hook sets the value again, so nothing is saved, and the step before it is undone.
    @Test(arguments: HistoryPlace.all)
    func aStepThatAHookSetsAgainIsPassedOver(place: HistoryPlace) async throws {
        try await place.withContainer(model: .library) { container, _ in
            let shelves = try container.dataSource(ScriptedShelves.self)
            try await shelves.add(ShelfValue(key: "s", books: ["a"]))
            func edit(_ body: @escaping @Sendable (Volume) -> Void) async throws {
                try await container.withAuthor("me") {
                    try await shelves.perform { body(try #require(try $0.fetch(Volume.self).first)) }
                }
            }
            try await edit { $0.title = "first" }
            try await edit { $0.isRead = true }
            shelves.script.set { _, context in for book in try context.fetch(Volume.self) { book.isRead = true } }
            var undone = 0
            while try await container.undo(author: "me") != nil { undone += 1 }
            #expect(undone == 1)
            let book = try #require(try container.main.fetch(Volume.self).first)
            #expect(book.isRead && book.title == "")
        }
    }

    /// Another save has already taken its values back.
    @Test(arguments: HistoryPlace.all)
    func aSaveThatLeavesNothingToUndoIsPassedOver(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
            try await container.write(note: "first", by: "me")
            try await container.write(note: "second", by: "me")
            try await container.write(note: "first", by: "other")
            try await container.undo(author: "me")
            #expect(try container.note == nil)
        }
    }

    /// The undo of the step before it changes the same value, with which it is in conflict from then on.
    @Test(arguments: HistoryPlace.all)
    func aSaveThatWasPassedOverCountsAsUndone(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
            for note in ["zero", "first", "second"] { try await container.write(note: note, by: "me") }
            try await container.write(note: "first", by: "other")
            try await container.undo(author: "me")
            #expect(try container.note == "zero")
            let next = try await container.nextUndo(author: "me")
            #expect(try next?.changes(of: ContactEntity.self).first?.new?.note == "zero")
            try await container.undo(author: "me")
            #expect(try container.note == nil)
            #expect(try await container.undo(author: "me") == nil)
            for note in ["zero", "first"] {
                try await container.redo(author: "me")
                #expect(try container.note == note)
            }
            #expect(try await container.redo(author: "me") == nil)
            for note in ["zero", nil] {
                try await container.undo(author: "me")
                #expect(try container.note == note)
            }
            #expect(try await container.nextUndo(author: "me") == nil)
        }
    }

    /// Another program keeps the file locked while somebody else's save waits for it.
    @Test func aWaitingSaveOfAnotherAuthorDelaysNoSearch() async throws {
        try await HistoryPlace.sqlite.withContainer { container, url in
            try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
            try await container.write(note: "mine", by: "me")
            let raw = try RawConnection(url)
            try raw.execute("BEGIN IMMEDIATE")
            let groups = try container.dataSource(GroupDataSource.self)
            try await groups.add(GroupData(gid: "1", name: ""), waitFor: .main)
            let step = try await container.nextUndo(author: "me")
            #expect(try step?.changes(of: ContactEntity.self).first?.new?.note == "mine")
            try raw.execute("ROLLBACK")
            try await container.undo(author: "me")
            #expect(try container.note == nil)
        }
    }

    @Test(arguments: HistoryPlace.lasting)
    func stepsAreThereAfterTheStoreWasOpenedAgain(place: HistoryPlace) async throws {
        let directory = try TemporaryDirectory()
        for turn in 0..<3 {
            let container = try await place.open(directory.store)
            if turn == 0 {
                try await container.dataSource(ContactDataSource.self).add(contactList(0..<1))
                for note in ["1", "2"] { try await container.write(note: note, by: "me") }
            }
            _ = try container.dataSource(ContactDataSource.self)
            if turn == 2 {
                try await container.redo(author: "me")
            } else {
                try await container.undo(author: "me")
            }
            #expect(try container.note == ["1", nil, "1"][turn])
            try await container.close()
        }
    }

    /// Each of the members finds the steps of both.
    @Test(arguments: SharedPlace.Kind.all)
    func membersShareTheSteps(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo(configuration: .keeping()) { first, second in
            _ = try second.dataSource(ContactDataSource.self)
            try await first.dataSource(ContactDataSource.self).add(contactList(0..<1))
            for note in ["1", "2", "3"] { try await first.write(note: note, by: "me") }
            async let one = first.undo(author: "me")
            async let two = second.undo(author: "me")
            #expect(try await one != nil)
            #expect(try await two != nil)
            #expect(try await second.undo(author: "me") != nil)
            #expect(try await first.undo(author: "me") == nil)
            #expect(try await first.read { try $0.fetch(ContactEntity.self).map(\.note) } == [nil])
        }
    }

    /// The list of another member, and a draft there, follow a revert that deletes an object and one that brings it back.
    @Test(arguments: SharedPlace.Kind.all)
    func anotherMemberFollowsAnUndo(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo(configuration: .keeping()) { first, second in
            let (mine, theirs) = (
                try first.dataSource(ContactDataSource.self), try second.dataSource(ContactDataSource.self)
            )
            try await mine.add(contactList(0..<1))
            try await first.withAuthor("me") {
                try await mine.perform { try $0.delete(ContactEntity.self, where: \.uid == "uid-0") }
            }
            let list = try theirs.list(ObjectRequest(ContactEntity.self))
            while !list.snapshot.isEmpty { await Task.yield() }
            try await first.undo(author: "me")
            while list.snapshot.isEmpty { await Task.yield() }
            let contact = try #require(try theirs.fetch(ContactEntity.self).first)
            #expect(contact.name == "name 0" && list.snapshot.first?.id == contact.objectID)
            let draft = try theirs.draft(of: contact)
            draft.object.note = "from a draft"
            try await first.redo(author: "me")
            while !list.snapshot.isEmpty { await Task.yield() }
            await expectError(.draftConflict) { try await draft.save() }
            try await first.undo(author: "me")
            while list.snapshot.isEmpty { await Task.yield() }
            // The object that the draft has edited is back, so nothing is in conflict.
            try await draft.save()
            #expect(try await first.read { try $0.fetch(ContactEntity.self).map(\.note) } == ["from a draft"])
        }
    }

    @Test(arguments: HistoryPlace.all)
    func mainShowsEachUndoWhenTheCallReturns(place: HistoryPlace) async throws {
        try await place.withContainer { container, _ in
            let contacts = try container.dataSource(ContactDataSource.self)
            try await contacts.add(contactList(0..<1))
            try await container.write(note: "edited", by: "me")
            try await container.withAuthor("me") { try await contacts.add(contactList(5..<6)) }
            let object = try #require(try contacts.main.first(ContactEntity.self, where: \.uid, equals: "uid-0"))
            let list = try contacts.list(ObjectRequest(ContactEntity.self))
            #expect(object.note == "edited" && list.count == 2)
            try await container.undo(author: "me")
            #expect(object.note == "edited" && list.count == 1)
            try await container.undo(author: "me")
            #expect(object.note == nil && list.count == 1)
            try await container.redo(author: "me")
            #expect(object.note == "edited" && list.count == 1)
            try await container.redo(author: "me")
            #expect(object.note == "edited" && list.count == 2)
            let added = try #require(try await container.records().last)
            try await container.revert(added)
            #expect(object.note == "edited" && list.count == 1)
        }
    }

    @Test func withoutAHistoryThereIsNoUndo() async throws {
        let directory = try TemporaryDirectory()
        let container = try await HistoryPlace.sqlite.open(directory.store, .keeping(.none))
        await expectError(.historyNotKept) { try await container.undo(author: "me") }
        try await container.close()
    }
}

@MainActor
extension PersistentContainer {
    /// The note of the first contact.
    var note: String? {
        get throws { try main.first(ContactEntity.self, where: \.uid, equals: "uid-0")?.note }
    }

    /// Sets the note of the first contact in a save of the author.
    func write(note: String, by author: String) async throws {
        let contacts = try dataSource(ContactDataSource.self)
        try await withAuthor(author) {
            try await contacts.perform { context in
                try context.first(ContactEntity.self, where: \.uid, equals: "uid-0")?.note = note
            }
        }
    }
}
