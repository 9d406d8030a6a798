import CoreDataSource
import ErrorExpectations
import RowStore
import TestSupport
import Testing

/// Lists whose rows are read off the main actor before they are bound.
@MainActor
struct RegisterOffMainTests: ItemListSuite {
    private let request = ObjectRequest<Item>(order: [.ascending(\.number), .ascending(\.key)])

    @Test(arguments: StoreKind.allCases) func aListIsFilledWhenTheCallReturns(kind: StoreKind) async throws {
        try await withChat(kind) { _, senders in
            try await senders.add(items(0..<1_000))
            let delegate = RecordingDelegate()
            try await senders.registerOffMain(delegate, dataKey: "list", request)
            delegate.follow(senders, "list")
            #expect(listed(senders, "list") == (try fetched(senders)))
            #expect(senders.lastUpdateReason(dataKey: "list")?.kind == .initial)
            #expect(senders.lastUpdateReason(dataKey: "list")?.ranOffMain == true)
            #expect(delegate.calls.isEmpty)
            try await senders.add(ItemData(key: "k0", number: 7_000), waitFor: .main)
            #expect(listed(senders, "list") == (try fetched(senders)))
            #expect(delegate.calls.isEmpty == false)
            #expect(delegate.problems == [])
            // It shares the rows of the first one.
            let other = RecordingDelegate()
            try await senders.registerOffMain(other, dataKey: "other", request)
            #expect(listed(senders, "other") == listed(senders, "list"))
        }
    }

    /// Main does other things meanwhile, and what is saved meanwhile is not lost.
    @Test func mainIsFreeWhileTheRowsAreRead() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<100))
        let read = store.holdNextRead()
        let delegate = RecordingDelegate()
        async let registered: Void = senders.registerOffMain(delegate, dataKey: "list", request)
        for await _ in read.arrived {}
        #expect(senders.dataKeys == [])
        let more = items(100..<110)
        try senders.performAndWait { context in
            for item in more {
                let sender = try context.insert(Sender.self)
                (sender.key, sender.number) = (item.key, item.number)
            }
        }
        read.release()
        try await registered
        delegate.follow(senders, "list")
        try await senders.add(ItemData(key: "last", number: 9_000), waitFor: .main)
        #expect(listed(senders, "list") == (try fetched(senders)))
        #expect(listed(senders, "list").count == 111)
        #expect(delegate.problems == [])
    }

    @Test func rowsThatCannotBeReadRegisterNothing() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<3))
        store.failReads(with: DataSourceError(.storeBusy, "busy"))
        let delegate = RecordingDelegate()
        await expectError(.storeBusy) {
            try await senders.registerOffMain(delegate, dataKey: "list", request)
        }
        #expect(senders.dataKeys == [])
        // The second call does not depend on the first one.
        store.failReads(with: nil)
        try await senders.registerOffMain(delegate, dataKey: "list", request)
        #expect(listed(senders, "list") == (try fetched(senders)))
    }

    /// Gives the body a call whose read waits until it is released.
    private func withHeldCall(
        _ body:
            @MainActor (PersistentContainer, SenderDataSource, Task<Void, any Error>, () -> Void) async throws -> Void
    ) async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<30))
        let read = store.holdNextRead()
        let delegate = RecordingDelegate()
        let task = Task { try await senders.registerOffMain(delegate, dataKey: "list", request) }
        for await _ in read.arrived {}
        try await body(container, senders, task, read.release)
    }

    /// It does not wait for the read to end.
    @Test func aCancelledTaskRegistersNothing() async throws {
        try await withHeldCall { _, senders, task, release in
            task.cancel()
            await expectThrows(CancellationError.self) { try await task.value }
            release()
            #expect(senders.dataKeys == [])
        }
    }

    /// As with a search that goes on while one types.
    @Test func aNewerListOfTheDataKeyStays() async throws {
        try await withHeldCall { _, senders, task, release in
            let newer = RecordingDelegate()
            try senders.register(newer, dataKey: "list", ObjectRequest<Item>(where: \.number < 3))
            release()
            await expectThrows(CancellationError.self) { try await task.value }
            #expect(listed(senders, "list").count == 3)
            withExtendedLifetime(newer) {}
        }
    }

    /// As when a view goes away before its list is there.
    @Test func aDataKeyThatIsUnregisteredMeanwhileStaysSo() async throws {
        try await withHeldCall { _, senders, task, release in
            senders.unregister(dataKey: "list")
            release()
            await expectThrows(CancellationError.self) { try await task.value }
            #expect(senders.dataKeys == [])
        }
    }

    /// A list of the same query that could not be read again is not taken over.
    @Test func rowsOfAListThatIsBehindAreReadAgain() async throws {
        let (container, store) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<30))
        let first = RecordingDelegate()
        try await senders.registerOffMain(first, dataKey: "first", request)
        store.failReads(with: DataSourceError(.storeBusy, "busy"))
        container.mainTier.reloadLists()
        await container.mainTier.waitForLists()
        await expectError(.storeBusy) {
            try await senders.registerOffMain(RecordingDelegate(), dataKey: "second", request)
        }
        #expect(senders.dataKeys == ["first"])
        withExtendedLifetime(first) {}
    }

    /// Not even a list that another one shows.
    @Test func aClosedContainerTakesNoListOver() async throws {
        let (container, _) = PersistentContainer.faulty()
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add(items(0..<30))
        let first = RecordingDelegate()
        try await senders.registerOffMain(first, dataKey: "first", request)
        container.stack.root.stopAccepting()
        await expectError(.storeClosed) {
            try await senders.registerOffMain(RecordingDelegate(), dataKey: "late", request)
        }
        expectThrows(DataSourceError.self) {
            try senders.register(RecordingDelegate(), dataKey: "late", request)
        }
        #expect(senders.dataKeys == ["first"])
        try await container.close()
        withExtendedLifetime(first) {}
    }

    @Test func aClosedContainerRegistersNothing() async throws {
        try await withHeldCall { container, senders, task, release in
            async let closed: Void = container.close()
            release()
            // Either comes first.
            let outcome = await task.result
            try await closed
            if case .failure(let error) = outcome { #expect((error as? DataSourceError)?.code == .storeClosed) }
            await expectError(.storeClosed) {
                try await senders.registerOffMain(RecordingDelegate(), dataKey: "late", request)
            }
            #expect(!senders.dataKeys.contains("late"))
        }
    }
}
