import CoreDataSource

struct ItemData: Sendable {
    var key: String
    var name: String
    var note: String?
    var number: Int64
    var price: Double

    init(_ number: Int) {
        key = "item-\(number)"
        name = "the name of item \(number)"
        note = number % 2 == 0 ? "a note of some length, as people write them, about item \(number)" : nil
        self.number = Int64(number)
        price = Double(number) / 4
    }
}

/// Items by their keys, one hook call a value.
final class ItemDataSource: DataSource<ItemData> {
    nonisolated override class var entities: [ManagedObject.Type] { [Item.self] }

    nonisolated override func onAdd(_ data: ItemData, in context: PrivateContext) throws -> ManagedObject? {
        let item = try context.findOrInsert(Item.self, where: \.key, equals: data.key)
        (item.name, item.note, item.number, item.price) = (data.name, data.note, data.number, data.price)
        return item
    }
}
