package import CoreDataSource

/// A contact in the server's address book. Notes are kept only in the app.
package struct Contact: Sendable, Hashable {
    package var address: String
    package var name: String
    package var phone: String?

    package init(address: String, name: String, phone: String? = nil) {
        (self.address, self.name, self.phone) = (address, name, phone)
    }
}

package final class ContactDataSource: KeyedDataSource<Contact, ContactEntity> {
    package nonisolated override class var key: ObjectKey<Contact, ContactEntity> { ObjectKey(\.address, \.address) }

    package nonisolated override func update(_ entity: ContactEntity, from contact: Contact, in context: PrivateContext)
    {
        entity.name = contact.name
        entity.phone = contact.phone
    }

    /// Deletes a contact.
    ///
    /// - Returns: The number of messages that prevent the deletion; 0 if the contact was deleted.
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

    /// The errors that the validation finds in the name that the form has now.
    package var complaints: [String] { draft.errors(of: draft.object, \.name).map(\.message) }

    package var canUndo: Bool { draft.canUndo }

    package func undo() { draft.undo() }

    /// The fields for which the user has to choose a value.
    package func conflicts() throws -> [Conflict] {
        try draft.conflicts().map { change in
            Conflict(
                field: change.propertyName ?? "contact", before: Self.words(change.base), mine: Self.words(change.mine),
                theirs: Self.words(change.theirs))
        }
    }

    /// Saves the form. A field is merged if only the user or only somebody else has changed it.
    ///
    /// - Parameter keepsMine: In fields with conflicts, whether the user's values replace the values of others; nil if the
    ///   user has not chosen. In that case, a form with conflicts is not saved.
    /// - Returns: Whether the form was saved. A form that was not saved keeps all edits.
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
