import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// A store may be reached by symbolic links. Everything of it is beside the file that they lead to.
struct SymbolicLinkTests {
    private func item(_ key: Int64) -> ChangeSet {
        .of(insert: [StoredRow(key: key, row: TestModel.row(code: "\(key)"))])
    }

    private func link(_ folder: TemporaryFolder, to path: String) throws {
        try FileManager.default.createSymbolicLink(atPath: folder.store.path, withDestinationPath: path)
    }

    @Test(arguments: ["target.store", "inner/target.store", "./inner/../inner/target.store", "second", "/"])
    func aStoreIsOpenedThroughALink(path: String) throws {
        let folder = try TemporaryFolder()
        let inner = folder.url.appendingPathComponent("inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: folder.url.appendingPathComponent("second").path, withDestinationPath: "inner/target.store")
        let isAbsolute = path == "/"
        try link(folder, to: isAbsolute ? inner.appendingPathComponent("target.store").path : path)
        var direct = SQLiteStore.Options.test(folder)
        direct.url = (path == "target.store" ? folder.url : inner).appendingPathComponent("target.store")

        let store = try SQLiteStore.open(.test(folder))
        try store.write([item(1)])
        #expect(code { _ = try SQLiteStore.open(direct) } == .storeInUse)
        store.close()
        #expect(!folder.names.contains { $0.hasPrefix("test.store.") || $0.hasPrefix("test.store-") })
        let next = try SQLiteStore.open(direct)
        #expect(try next.count() == 1)
        #expect(code { _ = try SQLiteStore.open(.test(folder)) } == .storeInUse)
        next.close()
        // A reset leaves the link.
        try SQLiteStore.open(.test(folder, hash: "other")).close()
        let last = try SQLiteStore.open(.test(folder, hash: "other", resetPolicy: .fail))
        #expect(try last.count() == 0)
        last.close()
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: folder.store.path)) != nil)
    }

    @Test func aLinkThatLeadsToNoStoreSaysWhatIsThere() throws {
        let cases: [(target: String, code: DataSourceError.Code)] = [
            ("precious", .notADatabase), ("test.store", .notAFile), ("..", .notAFile), ("inner", .notAFile),
            ("missing/target.store", .notAFile), ("inner/..", .notAFile),
        ]
        for (target, expected) in cases {
            let folder = try TemporaryFolder()
            try FileManager.default.createDirectory(
                at: folder.url.appendingPathComponent("inner"), withIntermediateDirectories: false)
            let precious = folder.url.appendingPathComponent("precious")
            try Data("precious".utf8).write(to: precious)
            try link(folder, to: target)
            #expect(code { _ = try SQLiteStore.open(.test(folder)) } == expected, "\(target)")
            #expect(try Data(contentsOf: precious) == Data("precious".utf8))
        }
    }
}
