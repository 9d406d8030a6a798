import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// An old store, and a start that replaces it, resets a part of it or migrates it.
///
/// The old one has seven items, one of them in a log that a killed process left, and two sub-items.
enum ResetScenario: String, CaseIterable, Sendable {
    case creation, reset, backup, changedEntities, sourceKey, finishing, migration, refusedMigration
    /// The default policy with another model, and with another key where it has set an older store aside.
    case standard, standardKey
    /// A store of an earlier format and the same model.
    case upgrade

    static let itemCount = 8
    static let subItemCount = 2

    /// What the folder holds before.
    private static let oldFiles = Result { try makeOldFiles(TestModel.identity()) }
    /// The same, of a store that says truly which model it was made for.
    private static let migratableFiles = Result { try makeOldFiles(TestModel.identity(of: TestModel.model)) }
    /// The same, of one whose items have another hash than the next start expects.
    private static let partlyChangedFiles = Result {
        var identity = TestModel.identity()
        identity.modelHash = TestModel.identity(of: TestModel.model).modelHash
        return try makeOldFiles(identity)
    }

    private static func makeOldFiles(_ identity: StoreIdentity) throws -> [String: Data] {
        let folder = try TemporaryFolder()
        var options = SQLiteStore.Options.test(folder)
        options.identity = identity
        let store = try SQLiteStore.open(options)
        var sub = RowSnapshot(columnCount: TestModel.columnCount + 1)
        sub.setText("extra", TestModel.columnCount)
        try store.write([
            .of(
                insert: (1..<Int64(itemCount)).map { key in
                    var row = TestModel.row(code: "\(key)")
                    row.setInteger(.max - key, TestModel.integer)
                    return StoredRow(key: key, row: row)
                }),
            .of(1, insert: (50..<50 + Int64(subItemCount)).map { StoredRow(key: $0, row: sub) }),
        ])
        store.close()
        let raw = try RawDatabase(folder.store)
        try raw.run("INSERT INTO Item (_key, code) VALUES (100, 'late')")
        return folder.contents()
    }

    func prepare(_ folder: TemporaryFolder) throws {
        if self == .creation { return }
        if self == .upgrade { return try FirstFormatStore.world.prepare(folder) }
        let files =
            isMigration
            ? ResetScenario.migratableFiles
            : self == .changedEntities ? ResetScenario.partlyChangedFiles : ResetScenario.oldFiles
        for (name, data) in try files.get() {
            // What a reset leaves that is killed after its first step.
            if self == .finishing && name == "test.store" { continue }
            try data.write(to: folder.url.appendingPathComponent(name))
        }
        guard self == .standardKey else { return }
        for name in ["test.store.standard-backup-20250101T000000.000Z", "test.store.backup-20250101T000000.000Z"] {
            try Data("an older store".utf8).write(to: folder.url.appendingPathComponent(name))
        }
    }

    /// What the store is opened with.
    func options(_ folder: TemporaryFolder, _ calls: FileCalls = .system) throws -> SQLiteStore.Options {
        var options = SQLiteStore.Options(
            url: folder.store, layout: TestModel.layout, identity: TestModel.identity("other"), calls: calls)
        switch self {
        case .upgrade: options = try FirstFormatStore.world.options(folder, calls)
        case .creation, .reset, .finishing: options.resetPolicy = .discard
        case .standard: options.resetPolicy = .standard
        case .backup: options.resetPolicy = .backup(keep: 1)
        case .changedEntities: options.resetPolicy = .changedEntities
        case .sourceKey, .standardKey:
            options.resetPolicy = self == .sourceKey ? .backup(keep: 1) : .standard
            options.identity = TestModel.identity()
            options.identity.entityKeys = ["Item": "7"]
        case .migration, .refusedMigration:
            let model = self == .migration ? TestModel.nextModel : TestModel.strictModel
            options = SQLiteStore.Options(
                url: folder.store, layout: ModelLayout(model), identity: TestModel.identity(of: model),
                resetPolicy: .migrate(otherwise: .discard), calls: calls)
        }
        return options
    }

