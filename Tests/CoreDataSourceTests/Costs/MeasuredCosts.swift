import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import TestSupport

/// Runs every operation once over a store of a thousand contacts, fully durable, and counts.
func measuredCosts() async throws -> [Cost] {
    let counting = try CountedStore()
    let container = counting.container
    let contacts = try await container.dataSource(ContactDataSource.self)
    let cold = try await container.dataSource(GroupDataSource.self)
    var costs = try await costsOfSaves(counting, contacts)
    costs += try await costsOfReads(counting, cold)
    costs += try await costsOfBulk(counting, contacts)
    try await container.close()
    costs += try await costsOfLoads()
    costs += try await costsOfHistory()
    costs += try await costsOfSnapshots()
    costs += try await costsOfAggregates()
    return costs
}

private func costsOfSaves(_ counting: CountedStore, _ contacts: ContactDataSource) async throws -> [Cost] {
    let thousand = contactList(0..<1_000)
    var edited = thousand
    for place in stride(from: 0, to: 1_000, by: 100) { edited[place].name = "edited" }
    return [
        try await counting.cost("add the first") { try await contacts.add(thousand[0]) },
        try await counting.cost("add one") { try await contacts.add(thousand[1]) },
        try await counting.cost("add 998 in one save") { try await contacts.add(Array(thousand.dropFirst(2))) },
        try await counting.cost("edit one that is registered") {
            try await contacts.add(ContactData(uid: "uid-7", name: "other"))
        },
        try await counting.cost("add one as it is") {
            try await contacts.add(ContactData(uid: "uid-7", name: "other"))
        },
        try await counting.cost("add one and block") {
            try contacts.performAndWait { context in
                let contact = try context.insert(ContactEntity.self)
                (contact.uid, contact.name) = ("blocking", "name")
            }
        },
        try await counting.cost("sync 1,000 for the first time") {
            try await contacts.sync(edited, entity: ContactEntity.self)
        },
        try await counting.cost("sync 1,000 again") { try await contacts.sync(edited, entity: ContactEntity.self) },
        try await counting.cost("delete one") { try await contacts.delete(thousand[5]) },
    ]
}

/// By a data source that has none of the contacts registered.
private func costsOfReads(_ counting: CountedStore, _ cold: GroupDataSource) async throws -> [Cost] {
    [
        try await counting.cost("find 10 in the store by a unique value") {
            try await cold.perform { context in
                for number in 10..<20 {
                    _ = try context.first(ContactEntity.self, where: \.uid, equals: "uid-\(number)")
                }
            }
        },
        try await counting.cost("fetch all of 999") {
            try await cold.perform { context in _ = try context.fetch(ContactEntity.self).count }
        },
        try await counting.cost("fetch a page of 50") {
            try await cold.perform { context in
                _ = try context.fetch(ContactEntity.self, order: [SortDescriptor(\.name)], limit: 50).count
            }
        },
        try await counting.cost("count by an indexed attribute") {
            try await cold.perform { context in _ = try context.count(ContactEntity.self, where: \.name == "edited") }
        },
        try await counting.cost("calculate two aggregates") {
            try await cold.perform { context in
                _ = try context.aggregate(ObjectRequest<ContactEntity>(), .count(), .max(\.name))
            }
        },
        try await counting.cost("count in groups") {
            try await cold.perform { context in
                _ = try context.aggregate(ObjectRequest<ContactEntity>(), groupBy: \.phone, .count())
            }
        },
        try await counting.cost("read a snapshot") {
            try await counting.container.read { context in _ = try context.first(ContactEntity.self)?.name }
        },
    ]
}

private func costsOfBulk(_ counting: CountedStore, _ contacts: ContactDataSource) async throws -> [Cost] {
    [
        try await counting.cost("set one attribute of a half") {
            try await contacts.update(ContactEntity.self, where: \.phone != nil, set: [.set(\.phone, "1")])
        },
        try await counting.cost("delete all that match") {
            try await contacts.delete(ContactEntity.self, where: \.phone == "1")
        },
        try await counting.cost("reset") { try await counting.container.reset() },
    ]
}

/// A container whose statements and file calls are counted.
struct CountedStore {
    let container: PersistentContainer
    private let folder: TestSupport.TemporaryDirectory
    private let store: SQLiteStore
    private let log: WriteLog
    private let rowsRead = Shared(0)

    init(history: KeptHistory = .unchanged) throws {
        folder = try TestSupport.TemporaryDirectory()
        log = try WriteLog()
        let layout = ModelLayout(.contacts)
        var options = SQLiteStore.Options(
            url: folder.url.appending(component: "store.sqlite"), layout: layout,
            identity: StoreIdentity(modelHash: "1", entityHashes: [:], databaseKey: "1"), calls: log.calls)
        // Copying the log is put off until nothing else happens, so it would be in one operation or the other by chance.
        options.logLimit = 1_000_000
        options.history = history
        let rowsRead = rowsRead
        options.tracing = StatementTracing(showsValues: false) { trace in
            // Looks for writes of other programs run by a clock, too, so their number depends on the machine.
            if trace.isWriting || trace.sql == "SELECT 1 FROM \"_metadata\" LIMIT 1" { return }
            rowsRead.update { $0 += trace.rowCount }
        }
        store = try SQLiteStore.open(options)
        container = PersistentContainer(layout, store, startup: store.startup, configuration: .init())
    }

    func cost(_ name: String, _ operation: () async throws -> Void) async throws -> Cost {
        let before = counts
        try await operation()
        return Cost(name: name, counts: zip(counts, before).map { $0 - $1 })
    }

    private var counts: [Int] {
        var (bytes, syncs) = (0, 0)
        for event in log.events {
            switch event {
            case .write(let file, let written, _) where file.hasSuffix("-wal"): bytes += written.count
            case .sync: syncs += 1
            default: break
            }
        }
        return [store.counters.statementsRun, rowsRead.value, store.counters.rowsWritten, bytes, syncs]
    }
}
