import CoreDataSource
import CoreDataSourceStores
import RowStore
import Testing

/// A store of one's own on another machine, to which others write, and which has no feed: it is asked before each read.
@MainActor
struct ServiceStoreTests {
    @Test func mainAndBatchesShowWhatOthersWrote() async throws {
        let service = Service()
        let container = try await PersistentContainer(
            model: .contacts,
            store: .custom("contacts.example.com") { options in
                let store = ServiceStore(rows: InMemoryRows(options.layout), service: service)
                service.store.withLock { $0 = store }
                return (store, StoreStartup(reason: .firstLaunch))
            })
        let contacts = try container.dataSource(ContactDataSource.self)
        try await contacts.add(ContactData(uid: "1", name: "Guan Yu"))
        try await container.flush()
        #expect(try contacts.fetch(ContactEntity.self).map(\.name) == ["Guan Yu"])

        try service.insert(uid: "2", name: "Zhang Fei")
        #expect(
            try contacts.fetch(ContactEntity.self, order: [.ascending(\.uid)]).map(\.name) == ["Guan Yu", "Zhang Fei"])
        #expect(try container.main.count(ContactEntity.self) == 2)

        try service.insert(uid: "3", name: "Zhao Yun")
        let found = try await contacts.perform { try $0.first(ContactEntity.self, where: \.uid, equals: "3")?.name }
        #expect(found == "Zhao Yun")

        // A key that the service has given is not given again.
        try await contacts.add(ContactData(uid: "4", name: "Ma Chao"))
        try await container.flush()
        #expect(try container.main.count(ContactEntity.self) == 4)
        try await container.close()
    }
}

/// What happens at the other end.
private final class Service: Sendable {
    let store = Guarded<ServiceStore?>(nil)
    let hasOutsideWrites = Guarded(false)

    func insert(uid: String, name: String) throws {
        let rows = try #require(store.withLock { $0 }).rows
        let entity = try #require(rows.layout.entities.first { $0.name == "ContactEntity" })
        let values = entity.columns.map { column -> RowValue in
            switch column.name {
            case "uid": .text(uid)
            case "name": .text(name)
            default: column.attribute?.isOptional ?? true ? .null : column.storage == .real ? .real(0) : .integer(0)
            }
        }
        var changes = EntityChanges(entity: entity.index)
        changes.inserted = [StoredRow(key: rows.firstFreeKey, row: try entity.row(values))]
        _ = try rows.commit([ChangeSet(entities: [changes])])
        hasOutsideWrites.withLock { $0 = true }
    }
}

private struct ServiceStore: PersistentStore {
    let rows: InMemoryRows
    let service: Service

    var isRemote: Bool { true }
    var canBeWrittenOutside: Bool { true }
    var firstFreeKey: Int64 { rows.firstFreeKey }

    func noticeOutsideWrites() -> Bool {
        service.hasOutsideWrites.withLock { hasOutsideWrites in
            defer { hasOutsideWrites = false }
            return hasOutsideWrites
        }
    }

    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    {
        try rows.read(isolation, body)
    }

    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome { try rows.commit(group) }

    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup {
        StoreStartup(reason: .requested, rowsDropped: try rows.removeAll(didEmpty: didEmpty))
    }

    func close() { rows.close() }
}
