import CoreDataSource

/// The class of the bundle, in code.
@StoredEntity("Item") final class CodedItem: ManagedObject {
    @Stored(unique: true) var key: String = ""
    var name: String = ""
    var note: String?
    var number: Int64 = 0
    var price: Double = 0
}

@StoredEntity(isAbstract: true) class CodedParent: ManagedObject {
    var kind: Int16 = 0
}

/// The same attributes in a class that has a parent.
@StoredEntity("Item") final class CodedSubitem: CodedParent {
    @Stored(unique: true) var key: String = ""
    var name: String = ""
    var note: String?
    var number: Int64 = 0
    var price: Double = 0
}

extension ManagedObjectModel {
    static let itemsInCode = ManagedObjectModel("Items") { CodedItem.self }
    static let subitemsInCode = ManagedObjectModel("Items") {
        CodedParent.self
        CodedSubitem.self
    }
}

final class CodedItemDataSource: DataSource<ItemData> {
    nonisolated override class var entities: [ManagedObject.Type] { [CodedItem.self] }

    nonisolated override func onAdd(_ data: ItemData, in context: PrivateContext) throws -> ManagedObject? {
        let item = try context.findOrInsert(CodedItem.self, where: \.key, equals: data.key)
        (item.name, item.note, item.number, item.price) = (data.name, data.note, data.number, data.price)
        return item
    }
}

final class CodedSubitemDataSource: DataSource<ItemData> {
    nonisolated override class var entities: [ManagedObject.Type] { [CodedSubitem.self] }

    nonisolated override func onAdd(_ data: ItemData, in context: PrivateContext) throws -> ManagedObject? {
        let item = try context.findOrInsert(CodedSubitem.self, where: \.key, equals: data.key)
        (item.name, item.note, item.number, item.price) = (data.name, data.note, data.number, data.price)
        return item
    }
}
