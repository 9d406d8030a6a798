import CoreDataSource
import Foundation

struct NoteData: Equatable, Sendable {
    var id: UUID
    var text: String
    var createdAt: Date
    var tagName: String?
}

/// Notes, linked to tags by name.
final class NoteDataSource: KeyedDataSource<NoteData, Note> {
    nonisolated override class var key: ObjectKey<NoteData, Note> { ObjectKey(\.id, \.id) }

    nonisolated override func update(_ note: Note, from data: NoteData, in context: PrivateContext) {
        note.text = data.text
        note.createdAt = data.createdAt
        note.tagName = data.tagName
    }

    /// What is stored, oldest first.
    func all() throws -> [NoteData] {
        try fetch(Note.self, order: [SortDescriptor(\.createdAt)]).map {
            NoteData(id: $0.id, text: $0.text, createdAt: $0.createdAt, tagName: $0.tagName)
        }
    }
}
