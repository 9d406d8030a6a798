import CoreDataSource
import Foundation

extension ItemData: ManagedObjectConvertible {
    init(_ item: Item) {
        (key, name, note, number, price) = (item.key, item.name, item.note, item.number, item.price)
    }
}

/// Loads, histories, pages, pins, aggregates, and a model in code. Each operation but the first two is repeated on 100 objects.
@MainActor
func runFeature(_ operation: String, _ count: Int, _ folder: URL) throws -> Bool {
    let file = folder.appending(component: "features.sqlite")
    let values = (0..<count).map(ItemData.init)
    if operation == "add in code" {
        let container = try blocking {
            try await PersistentContainer(model: .itemsInCode, store: .sqlite(file))
        }
        let items = try container.dataSource(CodedItemDataSource.self)
        _ = try blocking { try await items.add(values) }
        try blocking { try await container.close() }
        return true
    }
    var configuration = PersistentContainer.Configuration()
    if operation == "add with a history" { configuration.history = .kept(for: .seconds(86_400), upTo: 1 << 30) }
    let container = try blocking { [configuration] in
        try await PersistentContainer(model: .items, store: .sqlite(file), configuration: configuration)
    }
    let items = try container.dataSource(ItemDataSource.self)
    if operation == "add with a history" {
        _ = try blocking { try await items.add(values) }
    } else {
        _ = try blocking { try await items.add((0..<100).map(ItemData.init)) }
        guard try repeatFeature(operation, count, container, items) else { return false }
    }
    try blocking { try await container.close() }
    return true
}

@MainActor
private func repeatFeature(
    _ operation: String, _ count: Int, _ container: PersistentContainer, _ items: ItemDataSource
) throws -> Bool {
    switch operation {
    case "load what is fresh":
        let scope = SyncScope("items", Item.self)
        try blocking {
            for _ in 0...count {
                try await items.load(scope, maxAge: .seconds(86_400)) { _ in
                    .list((0..<100).map(ItemData.init), entityTag: "1")
                }
            }
        }
    case "pages of 100":
        try blocking {
            for _ in 0..<count {
                for try await _ in container.pages(as: ItemData.self, size: 50) {}
            }
        }
    case "pin":
        for _ in 0..<count {
            try items.main.pin()
            items.main.unpin()
        }
    case "aggregate of 100":
        try items.performAndWait { context in
            for _ in 0..<count {
                _ = try context.aggregate(ObjectRequest<Item>(), .count(), .sum(\.price), .max(\.number))
            }
        }
    default: return false
    }
    return true
}
