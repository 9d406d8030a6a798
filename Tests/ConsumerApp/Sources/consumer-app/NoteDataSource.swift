import CoreDataSource
import Foundation

struct NoteData: Equatable {
    var id: UUID
    var text: String
    var createdAt: Date
    var tagName: String?
}

/// Notes, linked to tags by name.
final class NoteDataSource: DataSource {
    override class var entities: [ManagedObject.Type] { [Note.self] }

    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        guard let data = object as? NoteData else { return nil }
        let note = try context.findOrInsert(Note.self, where: \.id, equals: data.id)
        note.text = data.text
        note.createdAt = data.createdAt
        note.tagName = data.tagName
        return note
    }

    override func onDelete(_ object: any Sendable, in context: isolated PrivateContext) throws {
        guard let data = object as? NoteData else { return }
        if let note = try context.first(Note.self, where: \.id, equals: data.id) { context.delete(note) }
    }

    /// What is stored, oldest first.
    func all() throws -> [NoteData] {
        try fetch(Note.self, sortBy: [SortDescriptor(\.createdAt)]).map {
            NoteData(id: $0.id, text: $0.text, createdAt: $0.createdAt, tagName: $0.tagName)
        }
    }
}
