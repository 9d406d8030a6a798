import CoreDataSource
import RowStore
import Testing

/// A consumer of the kept history that keeps a copy of all contacts.
@MainActor
final class ContactCopy {
    private struct Contact: Equatable {
        let uid: String
        let name: String
        let phone: String?
    }

    private var contacts: [ManagedObjectID: Contact] = [:]
    /// The position after the last record that was read; nil if none was.
    private var position: HistoryPosition?
    /// The number of resets that the copy knows.
    private var resets = 0

    /// Reads the new records. Each must be there once, and in order, and after a reset an error must say so. The copy must then be
    /// the store.
    ///
    /// - Parameter resets: The number of resets so far.
    func follow(_ container: PersistentContainer, resets: Int = 0, _ comment: Comment) async throws {
        let mustExpire = position != nil && resets != self.resets
        var isExpired = false
        do {
            try await read(container, comment)
        } catch let error as DataSourceError where error.code == .historyExpired {
            isExpired = true
        }
        #expect(isExpired == mustExpire, comment)
        self.resets = resets
        if isExpired {
            // The reset has dropped all contacts, and the new history has all later ones.
            (contacts, position) = ([:], nil)
            try await read(container, comment)
        }
        // A private context has the newest rows, also those of other processes.
        let stored = try await container.dataSource(ContactDataSource.self).perform { context in
            try context.fetch(ContactEntity.self).map { Contact(uid: $0.uid, name: $0.name, phone: $0.phone) }
        }
        #expect(contacts.values.sorted { $0.uid < $1.uid } == stored.sorted { $0.uid < $1.uid }, comment)
    }

    private func read(_ container: PersistentContainer, _ comment: Comment) async throws {
        for try await record in container.history(after: position) {
            #expect(record.number == (position?.number ?? 0) + 1, comment)
            #expect(record.hasValues || record.kind == .reset, comment)
            for change in try record.changes(of: ContactEntity.self) {
                contacts[change.id] = change.new.map { Contact(uid: $0.uid, name: $0.name, phone: $0.phone) }
            }
            position = record.position
        }
    }
}
