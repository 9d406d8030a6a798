package import CoreDataSource

/// A contact, as the server's address book has it. Notes are only in the app.
package struct Contact: Sendable, Hashable {
    package var address: String
    package var name: String
    package var phone: String?

    package init(address: String, name: String, phone: String? = nil) {
        (self.address, self.name, self.phone) = (address, name, phone)
    }
}

/// The data source of contacts.
package final class ContactDataSource: KeyedDataSource<Contact, ContactEntity> {
    package nonisolated override class var key: ObjectKey<Contact, ContactEntity> { ObjectKey(\.address, \.address) }

    package nonisolated override func update(_ entity: ContactEntity, from contact: Contact) {
        entity.name = contact.name
        entity.phone = contact.phone
    }

    /// Deletes a contact.
    ///
    /// - Returns: The number of messages that keep the contact from being deleted; 0 if it is gone.
    package func remove(_ contact: Contact) async throws -> Int {
        do {
            try await delete(contact)
            return 0
        } catch let error as DataSourceError where error.code == .deletionDenied {
            return try main.first(ContactEntity.self, where: \.address, equals: contact.address)?.messages.count ?? 0
        }
    }
}

/// A form that edits a contact, and saves or discards its edits as a whole.
@MainActor
package final class ContactForm {
    /// A field that the user and somebody else have changed to different values.
    package struct Conflict: Equatable {
        package var field: String
        package var before, mine, theirs: String
    }

    private let draft: Draft<ContactEntity>

    package init(_ contacts: ContactDataSource, _ contact: ContactEntity) throws {
        draft = try contacts.draft(of: contact)
    }

    package var name: String {
        get { draft.object.name }
        set { draft.object.name = newValue }
    }

    package var phone: String? { draft.object.phone }

    package var note: String? {
        get { draft.object.note }
        set { draft.object.note = newValue }
    }

    /// What is wrong with the name, while the user types.
    package var complaints: [String] { draft.errors(of: draft.object, \.name).map(\.message) }

    package var canUndo: Bool { draft.canUndo }

    package func undo() { draft.undo() }

    /// The fields for which the user has to choose.
    package func conflicts() throws -> [Conflict] {
        try draft.conflicts().map { change in
            Conflict(
                field: change.propertyName ?? "contact", before: Self.words(change.base), mine: Self.words(change.mine),
                theirs: Self.words(change.theirs))
        }
    }

    /// Saves the form. Fields that only one side has changed are merged.
    ///
    /// - Parameter keepsMine: The user's choice for the fields with conflicts; nil as long as the user has not chosen.
    /// - Returns: Whether the form was saved. If it was not, it still has all edits.
    package func save(keepsMine: Bool? = nil) async throws -> Bool {
        do {
            let resolution = keepsMine.map { $0 ? DraftResolution.keepMine : .takeTheirs } ?? .fail
            try await draft.save(resolving: resolution)
            return true
        } catch let error as DataSourceError where error.code == .draftConflict {
            return false
        }
    }

    private static func words(_ value: (any Sendable)?) -> String { value.map { "\($0)" } ?? "none" }
}
