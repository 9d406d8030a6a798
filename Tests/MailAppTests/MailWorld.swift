import CoreDataSource
import Foundation
import MailApp
import TestSupport
import Testing

/// A store in a file of its own, and a server with few messages.
@MainActor
final class MailWorld {
    static let now = Date(timeIntervalSince1970: 1_795_888_800)
    static let inbox = "lin@garden.example/Inbox"

    let directory: TemporaryDirectory
    let store: MailStore
    var server: SampleServer

    init(messageCount: Int = 400, imports: Bool = true) async throws {
        directory = try TemporaryDirectory()
        store = try await MailStore(.sqlite(directory.url.appending(component: "mail.sqlite")), user: "lin")
        server = SampleServer(messageCount: messageCount, now: Self.now)
        try await store.addAllButMessages(of: server)
        if imports { try await store.messages.importAll(server.messages) }
    }

    var main: MainContext { store.container.main }

    func mailbox(_ path: String = inbox) throws -> MailboxEntity { try #require(try store.mailbox(path)) }

    /// What the store has, as the server would list it.
    func stored(_ path: String) throws -> [Message] {
        try store.messages.fetch(
            MessageEntity.self, where: \.mailbox?.path == path, order: [.ascending(\.date), .ascending(\.uid)]
        ).map { message in
            Message(
                uid: message.uid, thread: message.thread?.uid ?? "", mailbox: message.mailbox?.path ?? "",
                sender: message.sender?.address ?? "", subject: message.subject, text: message.text, date: message.date,
                isRead: message.isRead, size: message.size, attachmentSize: message.attachmentSize)
        }
    }

    /// The days of a place that is so many hours east of Greenwich.
    static func calendar(hours: Int) throws -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: hours * 3600))
        return calendar
    }
}
