import CoreDataSource
import Foundation

// This target is isolated to the main actor by default, as Xcode sets new apps up. Classes of objects need no annotation; hooks say
// that they run off the main actor.

/// Written by hand: the model says `category`, so its properties are generated in an extension.
class Tag: ManagedObject {
    override class var entityName: String { Generated.entityName }
    override class var attributeKeyPaths: [AnyKeyPath: String] { Generated.attributeKeyPaths }

    /// How a list of tags shows it.
    var title: String { isPinned ? "* \(name)" : name }
}

nonisolated struct NoteData: Equatable, Sendable {
    var id: UUID
    var text: String
}

/// A value that is made in the context of its object.
struct NoteText: ManagedObjectConvertible {
    let text: String

    init(_ note: Note) {
        text = note.text
    }
}

final class NoteDataSource: KeyedDataSource<NoteData, Note> {
    nonisolated override class var key: ObjectKey<NoteData, Note> { ObjectKey(\.id, \.id) }

    nonisolated override func update(_ note: Note, from data: NoteData, in context: PrivateContext) {
        note.text = data.text
        if note.isInserted { note.createdAt = Date(timeIntervalSinceReferenceDate: 0) }
    }

    nonisolated override func link(_ note: Note, from data: NoteData, in context: PrivateContext) throws {
        note.tagName = try context.first(Tag.self, where: \.name, equals: data.text)?.name
    }

    // The data source's own state is main's.
    var shown = 0

    func show() throws {
        shown = try fetch(Note.self).count
    }
}

nonisolated struct TagData: Sendable {
    var name: String
    var isPinned = false
}

final class TagDataSource: DataSource<TagData> {
    nonisolated override class var entities: [ManagedObject.Type] { [Tag.self] }

    nonisolated override func prepare(_ values: [TagData], in context: PrivateContext) throws {
        try context.preload(Tag.self, where: \.name, in: values.map(\.name))
    }

    nonisolated override func onAdd(_ data: TagData, in context: PrivateContext) throws -> ManagedObject? {
        let tag = try context.findOrInsert(Tag.self, where: \.name, equals: data.name)
        tag.isPinned = data.isPinned
        return tag
    }

    nonisolated override func onLink(_ object: ManagedObject, for data: TagData, in context: PrivateContext) throws {}

    nonisolated override func onDelete(_ data: TagData, in context: PrivateContext) throws {
        try context.delete(Tag.self, where: \.name == data.name)
    }

    nonisolated override func handleError(_ failure: StoreFailure) {}
}

/// A list on the screen.
final class TagList: DataSourceDelegate {
    private(set) var titles: [String] = []
    private let tags: TagDataSource

    init(_ tags: TagDataSource) throws {
        self.tags = tags
        try tags.register(
            self, dataKey: "tags", ObjectRequest(Tag.self, order: [.ascending(\.name)]), sectionBy: \.isPinned)
        show()
    }

    private func show() { titles = tags.allObjects(dataKey: "tags", as: Tag.self).map(\.title) }

    func didChangeContent(dataKey: String) { show() }
}
