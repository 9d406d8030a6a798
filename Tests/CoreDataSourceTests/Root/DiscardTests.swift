import CoreDataSource
import ErrorExpectations
import RowStore
import Testing

/// A caller that waits for a save gets its outcome, even if the save is discarded.
@MainActor
struct DiscardTests {
    private func pending(_ count: Int = 1) throws -> RootTier {
        let root = RootTier(ModelLayout(.chat), store: FaultyStore(ModelLayout(.chat))) {}
        for _ in 0..<count { _ = try root.accept(ChangeSet(entities: [])) }
        return root
    }

    /// The caller hung until some later save, and then got a success.
    @Test func waitersForADiscardedSaveAreNotified() async throws {
        let root = try pending()
        let outcome = Shared<DataSourceError.Code?>(nil)
        root.whenCommitted(1) { if case .failure(let error) = $0 { outcome.value = error.code } }
        #expect(await root.discardPending() == 1)
        #expect(outcome.value == .pendingDiscarded)
    }

    /// The caller got a success.
    @Test func aLaterWaiterForADiscardedSaveIsNotified() async throws {
        let root = try pending(2)
        #expect(await root.discardPending() == 2)
        await expectError(.pendingDiscarded) { try await root.committed(1) }
        expectError(.pendingDiscarded) { try root.commitInPlace(2) }
    }

    @Test func savesBeforeAndAfterAreNotDiscarded() async throws {
        let root = try pending()
        try await root.flush()
        let second = try root.accept(ChangeSet(entities: []))
        #expect(await root.discardPending() == 1)
        let next = try root.accept(ChangeSet(entities: []))
        try await root.flush()
        try await root.committed(1)
        try await root.committed(next)
        #expect(try root.commitInPlace(next))
        await expectError(.pendingDiscarded) { try await root.committed(second) }
    }

    /// It may be in the store, so no error may say that nothing is left of it.
    @Test func aSaveThatIsBeingCommittedIsNotDiscarded() async throws {
        let store = FaultyStore(ModelLayout(.chat))
        let root = RootTier(ModelLayout(.chat), store: store) {}
        _ = try root.accept(ChangeSet(entities: []))
        let (arrived, goOn) = (store.commitArrives(), store.holdCommits())
        // On the root's queue: a thread of tasks that is held may be the last one.
        root.commitSoon()
        for await _ in arrived {}
        let discarded = Task.detached { await root.discardPending() }
        for _ in 0..<1000 { await Task.yield() }
        goOn()
        #expect(await discarded.value == 0)
        try await root.flush()
    }
}
