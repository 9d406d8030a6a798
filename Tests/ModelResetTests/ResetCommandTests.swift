import Foundation
import RowStore
import SQLiteStore
import TestSupport
import Testing

@Suite struct ResetCommandTests {
    private let program: Program
    private let model: String
    private let store: URL

    init() throws {
        program = try Program()
        model = try program.write(Shop.first)
        store = program.file("shop.sqlite")
    }

    @Test func aStoreThatIsRightIsEmptiedToo() async throws {
        try makeStore()
        let outcome = try await reset()
        #expect(outcome.status == 0)
        #expect(outcome.output == "reset: the store was made for this model and this database key; 3 objects dropped\n")
        #expect(try rowCount() == 0)
    }

    @Test func aResetIfNeededKeepsACurrentStore() async throws {
        try makeStore()
        for words in [["--if-needed"], ["--if-needed", "--backup", "old"]] {
            let outcome = try await reset(words)
            #expect(outcome.status == 0)
            #expect(outcome.output == "nothing to reset: the store was made for this model and this database key\n")
        }
        #expect(try rowCount() == 3)
    }

    @Test func aResetIfNeededResetsAStoreOfAnotherModel() async throws {
        try makeStore()
        try program.write(Shop.second)
        let outcome = try await reset(["--if-needed"])
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("reset: the store was made for another model (Item); 3 objects moved to "))
        #expect(outcome.output.wholeMatch(of: /.*\/shop\.sqlite\.standard-backup-\d{8}T\d{6}\.\d{3}Z\n/) != nil)
        #expect(try rowCount() == 0)
    }

    @Test func aDryRunSaysWhatTheDefaultPolicyWouldDo() async throws {
        try makeStore()
        try Data().write(to: program.file("shop.sqlite.standard-backup-20250101T000000.000Z"))
        try program.write(Shop.second)
        #expect(
            try await reset(["--dry-run", "--if-needed"]).output
                == "would reset: the store was made for another model (Item); 3 objects would be set aside as a backup\n"
        )
        #expect(
            try await reset(["--dry-run"]).output
                == "would reset: the store was made for another model (Item); 3 objects would be dropped, "
                + "1 backup would be removed\n")
    }

    @Test(arguments: [["--if-needed"], []])
    func anotherKeyRemovesTheBackupOfTheDefaultPolicy(_ words: [String]) async throws {
        try makeStore()
        try Data().write(to: program.file("shop.sqlite.standard-backup-20250101T000000.000Z"))
        let outcome = try await reset(words + ["--database-key", "2"])
        #expect(
            outcome.output
                == "reset: the store was made for another database key; 3 objects dropped, 1 backup removed\n")
        #expect(try program.files("shop.sqlite.standard").isEmpty)
    }

    @Test func theNextStartFindsItsStore() async throws {
        try makeStore()
        _ = try await reset(["--database-key", "2"])
        #expect(try rowCount(databaseKey: "2") == 0)
    }

    @Test(arguments: [[], ["--if-needed"], ["--backup", "old"]])
    func aDryRunOnlyReportsTheReset(_ words: [String]) async throws {
        try makeStore()
        let before = try program.files("shop")
        let outcome = try await reset(words + ["--dry-run", "--database-key", "2"])
        #expect(outcome.status == 1)
        #expect(
            outcome.output.hasPrefix("would reset: the store was made for another database key; 3 objects would be "))
        #expect(try program.files("shop") == before)
        #expect(!FileManager.default.fileExists(atPath: program.file("old").path))
    }

    @Test func aDryRunSucceedsIfNoResetIsNeeded() async throws {
        #expect(try await reset(["--dry-run"]).status == 0)
        try makeStore()
        #expect(try await reset(["--dry-run", "--if-needed"]).status == 0)
        // Without --if-needed it is emptied whatever it was made for.
        #expect(try await reset(["--dry-run"]).status == 1)
    }

    @Test func aBackupIsTheWholeOldStore() async throws {
        try makeStore()
        try program.write(Shop.second)
        let outcome = try await reset(["--backup", "old", "--if-needed"])
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("(Item); 3 objects moved to "))
        #expect(outcome.output.hasSuffix("/old/shop.sqlite\n"))
        #expect(try rowCount() == 0)
        try program.write(Shop.first)
        #expect(try Store.rowCount(program.file("old/shop.sqlite"), model: program.file(model)) == 3)
    }

    /// As a killed app leaves it: rows in the log only.
    @Test func aBackupHasTheRowsOfTheLog() async throws {
        let live = try Store.open(program.file("live.sqlite"), model: program.file(model))
        try Store.fill(live, 5)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                at: program.file("live.sqlite\(suffix)"), to: program.file("shop.sqlite\(suffix)"))
        }
        live.close()
        #expect(try await reset(["--backup", "old"]).status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: program.file("old").path) == ["shop.sqlite"])
        #expect(try Store.rowCount(program.file("old/shop.sqlite"), model: program.file(model)) == 5)
        #expect(try rowCount() == 0)
    }

    @Test func aBackupNeverTakesTheNameOfAnother() async throws {
        for rowCount in 1...3 {
            try? FileManager.default.removeItem(at: store)
            try makeStore(rowCount: rowCount)
            #expect(try await reset(["--backup", "old"]).status == 0)
        }
        for (index, name) in ["shop.sqlite", "shop-2.sqlite", "shop-3.sqlite"].enumerated() {
            #expect(try Store.rowCount(program.file("old/\(name)"), model: program.file(model)) == index + 1)
        }
    }

    @Test(.enabled(if: otherFileSystem != nil, "there is no second file system to write to"))
    func aBackupOnAnotherFileSystemIsRefused() async throws {
        let folder = try #require(Self.otherFileSystem).appending(component: UUID().uuidString)
        try makeStore()
        let outcome = try await reset(["--backup", folder.path])
        #expect(outcome.status == 4)
        #expect(outcome.errors.contains("is on another file system than the store"))
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        #expect(try rowCount() == 3)
    }

    @Test func aResetWithoutAStoreMakesNone() async throws {
        for words in [[], ["--if-needed"], ["--backup", "old"]] {
            let outcome = try await reset(words)
            #expect(outcome.status == 0)
            #expect(outcome.output == "nothing to reset: there is no store\n")
        }
        #expect(try program.files("shop").isEmpty)
    }

    @Test(arguments: [[], ["--if-needed"], ["--backup", "old"]])
    func aFileThatIsNoStoreIsNeverReset(_ words: [String]) async throws {
        let bytes = Data("a photo of a shop".utf8)
        try bytes.write(to: store)
        let outcome = try await reset(words)
        #expect(outcome.status == 4)
        #expect(outcome.output == "")
        #expect(try Data(contentsOf: store) == bytes)
    }

    @Test func aStoreInUseIsNotReset() async throws {
        let live = try Store.open(store, model: program.file(model))
        try Store.fill(live, 2)
        #expect(try await reset().status == 4)
        #expect(try await reset(["--if-needed", "--database-key", "2"]).status == 4)
        live.close()
        #expect(try rowCount() == 2)
    }

    @Test func aSharedStoreIsResetOnceNobodyHasItOpen() async throws {
        let live = try Store.open(store, model: program.file(model), isShared: true)
        try Store.fill(live, 2)
        for words in [[], ["--dry-run"], ["--if-needed", "--database-key", "2"], ["--backup", "old"]] {
            let outcome = try await reset(words)
            #expect(outcome.status == 4)
            #expect(outcome.errors.hasPrefix("model-reset: error: storeInUse: "))
            #expect(outcome.errors.contains("\(live.member)"), "\(outcome.errors)")
        }
        live.close()
        #expect(
            try await reset().output
                == "reset: the store was made for this model and this database key; 2 objects dropped\n")
        let next = try Store.open(store, model: program.file(model), isShared: true)
        defer { next.close() }
        #expect(next.startup.reason == .current && next.firstPosition == 0)
    }

    @Test func theJSONSaysTheSame() async throws {
        try makeStore()
        let json = try await program.json("reset", model, "--store", store.path, "--database-key", "2", "--if-needed")
        #expect(json["reset"] as? Bool == true)
        #expect(json["needed"] as? Bool == true)
        #expect(json["reason"] as? String == "databaseKeyChanged")
        #expect(json["rowsDropped"] as? Int == 3)
        #expect(json["backup"] is NSNull)
    }

    @Test func rowsThatADamagedStoreHidesAreNotPassedOverInSilence() async throws {
        _ = try Store(store, model: program.file(model), rowCount: 5000)
        var bytes = try Data(contentsOf: store)
        let middle = bytes.count / 4..<bytes.count * 3 / 4
        bytes.replaceSubrange(middle, with: Data(repeating: 0xFF, count: middle.count))
        try bytes.write(to: store)
        let outcome = try await reset()
        #expect(outcome.status == 0)
        #expect(outcome.errors.contains("not all rows of the store could be counted, because the store is damaged"))
        #expect(try rowCount() == 0)
    }

    private static let otherFileSystem: URL? = {
        func system(_ url: URL) -> Int? {
            (try? FileManager.default.attributesOfItem(atPath: url.path))?[.systemNumber] as? Int
        }
        let candidates = ["/dev/shm", "/run/user/\(getuid())", "/var/tmp"].map { URL(filePath: $0) }
        let here = system(FileManager.default.temporaryDirectory)
        return candidates.first {
            FileManager.default.isWritableFile(atPath: $0.path) && system($0) != nil && system($0) != here
        }
    }()

    private func makeStore(rowCount: Int = 3) throws {
        _ = try Store(store, model: program.file(model), rowCount: rowCount)
    }

    private func rowCount(databaseKey: String = "1") throws -> Int {
        try Store.rowCount(store, model: program.file(model), databaseKey: databaseKey)
    }

    private func reset(_ words: [String] = []) async throws -> Subprocess {
        let key = words.contains("--database-key") ? [] : ["--database-key", "1"]
        return try await program.run(["reset", model, "--store", "shop.sqlite"] + key + words)
    }
}
