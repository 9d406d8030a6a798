import CoreDataSource
import ErrorExpectations
import RowStore
import Testing

/// Bulk changes among the saves of the root.
struct BulkChangeRootTests {
    private let layout = ModelLayout(.chat)
    private let source = SaveSource("Source", origin: 1)

    private var entity: Int { layout.entity(named: "Sender")?.index ?? 0 }

    private func insertion(_ key: Int64) -> ChangeSet {
        var changes = EntityChanges(entity: entity)
        changes.inserted = [
            StoredRow(key: key, row: RowSnapshot(columnCount: layout.entities[entity].columns.count))
        ]
        return ChangeSet(entities: [changes])
    }

    private var everything: BulkChange { BulkChange([RowQuery(entity: entity)], values: nil) }

    /// It was found out what to change while rows of that save were seen.
    @Test func afterARefusedSaveNothingIsChanged() throws {
        let store = BulkFaultyStore(layout)
        let root = RootTier(layout, store: store, notifyMain: {})
        _ = try root.accept(insertion(1), from: source)
        try root.flushAndWait()
        _ = try root.accept(insertion(2), from: source)
        let basis = root.feedPosition
        store.base.fail(with: DataSourceError(.diskFull, "full"))
        expectError(.saveRolledBack) {
            try root.make(everything, from: source, basis: basis)
        }
        #expect(store.changeCount == 0)
        // From the state without that save it is made.
        store.base.fail(with: nil)
        _ = try root.make(everything, from: source, basis: root.feedPosition)
        #expect(store.changeCount == 1)
    }

    /// Of other data sources only the saves of other entities may still be pending.
    @Test func aBulkChangeIsMadeAfterTheSavesOfItsEntities() throws {
        let store = BulkFaultyStore(layout)
        let root = RootTier(layout, store: store, notifyMain: {})
        _ = try root.accept(insertion(1), from: source, isAwaited: false)
        store.base.fail(with: DataSourceError(.storeBusy, "busy"))
        expectError(.storeBusy) {
            try root.make(everything, from: source, basis: root.feedPosition)
        }
        #expect(store.changeCount == 0)
        #expect(root.pendingSaveCount == 1)
        store.base.fail(with: nil)
        _ = try root.make(everything, from: source, basis: root.feedPosition)
        #expect(root.pendingSaveCount == 0)
        #expect(store.changeCount == 1)
    }

    /// Nobody has to reload anything if no row has changed.
    @Test func followersGetTheChangedEntitiesOfABulkChange() throws {
        let store = BulkFaultyStore(layout)
        let root = RootTier(layout, store: store, notifyMain: {})
        let before = root.feedPosition
        store.change = 5
        #expect(try root.make(everything, from: source, basis: before) == 5)
        guard case .unknown(let entities)? = root.events(since: before)?.events.first else {
            Issue.record("nobody was notified")
            return
        }
        #expect(entities == [entity])
        store.change = 0
        let after = root.feedPosition
        #expect(try root.make(everything, from: source, basis: after) == 0)
        #expect(root.events(since: after) == nil)
    }

}

/// A store in memory that counts its bulk changes.
private final class BulkFaultyStore: BulkStore {
    let base: FaultyStore
    private let state = Guarded((changes: 0, result: 0))

    init(_ layout: ModelLayout) { base = FaultyStore(layout) }

    var changeCount: Int { state.withLock { $0.changes } }

    /// How many rows each of them is said to change.
    var change: Int {
        get { state.withLock { $0.result } }
        set { state.withLock { $0.result = newValue } }
    }

    func make(_ change: BulkChange) throws(DataSourceError) -> Int {
        state.withLock { state in
            state.changes += 1
            return state.result
        }
    }

    var longestValue: Int { base.longestValue }
    var firstFreeKey: Int64 { base.firstFreeKey }
    func commit(_ group: [ChangeSet]) throws(DataSourceError) -> CommitOutcome { try base.commit(group) }
    func read<R>(_ isolation: ReadIsolation, _ body: (any StoreReader) throws(DataSourceError) -> R)
        throws(DataSourceError) -> R
    { try base.read(isolation, body) }
    func reset(didEmpty: () -> Void) throws(DataSourceError) -> StoreStartup { try base.reset(didEmpty: didEmpty) }
    func willClose() { base.willClose() }
    func close() { base.close() }
}
