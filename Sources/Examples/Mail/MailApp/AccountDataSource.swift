package import CoreDataSource

/// An account in the app's settings.
package struct Account: Sendable, Hashable {
    package var address: String
    package var name: String

    package init(address: String, name: String) {
        (self.address, self.name) = (address, name)
    }
}

/// The data source of accounts.
///
/// A value and its object have the same key, so a `KeyedDataSource` needs no hooks for adding, deleting and syncing. Delete
/// rules also apply to objects of other data sources: deleting an account deletes its mailboxes, threads and messages.
package final class AccountDataSource: KeyedDataSource<Account, AccountEntity> {
    package nonisolated override class var key: ObjectKey<Account, AccountEntity> { ObjectKey(\.address, \.address) }

    package nonisolated override func update(_ entity: AccountEntity, from account: Account, in context: PrivateContext)
    {
        entity.name = account.name
    }

    /// A live list of the accounts, sorted by name.
    package func all() throws -> LiveList<AccountEntity> {
        try list(ObjectRequest(AccountEntity.self, order: [.ascending(\.name)]))
    }
}

/// A mailbox in a server's listing.
package struct Mailbox: Sendable, Hashable {
    /// The address of the account.
    package var account: String
    package var name: String
    package var role: MailboxRole

    package init(account: String, name: String, role: MailboxRole) {
        (self.account, self.name, self.role) = (account, name, role)
    }

    /// The key of the mailbox.
    package var path: String { "\(account)/\(name)" }
}

/// The data source of mailboxes. It links each mailbox to an account, which another data source owns. This data source can read
/// and link accounts, but does not edit them.
package final class MailboxDataSource: DataSource<Mailbox> {
    package nonisolated override class var entities: [ManagedObject.Type] { [MailboxEntity.self] }

    package nonisolated override func prepare(_ mailboxes: [Mailbox], in context: PrivateContext) throws {
        try context.preload(MailboxEntity.self, where: \.path, in: mailboxes.map(\.path))
        try context.preload(AccountEntity.self, where: \.address, in: mailboxes.map(\.account))
    }

    /// Ignores a mailbox of an unknown account.
    package nonisolated override func onAdd(_ mailbox: Mailbox, in context: PrivateContext) throws -> ManagedObject? {
        guard let account = try context.first(AccountEntity.self, where: \.address, equals: mailbox.account) else {
            return nil
        }
        let entity = try context.findOrInsert(MailboxEntity.self, where: \.path, equals: mailbox.path)
        entity.name = mailbox.name
        entity.role = mailbox.role
        entity.account = account
        return entity
    }

    package nonisolated override func onDelete(_ mailbox: Mailbox, in context: PrivateContext) throws {
        try context.delete(MailboxEntity.self, where: \.path == mailbox.path)
    }

    /// A live list for the sidebar: all mailboxes, with a section for each account. Two accounts can have the same
    /// name, so the sections are ordered by the address.
    package func sidebar() throws -> LiveList<MailboxEntity> {
        var request = ObjectRequest(MailboxEntity.self, order: [.ascending(\.role), .ascending(\.name)])
        request.sections = .titles(\.account?.name, orderedBy: .ascending(\.account?.address))
        return try list(request)
    }
}

/// The numbers of unread messages, for the badges of mailboxes. A live aggregate keeps each number up to date.
@MainActor
package final class UnreadBadges {
    private let messages: MessageDataSource
    private var counts: [ManagedObjectID: LiveAggregate<Int>] = [:]

    package init(_ messages: MessageDataSource) {
        self.messages = messages
    }

    /// Returns the number of unread messages of a mailbox. The first call for a mailbox counts the messages. Afterwards, every
    /// save updates the number.
    package func count(_ mailbox: ManagedObjectID) throws -> Int {
        if let count = counts[mailbox] { return count.value }
        let count = try messages.liveAggregate(
            ObjectRequest(MessageEntity.self, where: \.mailbox == mailbox && \.isRead == false), .count())
        counts[mailbox] = count
        return count.value
    }

    /// Keeps the counts of these mailboxes, and ends the counts of all other mailboxes.
    package func keep(_ mailboxes: [ManagedObjectID]) {
        let shown = Set(mailboxes)
        counts = counts.filter { shown.contains($0.key) }
    }
}
