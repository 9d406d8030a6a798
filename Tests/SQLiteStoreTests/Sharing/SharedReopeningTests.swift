import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import Testing

/// A shared store that a reset could neither empty nor open again.
struct SharedReopeningTests {
    private func options(_ folder: TemporaryFolder, _ calls: FileCalls = .system) -> SQLiteStore.Options {
        var options = SQLiteStore.Options.test(folder, calls: calls)
        options.isShared = true
        options.lockTimeout = .milliseconds(1)
        return options
    }

    private func save(_ key: Int64, _ leases: [LeaseEpoch] = []) -> ChangeSet {
        var changes = ChangeSet.of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))])
        changes.leases = leases
        return changes
    }

    private func takeLeases(_ store: SQLiteStore) throws -> [LeaseEpoch] {
        try store.takeLeases([TestModel.item], for: "Source").table.leases.map {
            LeaseEpoch(entity: $0.entity, epoch: $0.epoch)
        }
    }

    /// A store with an object, whose reset was tried while all calls for files failed from that one on.
    ///
    /// - Returns: Whether there were so many calls.
    private func storeWhoseResetFailed(
        _ folder: TemporaryFolder, at number: Int
    ) throws -> (store: SQLiteStore, wasReached: Bool) {
        let first = Shared(Int.max)
        let faulty = try FaultyCalls { $0 >= first.value }
        let store = try SQLiteStore.open(options(folder, faulty.calls))
        try store.write([save(1)])
        first.value = faulty.count + number
        _ = code { _ = try store.reset() }
        defer { first.value = .max }
        return (store, faulty.count >= first.value)
    }

    /// It was opened as if nobody else had it: the leases of those who had come meanwhile were gone, and so was the feed.
    @Test func membersThatOpenedItSinceKeepLeasesAndFeed() throws {
        var timesBeside = 0
        for number in 1... {
            let folder = try TemporaryFolder()
            let (store, wasReached) = try storeWhoseResetFailed(folder, at: number)
            // Where the old files are gone, nobody gets in before there are new ones.
            if let other = try? SQLiteStore.open(options(folder)) {
                let leases = try takeLeases(other)
                try other.write([save(2, leases)])
                let position = try other.readFeed(after: 0).position
                #expect(try store.count() > 0)
                try store.write([save(3)])
                try other.write([save(4, leases)])
                let page = try other.readFeed(after: position)
                #expect(page.events.count == 1)
                #expect(page.position == position + 2)
                other.close()
                timesBeside += 1
            } else {
                try store.write([save(3)])
            }
            store.close()
            try checkIntegrity(folder)
            if !wasReached { break }
        }
        #expect(timesBeside > 1)
    }

    /// Nobody opens a store while another container does.
    @Test func aStoreIsNotOpenedWhileTheGateIsClosed() throws {
        var timesLost = 0
        for number in 1... {
            let folder = try TemporaryFolder()
            let (store, wasReached) = try storeWhoseResetFailed(folder, at: number)
            let gate = open(folder.store.path + ".gate", O_RDWR | O_CLOEXEC)
            try #require(flock(gate, LOCK_EX) == 0)
            let isLost = code { _ = try store.count() } == .storeBusy
            // A program that another test starts may have inherited the file.
            flock(gate, LOCK_UN)
            close(gate)
            if isLost { timesLost += 1 }
            _ = try store.count()
            store.close()
            // Each time it waits for the gate.
            if !wasReached || timesLost == 2 { break }
        }
        #expect(timesLost == 2)
    }

    @Test func leftOverFilesBesideTheStoreGetItsPermissions() throws {
        let folder = try TemporaryFolder()
        let names = [".bell", ".gate", ".write"]
        func modes() throws -> [Int?] {
            try names.map { name in
                try FileManager.default.attributesOfItem(atPath: folder.store.path + name)[.posixPermissions] as? Int
            }
        }
        for (name, mode) in zip(names, [0o666, 0o644, 0o777]) {
            let path = folder.store.path + name
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        try SQLiteStore.open(options(folder)).close()
        #expect(try modes() == [0o600, 0o600, 0o600])
        // A store that is there keeps its own, and they are as it is.
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.store.path)
        try SQLiteStore.open(options(folder)).close()
        #expect(try modes() == [0o640, 0o640, 0o640])
    }
}
