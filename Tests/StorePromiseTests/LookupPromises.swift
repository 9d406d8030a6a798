import Dispatch
import RowStore
import StoreTestModel
import Synchronization
import Testing

/// What one of many look-ups in a row sees.
struct LookupPromises {
    private static func row(_ number: Int64) -> RowSnapshot { TestModel.row(.integer(number)) }

    private static func update(_ number: Int64) -> ChangeSet {
        let layout = TestModel.layout.entities[TestModel.item]
        return .of(update: [.of(1, row(number - 1), row(number), layout)], number: number)
    }

    private static func lookUp(_ store: any PersistentStore) throws -> Int64 {
        try store.read(.lookup) { (reader) throws(DataSourceError) in
            try reader.row(entity: TestModel.item, key: 1)
        }?.integer(TestModel.integer) ?? 0
    }

    private func withRow(_ kind: TestedStore, _ body: (any PersistentStore) throws -> Void) throws {
        try kind.withStore { store in
            try store.write([.of(insert: [StoredRow(key: 1, row: LookupPromises.row(1))], number: 1)])
            try body(store)
        }
    }

    @Test(arguments: TestedStore.all)
    func aLookupSeesTheLastCommit(kind: TestedStore) throws {
        try withRow(kind) { store in
            for number in 2...100 as ClosedRange<Int64> {
                try store.write([LookupPromises.update(number)])
                for _ in 0..<4 { #expect(try LookupPromises.lookUp(store) == number) }
            }
        }
    }

    @Test(arguments: TestedStore.all)
    func noLookupIsOlderThanACommitBeforeIt(kind: TestedStore) throws {
        let saves: Int64 = 500
        try withRow(kind) { store in
            let committed = Atomic<Int64>(1)
            let failures = Guarded<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { index in
                do {
                    if index == 0 {
                        defer { committed.store(saves, ordering: .releasing) }
                        for number in 2...saves {
                            try store.write([LookupPromises.update(number)])
                            committed.store(number, ordering: .releasing)
                        }
                        return
                    }
                    while true {
                        let least = committed.load(ordering: .acquiring)
                        if least == saves { return }
                        let found = try LookupPromises.lookUp(store)
                        if found < least { failures.withLock { $0.append("\(found) after \(least)") } }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [])
        }
    }
}
