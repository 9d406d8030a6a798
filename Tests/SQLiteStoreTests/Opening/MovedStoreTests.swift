import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// What is written to a file without a name is lost, so nothing is acknowledged then.
struct MovedStoreTests {
    enum FileLoss: CaseIterable {
        case deleted, moved, replaced
    }

    private func item(_ key: Int64) -> ChangeSet {
        .of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))])
    }

    @Test(arguments: FileLoss.allCases, ["test.store", "test.store-wal"])
    func nothingIsSavedAfterTheFileWasMoved(mishap: FileLoss, name: String) throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([item(1)])
        try inflict(mishap, folder.url.appendingPathComponent(name))
        #expect(code { try store.write([item(2)]) } == .storeMoved)
        #expect(code { try store.write([item(2)]) } == .storeMoved)
        store.close()
    }

    @Test(arguments: [FileLoss.deleted, .moved])
    func aReadThatFindsNoFileSaysWhy(mishap: FileLoss) throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try inflict(mishap, folder.store)
        #expect(code { _ = try store.count() } == .storeMoved)
        store.close()
    }

    @Test func savingGoesOnOnceTheFileIsBack() throws {
        let folder = try TemporaryFolder()
        let elsewhere = folder.url.appendingPathComponent("elsewhere")
        let store = try SQLiteStore.open(.test(folder))
        try store.write([item(1)])
        try FileManager.default.moveItem(at: folder.store, to: elsewhere)
        #expect(code { try store.write([item(2)]) } == .storeMoved)
        try FileManager.default.moveItem(at: elsewhere, to: folder.store)
        try store.write([item(2)])
        store.close()
        let next = try SQLiteStore.open(.test(folder))
        #expect(try next.count() == 2)
        next.close()
        try checkIntegrity(folder)
    }

    @Test func theFolderMayGetAnotherNameAndBack() throws {
        let folder = try TemporaryFolder()
        let inner = folder.url.appendingPathComponent("inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        var options = SQLiteStore.Options.test(folder)
        options.url = inner.appendingPathComponent("test.store")
        let store = try SQLiteStore.open(options)
        try store.write([item(1)])
        let other = folder.url.appendingPathComponent("other")
        try FileManager.default.moveItem(at: inner, to: other)
        #expect(code { try store.write([item(2)]) } == .storeMoved)
        try FileManager.default.moveItem(at: other, to: inner)
        try store.write([item(2)])
        store.close()
    }

    private func inflict(_ mishap: FileLoss, _ file: URL) throws {
        let elsewhere = file.appendingPathExtension("elsewhere")
        switch mishap {
        case .deleted: try FileManager.default.removeItem(at: file)
        case .moved: try FileManager.default.moveItem(at: file, to: elsewhere)
        case .replaced:
            try FileManager.default.copyItem(at: file, to: elsewhere)
            try FileManager.default.removeItem(at: file)
            try FileManager.default.moveItem(at: elsewhere, to: file)
        }
    }
}
