import CoreDataSource

struct TagData {
    var name: String
    var isPinned = false
}

final class TagDataSource: DataSource {
    override class var entities: [ManagedObject.Type] { [Tag.self] }

    override func onAdd(_ object: any Sendable, in context: isolated PrivateContext) throws -> ManagedObject? {
        guard let data = object as? TagData else { return nil }
        let tag = try context.findOrInsert(Tag.self, where: \.name, equals: data.name)
        tag.isPinned = data.isPinned
        return tag
    }
}
