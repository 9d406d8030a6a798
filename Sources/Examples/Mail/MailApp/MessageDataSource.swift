package import CoreDataSource
package import Foundation

/// A message from a server.
package struct Message: Sendable, Hashable {
    package var uid: String
    /// The uid of the thread.
    package var thread: String
    /// The path of the mailbox.
    package var mailbox: String
    /// The address of the sender.
    package var sender: String
    package var subject: String
    package var text: String
    package var date: Date
    package var isRead: Bool
    /// The size in bytes, including attachments.
    package var size: Int64
    /// The size of the attachments in bytes.
    package var attachmentSize: Int64

    package init(
        uid: String, thread: String, mailbox: String, sender: String, subject: String, text: String, date: Date,
        isRead: Bool, size: Int64, attachmentSize: Int64
    ) {
        (self.uid, self.thread, self.mailbox, self.sender) = (uid, thread, mailbox, sender)
        (self.subject, self.text, self.date, self.isRead) = (subject, text, date, isRead)
        (self.size, self.attachmentSize) = (size, attachmentSize)
    }

    /// The subject without the prefix `Re: `.
    var topic: String { subject.hasPrefix("Re: ") ? String(subject.dropFirst(4)) : subject }
}

/// The data source of messages and their threads.
package final class MessageDataSource: DataSource<Message> {
    package nonisolated override class var entities: [ManagedObject.Type] { [MessageEntity.self, ThreadEntity.self] }

    /// Reads all objects that `onAdd` looks up, with one query for each entity. Mailboxes and contacts belong to other
    /// data sources.
    package nonisolated override func prepare(_ messages: [Message], in context: PrivateContext) throws {
        try context.preload(MessageEntity.self, where: \.uid, in: messages.map(\.uid))
        try context.preload(ThreadEntity.self, where: \.uid, in: messages.map(\.thread))
        try context.preload(MailboxEntity.self, where: \.path, in: Set(messages.map(\.mailbox)))
        try context.preload(ContactEntity.self, where: \.address, in: Set(messages.map(\.sender)))
    }

    /// Ignores a message for an unknown mailbox. Leaves out an unknown sender.
    package nonisolated override func onAdd(_ message: Message, in context: PrivateContext) throws -> ManagedObject? {
        guard let mailbox = try context.first(MailboxEntity.self, where: \.path, equals: message.mailbox) else {
            return nil
        }
        let entity = try context.findOrInsert(MessageEntity.self, where: \.uid, equals: message.uid)
        entity.date = message.date
        entity.isRead = message.isRead
        entity.subject = message.subject
        entity.text = message.text
        entity.size = message.size
        entity.attachmentSize = message.attachmentSize
        entity.mailbox = mailbox
        entity.sender = try context.first(ContactEntity.self, where: \.address, equals: message.sender)
        entity.thread = try thread(of: message, in: mailbox, context)
        return entity
    }

    private nonisolated func thread(
        of message: Message, in mailbox: MailboxEntity, _ context: PrivateContext
    ) throws -> ThreadEntity {
        let thread = try context.findOrInsert(ThreadEntity.self, where: \.uid, equals: message.thread)
        thread.subject = message.topic
        thread.account = mailbox.account
        return thread
    }

    /// Deletes the message. Also deletes its thread if the thread has no other message.
    package nonisolated override func onDelete(_ message: Message, in context: PrivateContext) throws {
        guard let entity = try context.first(MessageEntity.self, where: \.uid, equals: message.uid) else { return }
        let thread = entity.thread
        context.delete(entity)
        if let thread, thread.messages.isEmpty { context.delete(thread) }
    }
}

/// The app's operations on messages.
extension MessageDataSource {
    /// Adds messages in batches. Each batch is one save. Lists and badges show the save before the next batch begins.
    ///
    /// - Parameters:
    ///   - messages: The messages. A message that is already stored is updated.
    ///   - batchSize: The number of messages in each save.
    ///   - progress: Called after each save, with the number of messages that are done.
    package func importAll(
        _ messages: [Message], batchSize: Int = 250, progress: (_ done: Int) async throws -> Void = { _ in }
    ) async throws {
        for start in stride(from: 0, to: messages.count, by: batchSize) {
            let end = min(start + batchSize, messages.count)
            try await add(Array(messages[start..<end]))
            try await progress(end)
        }
    }

    /// Makes a mailbox equal to its listing on the server, and deletes threads that have no messages left.
    ///
    /// - Throws: `tooManyDeletions` if the listing lacks more than half of the mailbox's messages, because such a listing is
    ///   probably wrong.
    package func refresh(_ path: String, from listing: [Message]) async throws -> SyncReport {
        let report = try await sync(
            listing, entity: MessageEntity.self, scope: \.mailbox?.path == path, deleting: .atMost(0.5))
        // Runs even if this sync deleted nothing, because the app might have ended between an earlier sync and this step.
        try await delete(ThreadEntity.self, where: .none(\.messages))
        return report
    }

    package func markRead(_ ids: [ManagedObjectID]) async throws {
        try await perform { context in
            for message in try context.objects(MessageEntity.self, ids: ids) { message.isRead = true }
        }
    }

    /// A live list of all messages with a word in their subject or their text, newest first.
    package func search(_ word: String) throws -> LiveList<MessageEntity> {
        let options: StringMatching = [.caseInsensitive, .diacriticInsensitive]
        return try list(
            ObjectRequest(
                MessageEntity.self, where: .contains(\.subject, word, options) || .contains(\.text, word, options),
                order: MessageList.newestFirst))
    }
}

/// A page of a mailbox, with a section for each day.
///
/// A sender's new name changes neither the order nor the sections of the list, so the list does not report the new name. A
/// view that shows names should observe the contacts, too.
@MainActor
package final class MessageList {
    /// Messages with the same date are sorted by uid, so that every message is on exactly one page.
    package static let newestFirst: [FetchOrder<MessageEntity>] = [.descending(\.date), .descending(\.uid)]

    package let live: LiveList<MessageEntity>
    package let calendar: Calendar
    /// The cursor at which each page begins, up to the page that is shown; nil for the first page.
    private var starts: [FetchCursor?] = [nil]

    /// - Parameters:
    ///   - mailbox: The mailbox.
    ///   - pageSize: The number of messages on a page.
    ///   - calendar: Divides the messages into days. If the user's time zone changes, make a new list.
    package init(
        _ messages: MessageDataSource, _ mailbox: ManagedObjectID, pageSize: Int, calendar: Calendar
    ) throws {
        var request = ObjectRequest(
            MessageEntity.self, where: \.mailbox == mailbox, order: Self.newestFirst, limit: pageSize)
        request.sections = .days(of: \.date, in: calendar)
        live = try messages.list(request)
        self.calendar = calendar
    }

    /// The number of the page, from 1.
    package var page: Int { starts.count }

    /// Shows the next page. Does nothing if the current page is empty.
    package func showNextPage() throws {
        guard let last = live.snapshot.last else { return }
        let start = FetchCursor(last)
        try live.moveWindow(after: start)
        starts.append(start)
    }

    /// Shows the previous page. Does nothing on the first page.
    package func showPreviousPage() throws {
        guard starts.count > 1 else { return }
        try live.moveWindow(after: starts[starts.count - 2])
        starts.removeLast()
    }
}
