package import CoreDataSource
package import Foundation

// The app has five data sources, and the model has six classes. Each class belongs to exactly one data source.

/// An account with its mailboxes and threads, which are deleted with the account.
@StoredEntity package final class AccountEntity: ManagedObject {
    @Stored(unique: true) package var address: String
    package var name: String = ""
    @Related(inverse: "account", onDelete: .cascade) package var mailboxes: RelatedObjects<MailboxEntity>
    @Related(inverse: "account", onDelete: .cascade) package var threads: RelatedObjects<ThreadEntity>
}

/// A mailbox of an account. Its messages are deleted with the mailbox.
@StoredEntity package final class MailboxEntity: ManagedObject {
    /// The address of the account and the name: `mei@garden.example/Inbox`.
    @Stored(unique: true) package var path: String
    package var name: String = ""
    @Stored(raw: Int16.self) package var role: MailboxRole = .other
    @Related package var account: AccountEntity?
    @Related(inverse: "mailbox", onDelete: .cascade) package var messages: RelatedObjects<MessageEntity>
}

/// The purpose of a mailbox. The raw values set the order in a sidebar.
package enum MailboxRole: Int16, AttributeStorable, Codable {
    case inbox, archive, other
}

/// A conversation: a message and all its replies. Its messages can be in several mailboxes of one account.
@StoredEntity package final class ThreadEntity: ManagedObject {
    @Stored(unique: true) package var uid: String
    package var subject: String = ""
    @Stored(derived: "messages.@count") package var messageCount: Int64
    @Related package var account: AccountEntity?
    @Related(inverse: "thread", onDelete: .cascade) package var messages: RelatedObjects<MessageEntity>
}

/// A message. The index is for the list of a mailbox, which shows the newest message first.
@StoredEntity(indexes: [
    FetchIndexDescription(
        name: "byMailboxAndDate",
        elements: [
            .init(property: "mailbox"), .init(property: "date", isAscending: false),
            .init(property: "uid", isAscending: false),
        ])
])
package final class MessageEntity: ManagedObject {
    @Stored(unique: true) package var uid: String
    package var date: Date = .distantPast
    package var isRead: Bool = false
    @Stored(length: ...200) package var subject: String = ""
    package var text: String = ""
    /// The size in bytes, including attachments.
    @Stored(in: 0...) package var size: Int64 = 0
    /// The size of the attachments in bytes; 0 if there are none.
    @Stored(in: 0...) package var attachmentSize: Int64 = 0
    @Related package var mailbox: MailboxEntity?
    @Related package var thread: ThreadEntity?
    @Related package var sender: ContactEntity?
    @Related(inverse: "messages") package var labels: RelatedObjects<LabelEntity>
}

/// A label. The label is added to all messages with its word in their subject.
@StoredEntity package final class LabelEntity: ManagedObject {
    @Stored(unique: true) package var name: String
    package var word: String = ""
    @Related package var messages: RelatedObjects<MessageEntity>
}

/// A person or a service that sends messages. A contact with messages cannot be deleted.
@StoredEntity package final class ContactEntity: ManagedObject {
    @Stored(unique: true) package var address: String
    @Stored(length: 1...80) package var name: String = ""
    package var phone: String?
    package var note: String?
    @Related(inverse: "sender", onDelete: .deny) package var messages: RelatedObjects<MessageEntity>
}

extension ManagedObjectModel {
    package static let mail = ManagedObjectModel("Mail") {
        AccountEntity.self
        MailboxEntity.self
        ThreadEntity.self
        MessageEntity.self
        LabelEntity.self
        ContactEntity.self
    }
}
