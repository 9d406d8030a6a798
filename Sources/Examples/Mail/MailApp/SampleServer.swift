package import Foundation

/// A mail server that exists only in memory. The same seed always gives the same accounts, contacts and messages.
package struct SampleServer: Sendable {
    package static let accounts = [
        Account(address: "lin@garden.example", name: "Home"),
        Account(address: "rowing@club.example", name: "Rowing club"),
        Account(address: "lin.mei@harbour.example", name: "Work"),
    ]

    package let accounts = SampleServer.accounts
    package let mailboxes: [Mailbox]
    package private(set) var contacts: [Contact]
    package let labels = [
        Label(name: "Invoices", word: "invoice"), Label(name: "Plans", word: "plan"),
        Label(name: "Travel", word: "trip"),
    ]
    /// All messages, oldest first.
    package private(set) var messages: [Message]

    /// - Parameters:
    ///   - now: The time of the newest messages. The oldest messages are about six weeks older.
    package init(messageCount: Int, now: Date, seed: UInt64 = 1) {
        var random = SampleRandom(seed: seed)
        mailboxes = Self.accounts.flatMap { account in
            [("Inbox", MailboxRole.inbox), ("Archive", .archive), ("Lists", .other)].map { name, role in
                Mailbox(account: account.address, name: name, role: role)
            }
        }
        contacts = SamplePeople.contacts(&random)
        messages = []
        var writer = ThreadWriter(contacts: contacts, mailboxes: mailboxes, now: now)
        while messages.count < messageCount {
            messages += writer.thread(&random).prefix(messageCount - messages.count)
        }
        messages.sort { ($0.date, $0.uid) < ($1.date, $1.uid) }
    }

    /// Returns the current messages of a mailbox.
    package func listing(_ path: String) -> [Message] { messages.filter { $0.mailbox == path } }

    /// Simulates changes on the server while the app is not connected. Another device reads the newest messages of a mailbox
    /// and deletes the oldest messages. The newest message gets replies.
    package mutating func passTime(in path: String, reads: Int, deletes: Int, replies: Int) {
        let old = listing(path)
        guard let newest = old.last else { return }
        let deleted = Set(old.prefix(deletes).map(\.uid))
        let read = Set(old.reversed().lazy.filter { !$0.isRead }.prefix(reads).map(\.uid))
        messages.removeAll { deleted.contains($0.uid) }
        for index in messages.indices where read.contains(messages[index].uid) { messages[index].isRead = true }
        for number in 0..<replies {
            var reply = newest
            reply.uid = "\(newest.uid)-reply\(number + 1)"
            reply.subject = "Re: \(newest.topic)"
            reply.date += Double(number + 1) * 240
            reply.isRead = false
            reply.sender = contacts[(number + 7) % contacts.count].address
            messages.append(reply)
        }
    }

    /// Simulates a colleague who changes a contact's name and phone number in the shared address book.
    package mutating func edit(contact address: String, name: String, phone: String) {
        for index in contacts.indices where contacts[index].address == address {
            contacts[index].name = name
            contacts[index].phone = phone
        }
    }
}

/// Writes threads. A thread is a message with replies. Each reply comes at most about 20 hours after the previous message, and
/// no message is in the future.
private struct ThreadWriter {
    let contacts: [Contact]
    let mailboxes: [Mailbox]
    let now: Date
    private var threadCount = 0
    private var messageCount = 0

    init(contacts: [Contact], mailboxes: [Mailbox], now: Date) {
        (self.contacts, self.mailboxes, self.now) = (contacts, mailboxes, now)
    }

    mutating func thread(_ random: inout SampleRandom) -> [Message] {
        threadCount += 1
        let mailbox = mailboxes[random.pick(weights: [30, 22, 6, 8, 5, 2, 18, 14, 5])]
        let people = (0..<4).map { _ in contacts[random.next(below: contacts.count)].address }
        let subject = SamplePeople.subject(&random)
        // Most messages come during the day. Older messages are rarer than new messages.
        let age = 42 * (random.share() + random.share() * random.share()) / 2
        let midnight = (now.timeIntervalSinceReferenceDate / 86400 - age).rounded(.down) * 86400
        var date = Date(timeIntervalSinceReferenceDate: midnight + (6 + 14 * random.share()) * 3600)
        if date > now { date -= 86400 }
        var thread: [Message] = []
        let length = mailbox.role == .other ? 1 : 1 + random.pick(weights: [50, 22, 12, 7, 4, 3, 1, 1])
        while thread.count < length, date <= now {
            thread.append(message(thread.count, subject, in: mailbox, from: people, at: date, &random))
            date += (0.1 + 20 * random.share() * random.share()) * 3600
        }
        return thread
    }

    private mutating func message(
        _ position: Int, _ subject: String, in mailbox: Mailbox, from people: [String], at date: Date,
        _ random: inout SampleRandom
    ) -> Message {
        messageCount += 1
        let text = SamplePeople.text(&random)
        let attachment = random.next(below: 6) == 0 ? Int64(20_000 + random.next(below: 4_000_000)) : 0
        let days = now.timeIntervalSince(date) / 86400
        let unreadShare = mailbox.role == .archive ? 0.005 : days < 1 ? 0.6 : days < 4 ? 0.25 : 0.02
        return Message(
            uid: Self.number(messageCount, "m"), thread: Self.number(threadCount, "t"), mailbox: mailbox.path,
            sender: people[position % people.count], subject: position == 0 ? subject : "Re: \(subject)", text: text,
            // Whole seconds, as in a mail header.
            date: Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down)),
            isRead: random.share() >= unreadShare, size: Int64(text.utf8.count + 900) + attachment,
            attachmentSize: attachment)
    }

    /// Returns a key with leading zeros, so that the order of the keys is the order of the numbers.
    private static func number(_ number: Int, _ prefix: String) -> String {
        prefix + String(String(1_000_000 + number).dropFirst())
    }
}
