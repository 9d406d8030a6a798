import RowStore
import StoreTestModel
import Testing

/// What stays when a store is closed, opened and reset.
struct LifePromises {
    private func item(_ key: Int64, _ code: String) -> StoredRow {
        StoredRow(key: key, row: TestModel.row(code: code))
    }

    /// The keys that the next rows get.
    private func takeKeys(_ count: Int64, _ store: any PersistentStore) throws -> Range<Int64> {
        try store.sharing?.reserveKeys(count) ?? store.firstFreeKey..<store.firstFreeKey + count
    }

    @Test(arguments: TestedStore.all)
    func aClosedStoreThrowsStoreClosed(kind: TestedStore) throws {
        try kind.withStore { store in
            store.close()
            store.close()
            #expect(code { try store.write([.of(insert: [item(1, "a")])]) } == .storeClosed)
            #expect(code { _ = try store.count() } == .storeClosed)
            #expect(code { _ = try store.reset() } == .storeClosed)
        }
    }

    @Test(arguments: TestedStore.shared)
    func aClosedMemberThrowsStoreClosed(kind: TestedStore) throws {
        try kind.withStore { store in
            let sharing = try #require(store.sharing)
            store.close()
            #expect(code { _ = try sharing.readFeed(after: 0) } == .storeClosed)
            #expect(code { _ = try sharing.reserveKeys(1) } == .storeClosed)
            #expect(code { _ = try sharing.leases() } == .storeClosed)
            #expect(code { _ = try sharing.takeLeases([TestModel.item], for: "s") } == .storeClosed)
            #expect(code { _ = try sharing.releaseLeases([TestModel.item]) } == .storeClosed)
            #expect(code { _ = try sharing.settleLeases(answered: [], withdrawn: nil) } == .storeClosed)
        }
    }

    @Test(arguments: TestedStore.persistent)
    func rowsAreThereWhenTheStoreIsOpenedAgain(kind: TestedStore) throws {
        let place = try kind.makePlace()
        for step in Int64(0)..<4 {
            let store = try place.open()
            #expect(try store.keys() == Array(0..<step * 300).map { $0 + 1 })
            try store.write([.of(insert: (1...300).map { item(step * 300 + $0, "\(step) \($0)") })])
            store.close()
        }
        try place.verify()
    }

    @Test(arguments: TestedStore.persistent)
    func keysAreNotUsedAgainAfterDeletionAndReopening(kind: TestedStore) throws {
        let place = try kind.makePlace()
        var highest: Int64 = 0
        for _ in 0..<5 {
            let store = try place.open()
            let keys = try takeKeys(700, store)
            #expect(keys.lowerBound > highest)
            highest = keys.upperBound - 1
            try store.write([.of(insert: [item(keys.lowerBound, "a"), item(highest, "b")])])
            try store.write([.of(delete: [item(keys.lowerBound, "a"), item(highest, "b")])])
            store.close()
        }
        try place.verify()
    }

    @Test(arguments: TestedStore.all)
    func theBoundForKeysIsAboveEveryKey(kind: TestedStore) throws {
        try kind.withStore { store in
            #expect(try takeKeys(1, store) == 1..<2)
            for key in [2, 500, 5000, Int64.max - 1] {
                try store.write([.of(insert: [item(key, "\(key)")])])
                let bound = try store.sharing?.reserveKeys(1).lowerBound ?? store.firstFreeKey
                #expect(bound > key)
            }
        }
    }

    @Test(arguments: TestedStore.all)
    func aResetLeavesNoRowAndGivesNoKeyTwice(kind: TestedStore) throws {
        try kind.withStore { store in
            let old = try takeKeys(700, store)
            try store.write([.of(insert: [item(old.lowerBound, "a"), item(old.upperBound - 1, "b")])])
            var emptied = 0
            let startup = try store.reset { emptied += 1 }
            #expect(emptied == 1)
            #expect(startup == StoreStartup(reason: .requested, rowsDropped: 2))
            #expect(try store.count() == 0)
            #expect(try store.row(constraint: 0, .text("a")) == nil)
            let key = try takeKeys(1, store).lowerBound
            #expect(key >= old.upperBound)
            try store.write([.of(insert: [item(key, "a")])])
            #expect(try store.count() == 1)
        }
    }

    @Test(arguments: TestedStore.all)
    func aSnapshotEndsBeforeAReset(kind: TestedStore) async throws {
        try await kind.withStore { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        for _ in 0..<100 {
                            try store.read(.snapshot) { (reader) throws(DataSourceError) in
                                let query = RowQuery(entity: TestModel.item)
                                let counts = [try reader.count(query), try reader.rows(query).count]
                                #expect(counts[0] == counts[1])
                            }
                        }
                    }
                }
                for step in Int64(1)...10 {
                    try store.write([.of(insert: [item(step * 100_000, "a")])])
                    #expect(try store.reset().rowsDropped == 1)
                }
                try await group.waitForAll()
            }
        }
    }
}
