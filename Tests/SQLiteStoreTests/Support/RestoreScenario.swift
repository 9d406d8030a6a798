import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// A backup of three items, and what is where it is restored: nothing, or an old store of eight items, one of which is in a
/// log that a killed process left.
enum RestoreScenario: String, CaseIterable, Sendable {
    case intoNothing, overAStoreWithALog, overAStore

    static let oldCount = 8
    static let backupCount = 3

    private static let backupFiles = Result { try make(backupCount, late: false) }
    private static let oldFiles = Result { try make(oldCount - 1, late: true) }

    private static func make(_ count: Int, late: Bool) throws -> [String: Data] {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(.test(folder))
        try store.write([
            .of(insert: (1...Int64(count)).map { StoredRow(key: $0, row: TestModel.row(code: "\(count)/\($0)")) })
        ])
        store.close()
        guard late else { return folder.contents() }
        let raw = try RawDatabase(folder.store)
        try raw.run("INSERT INTO Item (_key, code) VALUES (100, 'late')")
        return folder.contents()
    }

    static func backup(_ folder: TemporaryFolder) -> URL { folder.url.appending(component: "backup") }

    func prepare(_ folder: TemporaryFolder) throws {
        try RestoreScenario.backupFiles.get()["test.store"]?.write(to: RestoreScenario.backup(folder))
        guard self != .intoNothing else { return }
        for (name, data) in try RestoreScenario.oldFiles.get() {
            try data.write(to: folder.url.appending(component: name))
        }
        guard self == .overAStore else { return }
        try SQLiteStore.open(.test(folder)).close()
    }

    func run(_ folder: TemporaryFolder, _ calls: FileCalls = .system) throws {
        _ = try SQLiteStore.restore(
            RestoreScenario.backup(folder), to: folder.store, isReplacing: self != .intoNothing, calls: calls)
    }

    /// Expects the old store or the restored one, with all of its rows and no others, and that it can be restored now.
    ///
    /// - Parameter isDone: Whether the restore said that it succeeded.
    func expectWhole(_ folder: TemporaryFolder, isDone: Bool, _ moment: String) throws {
        let store = try SQLiteStore.open(.test(folder, resetPolicy: .fail))
        let count = try store.count()
        let restored = RestoreScenario.backupCount
        let old = self == .intoNothing ? 0 : RestoreScenario.oldCount
        #expect(count == restored || count == old && !isDone, "\(self), \(moment): \(count) rows")
        store.close()
        try checkIntegrity(folder)
        _ = try SQLiteStore.restore(RestoreScenario.backup(folder), to: folder.store, isReplacing: true)
        let again = try SQLiteStore.open(.test(folder, resetPolicy: .fail))
        #expect(try again.count() == restored, "\(self), \(moment)")
        again.close()
        #expect(
            folder.names.filter { !$0.hasPrefix("backup") } == ["test.store", "test.store.lock"], "\(self), \(moment)")
        try checkIntegrity(folder)
    }
}
