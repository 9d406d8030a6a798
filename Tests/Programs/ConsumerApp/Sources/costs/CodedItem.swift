import CoreDataSource

/// The class of the bundle, in code.
@StoredEntity("Item") final class CodedItem: ManagedObject {
    @Stored(unique: true) var key: String = ""
    var name: String = ""
    var note: String?
    var number: Int64 = 0
    var price: Double = 0
}

extension ManagedObjectModel {
    static let itemsInCode = ManagedObjectModel("Items") { CodedItem.self }
}

final class CodedItemDataSource: DataSource<ItemData> {
    nonisolated override class var entities: [ManagedObject.Type] { [CodedItem.self] }

    nonisolated override func onAdd(_ data: ItemData, in context: PrivateContext) throws -> ManagedObject? {
        let item = try context.findOrInsert(CodedItem.self, where: \.key, equals: data.key)
        (item.name, item.note, item.number, item.price) = (data.name, data.note, data.number, data.price)
        return item
    }
}