    /// Whether the start resets a part of the store.
    var isPartial: Bool { [.changedEntities, .sourceKey, .standardKey].contains(self) }
    private var isMigration: Bool { self == .migration || self == .refusedMigration }
    private var hasOldStore: Bool { self != .creation && self != .finishing }

    /// Starts once more, without any fault, and expects a whole old or a whole new store before, and a new one after.
    func expectWhole(_ folder: TemporaryFolder, _ moment: String) throws {
        if self == .migration { return try expectMigrated(folder, moment) }
        if self == .upgrade { return try FirstFormatStore.world.expectWhole(folder, moment) }
        let old = ResetScenario.itemCount + ResetScenario.subItemCount
        let store = try SQLiteStore.open(options(folder))
        let startup = store.startup
        if startup.reason.isReset {
            #expect(hasOldStore, "\(self), \(moment): there was nothing to reset")
            #expect(startup.rowsDropped == (isPartial ? ResetScenario.itemCount : old), "\(self), \(moment)")
        } else {
            #expect(!isPartial || startup.reason == .current, "\(self), \(moment): rows that stay are gone")
            #expect(startup.rowsDropped == 0, "\(self), \(moment)")
        }
        #expect(try store.count() == 0, "\(self), \(moment): an old row is in the new store")
        #expect(
            try store.count(RowQuery(entity: 1)) == (isPartial ? ResetScenario.subItemCount : 0),
            "\(self), \(moment): an old row is in the new store, or one that stays is gone")
        store.close()
        try checkIntegrity(folder)
        switch self {
        case .backup, .sourceKey, .standard: try expectBackup(folder, rows: old, moment)
        case .standardKey:
            let backups = folder.names.filter { $0.contains("backup") }
            #expect(backups == ["test.store.backup-20250101T000000.000Z"], "\(self), \(moment)")
        default: break
        }
    }

    private func expectMigrated(_ folder: TemporaryFolder, _ moment: String) throws {
        let count = ResetScenario.itemCount + ResetScenario.subItemCount
        let store = try SQLiteStore.open(options(folder))
        if store.startup.reason != .current {
            #expect(store.startup.migration?.rowsCarried == count, "\(self), \(moment)")
            #expect(store.startup.fallback == nil, "\(self), \(moment)")
            #expect(store.startup.rowsDropped == 0, "\(self), \(moment)")
        }
        store.close()
        let raw = try RawDatabase(folder.store)
        #expect(
            try raw.run("SELECT group_concat(code) FROM (SELECT code FROM Item ORDER BY _key)") == [
                "1,2,3,4,5,6,7,late"
            ],
            "\(self), \(moment)")
        #expect(
            try raw.run("SELECT quote(integer) FROM Item ORDER BY _key")
                == (1..<Int64(ResetScenario.itemCount)).map { "'\(Int64.max - $0)'" } + ["NULL"],
            "\(self), \(moment)")
        #expect(try raw.run("SELECT DISTINCT price FROM Item") == ["1.5"], "\(self), \(moment)")
        #expect(try raw.run("SELECT extra FROM SubItem") == ["extra", "extra"], "\(self), \(moment)")
        try checkIntegrity(folder)
    }

    private func expectBackup(_ folder: TemporaryFolder, rows: Int, _ moment: String) throws {
        let names = folder.names.filter { $0.contains("backup-") && $0.hasSuffix("Z") }
        #expect(names.count == 1, "\(self), \(moment): \(folder.names)")
        for name in names {
            let raw = try RawDatabase(folder.url.appendingPathComponent(name))
            #expect(try raw.run("PRAGMA integrity_check") == ["ok"], "\(self), \(moment)")
            let counts = try raw.run("SELECT (SELECT count(*) FROM Item) + (SELECT count(*) FROM SubItem)")
            #expect(counts == ["\(rows)"], "\(self), \(moment)")
        }
    }
}
