import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// A feed from which another program has deleted something.
struct FeedHoleTests {
    private func options(_ folder: TemporaryFolder) -> SQLiteStore.Options {
        var options = SQLiteStore.Options.test(folder)
        options.isShared = true
        return options
    }

    private func save(_ key: Int64) -> ChangeSet {
        .of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))])
    }

    /// A member has saved after the other program, so that nothing but the hole shows it.
    @Test func aMissingSaveMeansThatNothingIsKnown() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(options(folder))
        let follower = try SQLiteStore.open(options(folder))
        let start = follower.firstPosition
        for key in Int64(1)...3 { try store.write([save(key)]) }
        try RawDatabase(folder).run("DELETE FROM _changes WHERE position = \(start + 2)")
        try store.write([save(4)])
        let page = try follower.readFeed(after: start)
        #expect(page.position == start + 4)
        let keys = page.events.map { event -> [Int64]? in
            guard case .changes(let changes) = event else { return nil }
            return changes.entities.flatMap { $0.inserted.map(\.key) }
        }
        #expect(keys == [[1], nil, [3], [4]])
        follower.close()
        store.close()
        try checkIntegrity(folder)
    }
}
