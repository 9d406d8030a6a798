import CoreDataSource
import Dispatch
import Testing

/// Large values are released neither on main nor by any other who lets go of them last.
///
/// All containers of the process share the queue on which these values are released. A test that blocks the queue needs main to
/// continue, so no test may block main until the queue is free.
@MainActor @Suite(.serialized)
struct ReleasedOffMainTests: ItemListSuite {
    private final class Large: Sendable {}

    /// Waits until the queue has done its work so far, without blocking main.
    private func waitForReleases() async {
        await withCheckedContinuation { continuation in releaseQueue.async { continuation.resume() } }
    }

    @Test func theQueueReleasesTheOldState() async {
        weak var large: Large?
        let box = {
            let new = Large()
            large = new
            return ReleasedOffMain(new)
        }()
        box.use { #expect($0 === large) }
        #expect(large != nil)
        box.release()
        await waitForReleases()
        #expect(large == nil)
        box.use { _ in Issue.record("a value that was released is used") }
    }

    /// It is there as long as the queue is busy, though nobody shows it any more, and goes on the queue.
    @Test func theStateBeforeALargeSaveIsReleasedOnTheQueue() async throws {
        try await withChat(.inMemory) { container, senders in
            try await senders.add(items(0..<1_000))
            let request = ObjectRequest(Item.self, order: [.ascending(\.number)])
            let list = try senders.list(request)
            let recorder = GroupRecorder()
            try senders.register(recorder, dataKey: "list", request)
            weak let before = list.snapshot.state
            let isFree = DispatchSemaphore(value: 0)
            releaseQueue.async { isFree.wait() }
            defer { isFree.signal() }
            try await senders.add(items(0..<1_000, times: 2), waitFor: .main)
            #expect(list.lastUpdateReason.ranOffMain && list.snapshot[1].number == 2)
            #expect(recorder.groups.count == 1)
            #expect(before != nil)
            isFree.signal()
            await waitForReleases()
            // The queue that did the work may hold it for a moment.
            while before != nil { await Task.yield() }
        }
    }
}
