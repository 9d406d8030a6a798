import CoreDataSource

/// A value for one of the three data sources of the chat model.
struct ItemData: Sendable {
    var key: String
    var number: Int64
    var text: String?
}

/// Three data sources that differ in their entity only.
class ItemDataSource<Object: Item>: DataSource<any Sendable> {
    override class var entities: [ManagedObject.Type] { [Object.self] }

    override func onAdd(_ object: any Sendable, in context: PrivateContext) throws -> ManagedObject? {
        guard let data = object as? ItemData else { return nil }
        let item = try context.findOrInsert(Object.self, where: \.key, equals: data.key)
        item.number = data.number
        item.text = data.text
        return item
    }

    override func onDelete(_ object: any Sendable, in context: PrivateContext) throws {
        guard let data = object as? ItemData else { return }
        if let item = try context.first(Object.self, where: \.key, equals: data.key) { context.delete(item) }
    }
}

final class SenderDataSource: ItemDataSource<Sender> {}
final class RoomDataSource: ItemDataSource<Room> {}
final class MessageDataSource: ItemDataSource<Message> {}

/// Gives the body a store in memory with senders and rooms.
@MainActor func withChat(
    _ body: @MainActor (PersistentContainer, SenderDataSource, RoomDataSource) async throws -> Void
) async throws {
    let container = try await PersistentContainer(model: .chat, store: .inMemory)
    try await body(
        container, try container.dataSource(SenderDataSource.self), try container.dataSource(RoomDataSource.self))
    try await container.close()
}
