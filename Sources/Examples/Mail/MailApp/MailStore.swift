package import CoreDataSource

/// The app's logic: a container, and a data source for each feature. A program or a view adds only the user interface.
@MainActor
package struct MailStore {
    package let container: PersistentContainer
    package let accounts: AccountDataSource
    package let mailboxes: MailboxDataSource
    package let messages: MessageDataSource
    package let labels: LabelDataSource
    package let contacts: ContactDataSource

    /// Opens the store, or makes it if it does not exist.
    ///
    /// - Parameters:
    ///   - location: The file of the store.
    ///   - user: The name of the user. A store of another user is replaced with an empty store.
    package init(_ location: StoreLocation, user: String) async throws {
        container = try await PersistentContainer(model: .mail, store: location, databaseKey: user)
        accounts = try container.dataSource(AccountDataSource.self)
        mailboxes = try container.dataSource(MailboxDataSource.self)
        messages = try container.dataSource(MessageDataSource.self)
        labels = try container.dataSource(LabelDataSource.self)
        contacts = try container.dataSource(ContactDataSource.self)
    }

    /// Adds the objects that messages link to: accounts, their mailboxes, contacts and labels.
    package func addAllButMessages(of server: SampleServer) async throws {
        try await accounts.add(server.accounts)
        try await mailboxes.add(server.mailboxes)
        try await contacts.add(server.contacts)
        try await labels.add(server.labels)
    }

    /// Deletes a mailbox with its messages, and the threads that have no other message. Mailboxes and threads belong to two
    /// data sources, so one save spans both.
    package func delete(_ mailbox: Mailbox) async throws {
        try await container.perform(in: mailboxes, messages) { mailboxes, messages in
            try mailboxes.delete(MailboxEntity.self, where: \.path == mailbox.path)
            try messages.delete(ThreadEntity.self, where: .none(\.messages))
        }
    }

    /// The number and the total size of all messages, for the last line of a window.
    package func totals() throws -> LiveAggregate<(Int, Int64)> {
        try messages.liveAggregate(ObjectRequest(MessageEntity.self), .count(), .sum(\.size))
    }

    package func mailbox(_ path: String) throws -> MailboxEntity? {
        try container.main.first(MailboxEntity.self, where: \.path, equals: path)
    }
}
