// Does one thing to so many objects, or reads one object so many times, for `Scripts/costs` to count the instructions and
// allocations of each: costs OPERATION N
//
// The main thread blocks and does not become a queue: valgrind cannot follow a main thread that ends.

import CoreDataSource
import Dispatch
import Foundation
import Synchronization

/// Runs the work in another task, and blocks until it is done.
func blocking<R: Sendable>(_ work: @escaping @Sendable () async throws -> R) throws -> R {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Result<R, any Error>?>(nil)
    Task.detached {
        let outcome: Result<R, any Error>
        do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
        result.withLock { $0 = outcome }
        done.signal()
    }
    done.wait()
    guard let outcome = result.withLock({ $0 }) else { throw CancellationError() }
    return try outcome.get()
}

@MainActor
func run(_ operation: String, _ count: Int) throws -> Bool {
    let folder = FileManager.default.temporaryDirectory.appending(component: "costs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let container = try blocking {
        try await PersistentContainer(model: .items, store: .sqlite(folder.appending(component: "items.sqlite")))
    }
    let items = try container.dataSource(ItemDataSource.self)
    let values = (0..<count).map(ItemData.init)
    switch operation {
    case "add": _ = try blocking { try await items.add(values) }
    case "sync again":
        _ = try blocking { try await items.add(values) }
        _ = try blocking { try await items.sync(values, entity: Item.self) }
    case "find":
        _ = try blocking { try await items.add(values) }
        try items.performAndWait { context in
            for value in values { _ = try context.first(Item.self, where: \.key, equals: value.key)?.number }
        }
    case "fetch and read":
        _ = try blocking { try await items.add(values) }
        let length = try items.fetch(Item.self).reduce(0) { $0 + $1.key.utf8.count + $1.name.utf8.count }
        guard length > 0 else { return false }
    case "save one":
        for value in values { try items.performAndWait { context in _ = try items.onAdd(value, in: context) } }
    default:
        try blocking { try await container.close() }
        return try runFeature(operation, count, folder)
    }
    guard try items.count(Item.self) == count else { return false }
    try blocking { try await container.close() }
    return true
}

/// Reads the five attributes of one object 50 times, and this so many times. The plugin wrote the class, or the class is in code. A class in
/// code has its columns counted when the model is made, and the plugin writes the numbers of the columns. In a class in code that has a
/// parent, each read looks up the number of the first column.
@MainActor
func read(_ operation: String, _ count: Int) throws -> Bool {
    let value = ItemData(2)
    let container: PersistentContainer
    switch operation {
    case "read":
        container = try openContainer(.items)
        let items = try container.dataSource(ItemDataSource.self)
        _ = try blocking { try await items.add([value]) }
        guard let item = try items.fetch(Item.self).first else { return false }
        for _ in 0..<50 * count { consume(item.key, item.name, item.note, item.number, item.price) }
    case "read in code":
        container = try openContainer(.itemsInCode)
        let items = try container.dataSource(CodedItemDataSource.self)
        _ = try blocking { try await items.add([value]) }
        guard let item = try items.fetch(CodedItem.self).first else { return false }
        for _ in 0..<50 * count { consume(item.key, item.name, item.note, item.number, item.price) }
    case "read in a subclass":
        container = try openContainer(.subitemsInCode)
        let items = try container.dataSource(CodedSubitemDataSource.self)
        _ = try blocking { try await items.add([value]) }
        guard let item = try items.fetch(CodedSubitem.self).first else { return false }
        for _ in 0..<50 * count { consume(item.key, item.name, item.note, item.number, item.price) }
    default: return false
    }
    try blocking { try await container.close() }
    return true
}

func openContainer(_ model: ManagedObjectModel) throws -> PersistentContainer {
    try blocking { try await PersistentContainer(model: model, store: .inMemory) }
}

@inline(never)
func consume(_ key: String, _ name: String, _ note: String?, _ number: Int64, _ price: Double) {}

let arguments = CommandLine.arguments.dropFirst()
guard let operation = arguments.first, let count = arguments.last.flatMap({ Int($0) }),
    try operation.hasPrefix("read") ? read(operation, count) : run(operation, count)
else {
    FileHandle.standardError.write(Data("usage: costs OPERATION N\n".utf8))
    exit(64)
}
