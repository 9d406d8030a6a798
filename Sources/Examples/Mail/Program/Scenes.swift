import CoreDataSource
import Foundation
import MailApp

/// A day with the app, in scenes. Each scene changes the store, and shows how lists and badges follow the change.
@MainActor
final class Scenes {
    private let store: MailStore
    private let window: MailWindow
    private let terminal: Terminal
    private var server: SampleServer
    private let home = "lin@garden.example/Inbox"
    private var number = 0

    init(_ store: MailStore, _ terminal: Terminal, _ server: SampleServer, now: Date) throws {
        self.store = store
        self.terminal = terminal
        self.server = server
        window = try MailWindow(store, now: now)
    }

    func play() async throws {
        try await importMessages()
        try await days()
        try await pages()
        try await reading()
        try await refreshing()
        try await labeling()
        try await editing()
        try await searching()
        try await deleting()
        terminal.endScene()
    }

    private func begin(_ title: String, _ sentence: String) {
        number += 1
        window.title = "\(number). \(title)"
        window.sentence = sentence
        terminal.beginScene()
    }

    private func show(seconds: Double) async throws {
        try await terminal.show(try window.lines(), for: .milliseconds(Int(seconds * 1000)))
    }

    private func open(_ path: String, calendar: Calendar = .eastOfGreenwich(hours: 0)) throws {
        guard let mailbox = try store.mailbox(path) else { return }
        let list = try MessageList(
            store.messages, mailbox.objectID, pageSize: MailWindow.rows, calendar: calendar)
        window.content = .messages(list, of: mailbox)
    }

    // MARK: The scenes

    private func importMessages() async throws {
        let messages = server.messages
        begin("Import", "Each save brings 500 messages. The list and the badges follow without another fetch.")
        try await store.addAllButMessages(of: server)
        try open(home)
        try await store.messages.importAll(messages, batchSize: 500) { done in
            window.progress = Double(done) / Double(messages.count)
            try await show(seconds: 0.2)
        }
        try await show(seconds: 1)
        window.progress = nil
    }

    private func days() async throws {
        begin("Days", "A section is a day. The time zone of the list decides when a day begins: here in Greenwich,")
        try await show(seconds: 1.2)
        try open(home, calendar: .eastOfGreenwich(hours: 9))
        window.sentence += " and here in Tokyo, where the evening's messages belong to the next day."
        try await show(seconds: 1.6)
        try open(home)
    }

    private func pages() async throws {
        guard case .messages(let list, _)? = window.content else { return }
        begin("Pages", "A page begins after the last row of the page before, so page 99 costs as much as page 2.")
        for _ in 0..<2 {
            try list.showNextPage()
            try await show(seconds: 0.5)
        }
        while list.page > 1 { try list.showPreviousPage() }
    }

    private func reading() async throws {
        guard case .messages(let list, _)? = window.content else { return }
        begin("Badges", "Each message that is read is one save. The badge subtracts one row, and counts nothing again.")
        try await show(seconds: 0.6)
        for row in list.live.snapshot.filter({ !$0.isRead }) {
            try await store.messages.markRead([row.id])
            try await show(seconds: 0.25)
        }
        try await show(seconds: 0.8)
    }

    private func refreshing() async throws {
        begin("Sync", "Another device has read and deleted messages, and three replies have arrived.")
        try await show(seconds: 1)
        // Marks the newest messages on the server as read, including those that were read in the app.
        server.passTime(in: home, reads: 12, deletes: 20, replies: 3)
        let report = try await store.messages.refresh(home, from: server.listing(home))
        window.sentence += " A sync made the mailbox equal to the server's listing: "
        window.sentence += "\(report.inserted) new, \(report.updated) changed, \(report.deleted) gone, "
        window.sentence += "\(report.unchanged.grouped) not written."
        try await show(seconds: 1.8)
    }

    private func labeling() async throws {
        begin("Labels", "Each label looks for a word in the subjects.")
        try await store.labels.applyRules(to: store.messages, in: store.container)
        window.sentence += " The links belong to two data sources, and are set in one save over both of them."
        try await show(seconds: 1.6)
    }

    private func editing() async throws {
        let mailbox = window.content
        guard case .messages(let list, _)? = mailbox, let contact = list.live.object(0)?.sender else { return }
        begin("Draft", "A form edits a contact. No list shows the edits before they are saved.")
        let form = try ContactForm(store.contacts, contact)
        let name = form.name
        form.name = name + "-Ito"
        form.note = "Has the key of the boathouse"
        window.content = .form(lines(form, contact, try form.conflicts()))
        try await show(seconds: 1.4)

        server.edit(contact: contact.address, name: "Captain \(name)", phone: "+00 555 0100")
        try await store.contacts.sync(server.contacts)
        let isSaved = try await form.save()
        window.sentence = "Meanwhile a sync has changed the name and the phone. "
        window.sentence +=
            isSaved ? "The form was saved." : "The save is refused, and the form keeps its edits: choose a name."
        window.content = .form(lines(form, contact, try form.conflicts()))
        try await show(seconds: 2)

        let isResolved = try await form.save(keepsMine: true)
        window.sentence =
            isResolved ? "Mine is kept for the name. The phone and the note were merged." : "Still in conflict."
        window.content = .form(lines(form, contact, try form.conflicts()))
        try await show(seconds: 1.6)
        window.content = mailbox
        window.sentence += " The list shows the new name."
        try await show(seconds: 1.2)
    }

    private func searching() async throws {
        let mailbox = window.content
        begin("Search", "A search is a list, too.")
        window.content = .found(try store.messages.search("boathouse"), word: "boathouse")
        try await show(seconds: 1.2)
        if var message = server.listing(home).last {
            message.uid += "-new"
            message.thread = message.uid
            message.subject = "Boathouse flooded"
            message.date = MailProgram.now
            message.isRead = false
            try await store.messages.add(message)
        }
        window.sentence += " A message that arrives now appears in it."
        try await show(seconds: 1.6)
        window.content = mailbox
    }

    private func deleting() async throws {
        begin("Deletion", "An account is deleted. Its mailboxes, threads and messages leave in the same save.")
        try open("lin.mei@harbour.example/Inbox")
        try await show(seconds: 1.2)
        guard let account = server.accounts.last else { return }
        try open(home)
        let report = try await store.accounts.delete(account)
        window.sentence += " \(report.deleted.grouped) objects are gone."
        try await show(seconds: 2.5)
    }

    // MARK: The form

    private func lines(_ form: ContactForm, _ contact: ContactEntity, _ conflicts: [ContactForm.Conflict]) -> [Line] {
        var lines = [Line(contact.address, .strong), Line()]
        lines.append(Line("In the form", .heading))
        for (field, value) in [("name", form.name), ("phone", form.phone), ("note", form.note)] {
            lines.append(Line("  \(field.fitted(to: 8))\(value ?? "")"))
        }
        lines += [Line(), Line("In the store", .heading)]
        for (field, value) in [("name", contact.name), ("phone", contact.phone), ("note", contact.note)] {
            lines.append(Line("  \(field.fitted(to: 8))\(value ?? "")"))
        }
        for conflict in conflicts {
            lines += [Line(), Line("Conflict: \(conflict.field)", .bad)]
            lines.append(Line("  before  \(conflict.before)", .faint))
            lines.append(Line("  mine    \(conflict.mine)", .good))
            lines.append(Line("  theirs  \(conflict.theirs)", .bad))
        }
        return lines
    }
}
