import CoreDataSource

/// A record as a plain value.
struct RecordData: Sendable, Hashable {
    var key: String
    var task: Int32 = 0
    var revision: Int64 = 0
    var text: String?
}

/// Three data sources that differ in their entity only. Keys of red and green records are unique among both, those of blue
/// ones among themselves.
class RecordDataSource<Object: Record>: DataSource<RecordData> {
    nonisolated override class var entities: [ManagedObject.Type] { [Object.self] }

    nonisolated override func onAdd(_ data: RecordData, in context: PrivateContext) throws -> ManagedObject? {
        let record = try context.findOrInsert(Object.self, where: \.key, equals: data.key)
        Simulation.interleave()
        record.task = data.task
        record.revision = data.revision
        record.text = data.text
        return record
    }

    nonisolated override func onDelete(_ data: RecordData, in context: PrivateContext) throws {
        if let record = try context.first(Object.self, where: \.key, equals: data.key) { context.delete(record) }
    }
}

final class RedDataSource: RecordDataSource<Red> {}
final class GreenDataSource: RecordDataSource<Green> {}
final class BlueDataSource: RecordDataSource<Blue> {}

/// One of the data sources, whichever entity it owns.
protocol RecordSource: DataSource<RecordData> {
    nonisolated func run(_ operation: Operation) async throws
    nonisolated func put(_ values: [RecordData], waitFor level: SaveLevel) async throws
    /// The same with a callback.
    nonisolated func put(
        _ values: [RecordData], callback: @escaping @MainActor @Sendable (Result<SaveReport, any Error>) -> Void)
    nonisolated func remove(_ values: [RecordData]) async throws
    /// Makes the objects in scope equal to the values: all of its entity.
    nonisolated func replaceAll(with values: [RecordData]) async throws
    /// Makes the objects of one task equal to the values.
    nonisolated func replaceTask(_ task: Int32, with values: [RecordData]) async throws
    /// All its records, as main has them.
    func mainRecords() throws -> [RecordData]
    /// The objects themselves.
    func objects() throws -> [Record]
    /// Calls the body with what a list shows, again and again until the container is closed.
    nonisolated func follow(_ body: @Sendable ([RecordData]) -> Void) async
    /// The same, as its private context has them.
    nonisolated func contextRecords() async throws -> [RecordData]
    /// The same, as any context has them.
    nonisolated func records(in context: ManagedObjectContext) throws -> [RecordData]
    /// Puts a record in the middle of a batch.
    nonisolated func put(_ data: RecordData, in context: PrivateContext) throws
    /// The same as a batch that blocks its caller.
    nonisolated func putAndWait(_ values: [RecordData]) throws
}

extension RecordDataSource: RecordSource {
    nonisolated func run(_ operation: Operation) async throws {
        let level: SaveLevel = operation.level == .main ? .main : .store
        let task = Int32(operation.ledger.task)
        switch operation.kind {
        case .write(let put, let remove) where remove.isEmpty:
            try await add(operation.values(put), waitFor: level)
        case .write(let put, let remove):
            let values = operation.values(put)
            let keys = remove.map(operation.ledger.key)
            try await perform(waitFor: level) { context in
                for key in keys {
                    if let record = try context.first(Object.self, where: \.key, equals: key) { context.delete(record) }
                }
                for value in values { _ = try self.onAdd(value, in: context) }
            }
        case .replace(let records):
            try await sync(
                operation.values(records), entity: Object.self, scope: \Object.task == task,
                waitFor: level)
        case .touch:
            try await update(
                Object.self, where: \Object.task == task, set: [.set(\.revision, operation.number)],
                waitFor: level)
        }
    }

    nonisolated func put(_ values: [RecordData], waitFor level: SaveLevel) async throws {
        try await add(values, waitFor: level)
    }

    nonisolated func put(
        _ values: [RecordData], callback: @escaping @MainActor @Sendable (Result<SaveReport, any Error>) -> Void
    ) {
        add(values, callback: callback)
    }

    nonisolated func remove(_ values: [RecordData]) async throws { try await delete(values) }

    nonisolated func replaceAll(with values: [RecordData]) async throws {
        try await sync(values, entity: Object.self)
    }

    nonisolated func replaceTask(_ task: Int32, with values: [RecordData]) async throws {
        try await sync(values, entity: Object.self, scope: \Object.task == task)
    }

    func mainRecords() throws -> [RecordData] { try objects().map(\.data) }

    func objects() throws -> [Record] { try main.fetch(Object.self) }

    nonisolated func follow(_ body: @Sendable ([RecordData]) -> Void) async {
        for await update in updates(ObjectRequest(Object.self, order: [.ascending(\.key)])) {
            body(update.snapshot.map { row in row.map { $0.data } })
        }
    }

    nonisolated func contextRecords() async throws -> [RecordData] {
        try await perform { try $0.fetch(Object.self).map(\.data) }
    }

    nonisolated func records(in context: ManagedObjectContext) throws -> [RecordData] {
        try context.fetch(Object.self).map(\.data)
    }

    nonisolated func put(_ data: RecordData, in context: PrivateContext) throws { _ = try onAdd(data, in: context) }

    nonisolated func putAndWait(_ values: [RecordData]) throws {
        try performAndWait { context in
            for value in values { try self.put(value, in: context) }
        }
    }
}

extension RecordSource {
    nonisolated func put(_ values: [RecordData]) async throws { try await put(values, waitFor: .store) }
}

extension Record {
    var data: RecordData { RecordData(key: key, task: task, revision: revision, text: text) }
}

extension PersistentContainer {
    /// The three data sources. Task n uses number n modulo 3.
    @MainActor
    var recordSources: [any RecordSource] {
        get throws {
            [
                try dataSource(RedDataSource.self), try dataSource(GreenDataSource.self),
                try dataSource(BlueDataSource.self),
            ]
        }
    }
}
