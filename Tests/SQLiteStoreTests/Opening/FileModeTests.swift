import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Who may read the files of a store.
struct FileModeTests {
    private func modes(_ folder: TemporaryFolder) throws -> [String: Int] {
        var modes: [String: Int] = [:]
        for name in folder.names {
            let path = folder.url.appendingPathComponent(name).path
            modes[name] = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        return modes
    }

    private func setMode(_ mode: Int, _ url: URL) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: url.path)
    }

    @Test(arguments: [0o600, 0o640, 0o666, 0o644])
    func allFilesHaveTheModeThatIsAskedFor(mode: Int) throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder, resetPolicy: .backup(keep: 2))
        options.fileMode = mode
        let store = try SQLiteStore.open(options)
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(code: "a"))])])
        #expect(try Set(modes(folder).values) == [mode])
        #expect(folder.names.count == 4)
        store.close()
        // Copied, for the rows of one entity go; then moved.
        for change in 0..<2 {
            if change == 0 { options.identity.entityKeys = ["Item": "2"] } else { options.identity.databaseKey = "2" }
            let next = try SQLiteStore.open(options)
            #expect(next.startup.backup != nil)
            #expect(try Set(modes(folder).values) == [mode])
            try next.write([.of(insert: [StoredRow(key: next.firstFreeKey, row: TestModel.row(code: "b"))])])
            next.close()
        }
    }

    @Test(arguments: [0o644, 0o666, 0o600])
    func anExistingEmptyFileGetsTheMode(mode: Int) throws {
        let folder = try TemporaryFolder()
        for suffix in ["", "-wal", "-shm"] {
            let file = URL(fileURLWithPath: folder.store.path + suffix)
            try Data().write(to: file)
            try setMode(mode, file)
        }
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(code: "a"))])])
        #expect(folder.names.count == 4)
        #expect(try Set(modes(folder).values) == [0o600])
        store.close()
        try checkIntegrity(folder)
    }

    @Test func anExistingStoreKeepsItsMode() throws {
        let folder = try TemporaryFolder()
        try SQLiteStore.open(.test(folder)).close()
        try setMode(0o660, folder.store)
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(code: "a"))])])
        let modes = try modes(folder)
        #expect(modes["test.store"] == 0o660 && modes["test.store-wal"] == 0o660 && modes["test.store.lock"] == 0o600)
        store.close()
    }
}
