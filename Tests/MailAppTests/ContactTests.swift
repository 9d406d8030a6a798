import CoreDataSource
import ErrorExpectations
import Foundation
import MailApp
import Testing

/// Contacts, and a form that is edited while others save.
@MainActor
struct ContactTests {
    private func form(in world: MailWorld) throws -> (ContactForm, ContactEntity) {
        let contact = try #require(
            try world.main.first(ContactEntity.self, where: \.address, equals: world.server.contacts[0].address))
        return (try ContactForm(world.store.contacts, contact), contact)
    }

    /// Others change the name and the phone, while the form has another name and a note.
    private func conflict(in world: MailWorld) async throws -> (ContactForm, ContactEntity) {
        let (form, contact) = try form(in: world)
        form.name = "Mine"
        form.note = "A note"
        world.server.edit(contact: contact.address, name: "Theirs", phone: "+00 555 0100")
        let report = try await world.store.contacts.sync(world.server.contacts)
        #expect(report.updated == 1 && report.unchanged == world.server.contacts.count - 1)
        return (form, contact)
    }

    @Test func aFormShowsItsEditsAloneUntilItIsSaved() async throws {
        let world = try await MailWorld(imports: false)
        let (form, contact) = try form(in: world)
        let name = contact.name
        form.name = "Mine"
        #expect(contact.name == name && form.canUndo)
        form.undo()
        #expect(form.name == name && !form.canUndo)
        form.name = "Mine"
        #expect(try await form.save())
        #expect(contact.name == "Mine")
    }

    @Test func aNameThatIsMissingIsComplainedAbout() async throws {
        let world = try await MailWorld(imports: false)
        let (form, contact) = try form(in: world)
        #expect(form.complaints == [])
        form.name = ""
        #expect(form.complaints.count == 1)
        await expectError(.validationFailed) { try await form.save() }
        #expect(contact.name == world.server.contacts[0].name)
    }

    @Test func aConflictIsShownAndTheFormKeepsItsEdits() async throws {
        let world = try await MailWorld(imports: false)
        let before = world.server.contacts[0].name
        let (form, contact) = try await conflict(in: world)
        #expect(try await form.save() == false)
        let conflicts = try form.conflicts()
        #expect(conflicts.map(\.field) == ["name"])
        #expect(conflicts.map { [$0.before, $0.mine, $0.theirs] } == [[before, "Mine", "Theirs"]])
        #expect(form.name == "Mine" && form.note == "A note")
        #expect(contact.name == "Theirs" && contact.note == nil)
    }

    @Test(arguments: [true, false])
    func theUserDecidesAConflictAndTheRestIsMerged(keepsMine: Bool) async throws {
        let world = try await MailWorld(imports: false)
        let (form, contact) = try await conflict(in: world)
        #expect(try await form.save(keepsMine: keepsMine))
        #expect(contact.name == (keepsMine ? "Mine" : "Theirs"))
        #expect(contact.phone == "+00 555 0100" && contact.note == "A note")
        #expect(form.name == contact.name && form.phone == contact.phone)
        #expect(try form.conflicts() == [])
    }

    @Test func aSyncKeepsTheNotes() async throws {
        let world = try await MailWorld(imports: false)
        let (form, contact) = try form(in: world)
        form.note = "A note"
        #expect(try await form.save())
        try await world.store.contacts.sync(world.server.contacts)
        #expect(contact.note == "A note")
    }

    @Test func aContactWithMessagesIsKept() async throws {
        let world = try await MailWorld()
        let sender = try #require(world.server.messages.last?.sender)
        let contact = try #require(world.server.contacts.first { $0.address == sender })
        let sent = world.server.messages.filter { $0.sender == sender }
        #expect(try await world.store.contacts.remove(contact) == sent.count)
        #expect(try world.main.exists(ContactEntity.self, where: \.address == sender))
        try await world.store.messages.delete(sent)
        #expect(try await world.store.contacts.remove(contact) == 0)
        #expect(try !world.main.exists(ContactEntity.self, where: \.address == sender))
    }
}
