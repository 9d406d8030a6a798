import CSQLite
import ErrorExpectations
import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// An opening that fails has a code, is never a reset, and leaves every byte as it was.
struct OpeningFailureTests {
    /// Expects the code, and the bytes of before. Both for a hash that fits and for one that would lead to a reset.
    private func expect(
        _ expected: DataSourceError.Code, _ folder: TemporaryFolder, hashes: [String] = ["hash", "other"],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let before = folder.contents()
        for hash in hashes {
            #expect(
                code { try SQLiteStore.open(.test(folder, hash: hash)).close() } == expected,
                sourceLocation: sourceLocation)
            #expect(folder.contents() == before, sourceLocation: sourceLocation)
        }
    }

    private func makeStore(_ folder: TemporaryFolder, rows: ClosedRange<Int64> = 1...10) throws {
        let store = try SQLiteStore.open(.test(folder))
        try store.write([.of(insert: rows.map { StoredRow(key: $0, row: TestModel.row(code: "\($0)")) })])
        store.close()
    }

    @Test func aFolderIsNotAFile() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.store, withIntermediateDirectories: false)
        expect(.notAFile, folder)
        #expect(folder.names == ["test.store"])
    }

    @Test func aMissingFolderIsNamed() throws {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        options.url = folder.url.appendingPathComponent("missing/test.store")
        #expect(code { _ = try SQLiteStore.open(options) } == .notAFile)
        options.url = URL(string: "https://example.org/test.store") ?? options.url
        #expect(code { _ = try SQLiteStore.open(options) } == .notAFile)
        #expect(folder.names.isEmpty)
    }

    /// A path is a file's, and not only a missing folder's, fault: SQLite takes 512 bytes with the names of the files beside it.
    @Test(arguments: [504, 505, 520])
    func aPathThatIsTooLongIsNamed(length: Int) throws {
        let folder = try TemporaryFolder()
        var inner = folder.url
        while length - inner.path.utf8.count > 200 {
            inner.append(component: String(repeating: "f", count: 90))
        }
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        var options = SQLiteStore.Options.test(folder)
        options.url = inner.appending(component: String(repeating: "s", count: length - inner.path.utf8.count - 1))
        #expect(options.url.path.utf8.count == length)
        guard length > 504 else { return try SQLiteStore.open(options).close() }
        for action in [{ try SQLiteStore.open(options).close() }, { _ = try SQLiteStore.forecast(options) }] {
            let error = expectError(.notAFile) { try action() }
            #expect(error?.message.contains("has \(length) bytes") == true, "\(error as Any)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: inner.path).isEmpty)
    }

    @Test func aFileInPlaceOfAFolderIsNamed() throws {
        let folder = try TemporaryFolder()
        try Data("precious".utf8).write(to: folder.url.appending(component: "file"))
        var options = SQLiteStore.Options.test(folder)
        options.url = folder.url.appending(path: "file/test.store")
        let error = expectError(.notAFile) { try SQLiteStore.open(options).close() }
        #expect(error?.message.contains("is a file, not a folder") == true)
    }

    @Test func aFolderThatIsALinkInACircleIsNamed() throws {
        let folder = try TemporaryFolder()
        let link = folder.url.appending(component: "circle")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "circle")
        var options = SQLiteStore.Options.test(folder)
        options.url = link.appending(component: "test.store")
        let error = expectError(.notAFile) { try SQLiteStore.open(options).close() }
        let message = "A folder in \(options.url.path) is a symbolic link that leads in a circle."
        #expect(error?.message.hasPrefix(message) == true, "\(error as Any)")
    }

    @Test(arguments: [false, true], ["UTF-16le", "UTF-16be"])
    func anotherEncodingIsNamed(isEmpty: Bool, encoding: String) throws {
        let folder = try TemporaryFolder()
        let raw = try RawDatabase(folder.store)
        try raw.run("PRAGMA encoding = '\(encoding)'")
        try raw.run("CREATE TABLE notes (text)")
        if isEmpty { try raw.run("DROP TABLE notes") }
        expect(.foreignDatabase, folder)
        let error = expectError(.foreignDatabase) { try SQLiteStore.open(.test(folder)).close() }
        #expect(error?.message.contains("UTF-16") == true, "\(error as Any)")
        #expect(code { _ = try SQLiteStore.forecast(.test(folder)) } == .foreignDatabase)
        #expect(code { _ = try SQLiteStore.migrationForecast(.test(folder)) } == .foreignDatabase)
    }

    @Test func aLinkInPlaceOfTheLockFileIsNotFollowed() throws {
        let folder = try TemporaryFolder()
        let target = folder.url.appendingPathComponent("target")
        try Data("precious".utf8).write(to: target)
        try FileManager.default.createSymbolicLink(
            at: folder.url.appendingPathComponent("test.store.lock"), withDestinationURL: target)
        #expect(code { _ = try SQLiteStore.open(.test(folder)) } == .notAFile)
        #expect(try Data(contentsOf: target) == Data("precious".utf8))
    }

    @Test func aLinkToTheFolderIsFine() throws {
        let folder = try TemporaryFolder()
        let real = folder.url.appendingPathComponent("real")
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createDirectory(at: real, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
        var options = SQLiteStore.Options.test(folder)
        options.url = link.appendingPathComponent("test.store")
        let store = try SQLiteStore.open(options)
        options.url = real.appendingPathComponent("test.store")
        #expect(code { _ = try SQLiteStore.open(options) } == .storeInUse)
        store.close()
    }

    @Test(arguments: [5, 99, 100, 512, 4096, 20_000])
    func anotherKindOfFileIsNotADatabase(size: Int) throws {
        let folder = try TemporaryFolder()
        try Data((0..<size).map { UInt8(0x20 + $0 % 64) }).write(to: folder.store)
        expect(.notADatabase, folder)
    }

    @Test func anotherProgramsDatabaseIsLeftAlone() throws {
        let folder = try TemporaryFolder()
        try RawDatabase(folder.store).run("CREATE TABLE notes (text)")
        expect(.foreignDatabase, folder)
    }

    @Test func anotherProgramsMetadataTableIsNotOurs() throws {
        let folder = try TemporaryFolder()
        try RawDatabase(folder.store).run("CREATE TABLE _metadata (id)")
        expect(.foreignDatabase, folder)
    }

    @Test func anotherProgramsLogIsLeftAlone() throws {
        let folder = try TemporaryFolder()
        let raw = try RawDatabase(folder.store)
        try raw.run("PRAGMA journal_mode = WAL")
        try raw.run("CREATE TABLE notes (text)")
        let copy = try TemporaryFolder()
        for (name, data) in folder.contents() { try data.write(to: copy.url.appendingPathComponent(name)) }
        #expect(copy.contents().count == 2)
        expect(.foreignDatabase, copy)
    }

    @Test(arguments: ["format", "modelHash", "databaseKey", "storeID", "firstFreeKey"])
    func incompleteMetadataIsDamage(name: String) throws {
        for change in ["DELETE FROM _metadata", "UPDATE _metadata SET value = NULL"] {
            let folder = try TemporaryFolder()
            try makeStore(folder)
            try RawDatabase(folder.store).run("\(change) WHERE name = '\(name)'")
            expect(.storeCorrupt, folder)
        }
    }

    @Test func aNewerFormatIsRefused() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let raw = try RawDatabase(folder.store)
        try raw.run("UPDATE _metadata SET value = 3 WHERE name = 'format'")
        try raw.run("DELETE FROM _metadata WHERE name = 'storeID'")
        expect(.newerFormat, folder)
    }

    @Test(arguments: [
        "DROP TABLE Item", "ALTER TABLE Item ADD COLUMN extra",
        "CREATE TRIGGER t AFTER INSERT ON Item BEGIN DELETE FROM SubItem; END",
    ])
    func tablesThatAreNotOursAnyMoreAreDamage(change: String) throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        try RawDatabase(folder.store).run(change)
        expect(.storeCorrupt, folder, hashes: ["hash"])
    }

    @Test func aDamagedPageIsDamage() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder, rows: 1...2000)
        var data = try Data(contentsOf: folder.store)
        data.replaceSubrange(100..<4000, with: Data(repeating: 0xA5, count: 3900))
        try data.write(to: folder.store)
        expect(.storeCorrupt, folder)
    }

    @Test func aCutFileIsDamage() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder, rows: 1...2000)
        let data = try Data(contentsOf: folder.store)
        try data.prefix(4096).write(to: folder.store)
        expect(.storeCorrupt, folder)
    }

    @Test func aSecondContainerIsRefused() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        #expect(code { _ = try SQLiteStore.open(.test(folder)) } == .storeInUse)
        #expect(code { _ = try SQLiteStore.open(.test(folder, hash: "other")) } == .storeInUse)
        try store.write([.of(insert: [StoredRow(key: 1, row: TestModel.row(code: "a"))])])
        store.close()
        let again = try SQLiteStore.open(.test(folder))
        #expect(try again.count() == 1)
        again.close()
        try checkIntegrity(folder)
    }

    @Test func aStoreThatIsLetGoIsFree() throws {
        let folder = try TemporaryFolder()
        for _ in 0..<3 { _ = try SQLiteStore.open(.test(folder)) }
    }

    @Test func anotherSQLiteUserIsNotWaitedForForEver() throws {
        let folder = try TemporaryFolder()
        try makeStore(folder)
        let raw = try RawDatabase(folder.store)
        try raw.run("PRAGMA locking_mode = EXCLUSIVE")
        try raw.run("BEGIN EXCLUSIVE")
        #expect(code { _ = try SQLiteStore.open(.test(folder, hash: "other")) } == .storeBusy)
        try raw.run("ROLLBACK")
    }
}
