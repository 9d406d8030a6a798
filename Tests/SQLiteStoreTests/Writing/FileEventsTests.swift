import CSQLite
import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// The watch of a file for writes of other programs.
struct FileEventsTests {
    private let folder: TemporaryFolder
    private let store: SQLiteStore
    private let events = Shared(0)

    init() throws {
        folder = try TemporaryFolder()
        store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(code: "1"))])])
    }

    /// Watches the store. Tries again while other tests use all watches that the system allows.
    private func watch() async -> StoreWatch {
        events.value = 0
        while true {
            if let watch = store.watchForOutsideWrites({ [events] in events.value = 1 }) { return watch }
            await Task.yield()
        }
    }

    /// Waits for the handler. A test that waits in vain never ends.
    private func waitForEvent() async { while events.value == 0 { await Task.yield() } }

    @Test func eachCommitCallsTheHandler() async throws {
        let raw = try RawDatabase(folder)
        for number in 0..<3 {
            let watch = await watch()
            try raw.run("UPDATE Item SET code = 'x\(number)'")
            await waitForEvent()
            watch.end()
            #expect(store.noticeOutsideWrites())
        }
        let watch = await watch()
        try store.write([.of(insert: [StoredRow(key: 2, row: TestModel.row(code: "2"))])])
        await waitForEvent()
        watch.end()
        store.close()
    }

    @Test(arguments: ["test.store", "test.store-wal"], [true, false])
    func aMovedOrDeletedFileCallsTheHandler(name: String, isMoved: Bool) async throws {
        let file = folder.url.appendingPathComponent(name)
        let watch = await watch()
        if isMoved {
            try FileManager.default.moveItem(at: file, to: folder.url.appendingPathComponent("elsewhere"))
        } else {
            try FileManager.default.removeItem(at: file)
        }
        await waitForEvent()
        watch.end()
        // The files of the store have no names, so what is written there has no events.
        #expect(store.watchForOutsideWrites {} == nil)
        store.close()
    }

    /// Its rows may be in the log already, so that no event follows when they become visible.
    @Test func aStoreIsNotWatchedWhileAnotherProgramWrites() async throws {
        let raw = try RawDatabase(folder)
        try raw.run("BEGIN IMMEDIATE")
        try raw.run("UPDATE Item SET code = 'x'")
        #expect(store.watchForOutsideWrites {} == nil)
        try raw.run("COMMIT")
        // The write was not reported yet.
        #expect(store.watchForOutsideWrites {} == nil)
        #expect(store.noticeOutsideWrites())
        await watch().end()
        store.close()
    }

    @Test func aStoreIsCheckedIfTheSystemAllowsNoWatch() throws {
        let other = try TemporaryFolder()
        let calls = FileCalls { call, _ in call == .watch ? ENOSPC : 0 }
        let store = try SQLiteStore.open(.test(other, calls: calls))
        #expect(store.watchForOutsideWrites {} == nil)
        store.close()
        #expect(store.watchForOutsideWrites {} == nil)
    }

    /// The handler is released with the descriptor of the watch.
    @Test func aReleasedWatchLeavesNothing() async throws {
        let isReleased = Shared(0)
        var watch: StoreWatch? = await { [store] in
            let witness = Witness { isReleased.value = 1 }
            while true {
                if let watch = store.watchForOutsideWrites({ withExtendedLifetime(witness) {} }) { return watch }
                await Task.yield()
            }
        }()
        #expect(isReleased.value == 0)
        withExtendedLifetime(watch) {}
        watch = nil
        while isReleased.value == 0 { await Task.yield() }
        store.close()
    }

    #if os(Linux)
    /// The system limits the instances of a user, for all programs together.
    @Test func manyWatchesShareOneInstance() async throws {
        func instanceCount() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { number in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                return target?.contains("inotify") == true
            }
        }
        let first = await watch()
        let before = try instanceCount()
        var watches: [StoreWatch] = []
        for _ in 0..<20 { watches.append(await watch()) }
        // As long as the first watch is on, nobody makes another instance.
        let after = try instanceCount()
        #expect(before > 0 && after <= before)
        for watch in watches { watch.end() }
        first.end()
        store.close()
    }

    @Test func watchesOfTheSameFilesEndOnTheirOwn() async throws {
        let raw = try RawDatabase(folder)
        let other = Shared(0)
        let first = await watch()
        var second: StoreWatch?
        while second == nil {
            second = store.watchForOutsideWrites { other.value = 1 }
            await Task.yield()
        }
        first.end()
        try raw.run("UPDATE Item SET code = 'x'")
        while other.value == 0 { await Task.yield() }
        second?.end()
        #expect(store.noticeOutsideWrites())
        // The files can be watched again.
        let third = await watch()
        try raw.run("UPDATE Item SET code = 'y'")
        await waitForEvent()
        third.end()
        store.close()
    }

    /// Both watch the folder, which has one descriptor.
    @Test func twoStoresInOneFolderAreWatched() async throws {
        var options = SQLiteStore.Options.test(folder)
        options.url = folder.url.appendingPathComponent("second.store")
        let second = try SQLiteStore.open(options)
        try second.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(code: "1"))])])
        let secondEvents = Shared(0)
        func waitForSecond() async { while secondEvents.value == 0 { await Task.yield() } }
        func watchSecond() async -> StoreWatch {
            while true {
                if let watch = second.watchForOutsideWrites({ secondEvents.value = 1 }) { return watch }
                await Task.yield()
            }
        }
        let (raw, secondRaw) = (try RawDatabase(folder), try RawDatabase(options.url, in: folder))
        let (first, other) = (await watch(), await watchSecond())
        try raw.run("UPDATE Item SET code = 'x'")
        await waitForEvent()
        try secondRaw.run("UPDATE Item SET code = 'x'")
        await waitForSecond()
        #expect(store.noticeOutsideWrites() && second.noticeOutsideWrites())
        // The watch of the folder goes on for the other store.
        first.end()
        other.end()
        let (again, last) = (await watch(), await watchSecond())
        again.end()
        secondEvents.value = 0
        try FileManager.default.moveItem(at: options.url, to: folder.url.appendingPathComponent("elsewhere"))
        await waitForSecond()
        last.end()
        store.close()
        second.close()
    }
    #endif
}

/// Says when it is released.
private final class Witness: Sendable {
    private let onRelease: @Sendable () -> Void

    init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    deinit { onRelease() }
}
