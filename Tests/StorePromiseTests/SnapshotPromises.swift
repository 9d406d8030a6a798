import Dispatch
import RowStore
import StoreTestModel
import Synchronization
import Testing

/// What a reader sees while others write.
struct SnapshotPromises {
    private static let layout = TestModel.layout.entities[TestModel.item]

    private static func row(_ number: Int64) -> RowSnapshot {
        TestModel.row(.integer(number))
    }

    private static func update(_ number: Int64) -> ChangeSet {
        .of(
            update: [.of(1, row(number - 1), row(number), layout), .of(2, row(number - 1), row(number), layout)],
            number: number)
    }

    @Test(arguments: TestedStore.all)
    func aSnapshotStaysAsItWas(kind: TestedStore) throws {
        try kind.withStore { store in
            try store.write([.of(insert: [StoredRow(key: 1, row: SnapshotPromises.row(1))], number: 1)])
            let query = RowQuery(entity: TestModel.item)
            try store.read(.snapshot) { (reader) throws(DataSourceError) in
                #expect(try reader.count(query) == 1)
                try store.write([.of(insert: [StoredRow(key: 2, row: SnapshotPromises.row(2))], number: 2)])
                #expect(try reader.count(query) == 1)
                #expect(try reader.row(entity: TestModel.item, key: 2) == nil)
            }
            try store.read(.statement) { (reader) throws(DataSourceError) in
                try store.write([.of(insert: [StoredRow(key: 3, row: SnapshotPromises.row(3))], number: 3)])
                // A reader of a shared store says the position of what it reads, so that all of it is one state.
                #expect(try reader.count(query) == 3 || kind.isShared)
            }
            #expect(try store.count() == 3)
        }
    }

    /// Each save writes its number into both rows.
    @Test(arguments: TestedStore.all, [ReadIsolation.statement, .snapshot, .lookup])
    func aReadSeesWholeSavesOnly(kind: TestedStore, isolation: ReadIsolation) async throws {
        let saves: Int64 = 300
        try kind.withStore { store in
            try store.write([
                .of(
                    insert: [
                        StoredRow(key: 1, row: SnapshotPromises.row(1)),
                        StoredRow(key: 2, row: SnapshotPromises.row(1)),
                    ], number: 1)
            ])
            let isDone = Atomic(false)
            let failures = Guarded<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { index in
                do {
                    if index == 0 {
                        defer { isDone.store(true, ordering: .releasing) }
                        for number in 2...saves { try store.write([SnapshotPromises.update(number)]) }
                        return
                    }
                    while !isDone.load(ordering: .acquiring) {
                        let rows = try store.read(isolation) { (reader) throws(DataSourceError) in
                            try reader.rows(RowQuery(entity: TestModel.item))
                        }
                        let numbers = Set(rows.map { $0.row.integer(TestModel.integer) })
                        if rows.count != 2 || numbers.count != 1 { failures.withLock { $0.append("\(numbers)") } }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [])
        }
    }

    @Test(arguments: TestedStore.all)
    func moreCallersThanReadersAllGetTheirTurn(kind: TestedStore) throws {
        try kind.withStore { store in
            try store.write([.of(insert: [StoredRow(key: 1, row: SnapshotPromises.row(1))])])
            let found = Atomic(0)
            DispatchQueue.concurrentPerform(iterations: 64) { _ in
                for _ in 0..<50 where (try? store.count()) == 1 { found.wrappingAdd(1, ordering: .relaxed) }
            }
            #expect(found.load(ordering: .relaxed) == 64 * 50)
        }
    }
}
