import CoreDataSource
import Foundation
import Testing

/// What suites about lists of items have in common.
@MainActor
protocol ItemListSuite {}

extension ItemListSuite {
    /// What a fetch finds, in the form of a list.
    func fetched(
        _ source: EntityDataSource, limit: Int? = nil, after cursor: FetchCursor? = nil,
        where predicate: FetchPredicate<Item>? = nil
    ) throws -> [String] {
        var request = ObjectRequest(
            Item.self, where: predicate,
            order: [FetchOrder(SortDescriptor(\.number)), FetchOrder(SortDescriptor(\.key))], limit: limit)
        request.after = cursor
        return try source.fetch(request).map { "\($0.key) \($0.number)" }
    }

    func listed(_ source: EntityDataSource, _ dataKey: String) -> [String] {
        source.allObjects(dataKey: dataKey, as: Item.self).map { "\($0.key) \($0.number)" }
    }

    func register(
        _ source: EntityDataSource, _ dataKey: String, limit: Int? = nil, after cursor: FetchCursor? = nil,
        where predicate: FetchPredicate<Item>? = nil
    ) throws -> RecordingDelegate {
        let delegate = RecordingDelegate()
        try source.register(
            delegate, dataKey: dataKey,
            ObjectRequest(
                Item.self, where: predicate,
                order: [FetchOrder(SortDescriptor(\.number)), FetchOrder(SortDescriptor(\.key))], limit: limit,
                after: cursor))
        delegate.follow(source, dataKey)
        return delegate
    }

    func cursor(_ source: EntityDataSource, _ key: String) throws -> FetchCursor {
        FetchCursor(try #require(try source.main.first(Item.self, where: \.key == key)))
    }

    func items(_ range: Range<Int>, times factor: Int64 = 1) -> [ItemData] {
        range.map { ItemData(key: "k\($0)", number: Int64($0) * factor) }
    }

    /// Opens a container over the chat model, and gives the data source of its senders.
    func withChat(
        _ kind: StoreKind, _ body: @MainActor (PersistentContainer, SenderDataSource) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(
            model: .chat, store: kind == .sqlite ? .sqlite(directory.store) : .inMemory,
            configuration: .init(synchronous: .normal))
        try await body(container, try container.dataSource(SenderDataSource.self))
        try await container.close()
    }
}
