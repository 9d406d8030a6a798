#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// A store that is open for reading only, while others do what they like.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct ReadOnlyStoreTests {
    /// It has read nothing yet that the reset would have to wait for.
    @Test func aReadThatBeganBeforeAResetThrowsStoreReset() throws {
        let place = try FailurePlace()
        var options = place.options(isDirect: true)
        options.resetPolicy = .backup(keep: 1)
        let store = try PostgreSQLStore.open(options)
        try store.write([FailurePlace.save(1)])
        let reading = try PostgreSQLReadOnlyStore.open(options)
        let found = code {
            try reading.read(.snapshot) { reader throws(DataSourceError) in
                _ = try store.reset()
                _ = try reader.row(entity: TestModel.item, key: 1)
            }
        }
        #expect(found == .storeReset)
        reading.close()
        store.close()
    }

    /// It opens the generation that is there afterwards.
    @Test func aReadOnlyStoreOpensWhileOthersReset() async throws {
        let place = try FailurePlace()
        let options = place.options(isDirect: true)
        let store = try PostgreSQLStore.open(options)
        let resets = runOnOwnThread { for _ in 0..<20 { try? _ = store.reset() } }
        for _ in 0..<40 {
            let reading = try PostgreSQLReadOnlyStore.open(options)
            let found = code {
                _ = try reading.read(.snapshot) { reader throws(DataSourceError) in
                    try reader.row(entity: TestModel.item, key: 1)
                }
            }
            #expect([nil, .storeReset].contains(found))
            reading.close()
        }
        await resets.value
        store.close()
    }
}
#endif
