import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import TestSupport
import Testing

/// Copies of a store that is open.
struct StoreCopyTests {
    private func rows(_ keys: ClosedRange<Int64>) -> ChangeSet {
        .of(insert: keys.map { StoredRow(key: $0, row: TestModel.row(code: "\($0)")) })
    }

    private func count(_ url: URL) throws -> [String] { try RawDatabase(url).run("SELECT count(*) FROM Item") }

    @Test func aCopyIsOneFileWithEveryCommitBeforeIt() throws {
        let folder = try TemporaryFolder()
        let other = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        for key in Int64(1)...20 {
            try store.write([rows(key...key)])
            try store.copy(to: other.url.appending(component: "\(key).store"))
        }
        try store.write([rows(21...21)])
        store.close()
        #expect(other.names.sorted() == (1...20).map { "\($0).store" }.sorted())
        for key in 1...20 {
            let copy = other.url.appending(component: "\(key).store")
            #expect(try count(copy) == ["\(key)"])
            #expect(try RawDatabase(copy).run("PRAGMA integrity_check") == ["ok"])
            #expect(try FileManager.default.attributesOfItem(atPath: copy.path)[.posixPermissions] as? Int == 0o600)
        }
        var options = SQLiteStore.Options.test(folder, resetPolicy: .fail)
        options.url = other.url.appending(component: "20.store")
        let copy = try SQLiteStore.open(options)
        #expect(copy.startup.reason == .current)
        #expect(copy.firstFreeKey > 20)
        copy.close()
    }

    @Test func commitsGoOnWhileCopiesAreMadeAndEachIsOfOneMoment() async throws {
        let folder = try TemporaryFolder()
        let other = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder).copyingLogOften())
        try store.write([rows(1...100)])
        let isOver = Shared(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // Both of a pair are committed at once.
                var key: Int64 = 101
                while isOver.value == 0 {
                    try store.write([rows(key...key + 1)])
                    key += 2
                    await Task.yield()
                }
            }
            for number in 0..<10 { try store.copy(to: other.url.appending(component: "\(number)")) }
            isOver.value = 1
            try await group.waitForAll()
        }
        store.close()
        for number in 0..<10 {
            let raw = try RawDatabase(other.url.appending(component: "\(number)"))
            #expect(try raw.run("SELECT count(*) % 2 FROM Item") == ["0"])
            #expect(try raw.run("PRAGMA integrity_check") == ["ok"])
        }
        try checkIntegrity(folder)
    }

    @Test(arguments: ["copy", "copy-wal", "copy-shm", "copy-journal"])
    func anExistingFileIsNeverOverwritten(name: String) throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        let file = folder.url.appending(component: name)
        try Data("mine".utf8).write(to: file)
        #expect(code { try store.copy(to: folder.url.appending(component: "copy")) } == .fileExists)
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
        #expect(folder.names.filter { $0.hasPrefix("copy") } == [name])
        #expect(code { try store.copy(to: folder.store) } == .fileExists)
        #expect(code { try store.copy(to: folder.url.appending(components: "missing", "copy")) } == .notAFile)
        store.close()
        #expect(code { try store.copy(to: folder.url.appending(component: "other")) } == .storeClosed)
    }

    /// Somebody makes a file of that name while the copy is written.
    @Test func aFileThatAppearsMeanwhileIsNotOverwritten() throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(component: "copy")
        let calls = FileCalls { call, path in
            if call == .sync, path.hasSuffix("copy.partial") { try? Data("mine".utf8).write(to: file) }
            return 0
        }
        let store = try SQLiteStore.open(.test(folder, calls: calls))
        #expect(code { try store.copy(to: file) } == .fileExists)
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
        store.close()
        #expect(folder.names.filter { $0.hasPrefix("copy") } == ["copy"])
    }

    @Test func theLeftoverOfAKilledCopyIsReplaced() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try Data("half a store".utf8).write(to: folder.url.appending(component: "copy.partial"))
        try store.copy(to: folder.url.appending(component: "copy"))
        store.close()
        #expect(folder.names.filter { $0.hasPrefix("copy") } == ["copy"])
    }

    /// As on some memory cards.
    @Test func aFileSystemWithoutLinksGetsACopyToo() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder, calls: FileCalls { call, _ in call == .link ? EPERM : 0 }))
        try store.write([rows(1...3)])
        let file = folder.url.appending(component: "copy")
        try store.copy(to: file)
        #expect(try count(file) == ["3"])
        store.close()
        #expect(folder.names.filter { $0.hasPrefix("copy") } == ["copy"])
    }

    @Test(arguments: Fault.all) func aCopyThatFailsLeavesNoFile(fault: Fault) throws {
        var number = 0
        var wasReached = true
        while wasReached {
            number += 1
            let folder = try TemporaryFolder()
            let target = Shared(Int.max)
            let faulty = try FaultyCalls(fault) { $0 == target.value }
            let store = try SQLiteStore.open(.test(folder, calls: faulty.calls))
            try store.write([rows(1...50)])
            target.value = faulty.count + number
            let file = folder.url.appending(component: "copy")
            let failure = code { try store.copy(to: file) }
            wasReached = faulty.count >= target.value
            target.value = .max
            let names = folder.names.filter { $0.hasPrefix("copy") }
            #expect(names == (failure == nil ? ["copy"] : []), "\(fault.name) at call \(number)")
            if failure == nil { #expect(try count(file) == ["50"], "\(fault.name) at call \(number)") }
            try store.write([rows(51...51)])
            #expect(try store.count() == 51, "\(fault.name) at call \(number)")
            store.close()
        }
        #expect(number > 20)
    }

    @Test func aCancelledCopyLeavesNoFile() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([rows(1...5000)])
        let file = folder.url.appending(component: "copy")
        let begun = Shared(0)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            begun.value = 1
            try store.copy(to: file)
        }
        task.cancel()
        await expectError(.cancelled) { try await task.value }
        #expect(begun.value == 1)
        #expect(folder.names.filter { $0.hasPrefix("copy") }.isEmpty)
        // The connection reads on.
        #expect(try store.count() == 5000)
        store.close()
    }

    @Test func aStoreThatIsOnlyReadIsCopied() throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        let store = try SQLiteStore.open(options)
        try store.write([rows(1...3)])
        store.close()
        options.isReadOnly = true
        let reading = try SQLiteStore.open(options)
        let file = folder.url.appending(component: "copy")
        try reading.copy(to: file)
        reading.close()
        #expect(try count(file) == ["3"])
    }
}
