import CoreDataSource

struct TagData: Sendable {
    var name: String
    var isPinned = false
}

final class TagDataSource: DataSource<TagData> {
    nonisolated override class var entities: [ManagedObject.Type] { [Tag.self] }

    nonisolated override func onAdd(_ data: TagData, in context: PrivateContext) throws -> ManagedObject? {
        let tag = try context.findOrInsert(Tag.self, where: \.name, equals: data.name)
        tag.isPinned = data.isPinned
        return tag
    }
}
