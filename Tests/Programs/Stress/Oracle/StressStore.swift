import CoreDataSource
import Foundation
import RowStore
import SQLiteStore
import StoreFaults
import StoreTestModel
import TestSupport

/// A store of the stress model in a folder of its own, which stays if something is found.
final class StressStore {
    let folder: URL
    private let findings: Findings
    private let before: Int

    init(_ findings: Findings) throws {
        self.findings = findings
        before = findings.violations.count
        folder = FileManager.default.temporaryDirectory.appending(component: "stress-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        if findings.violations.count == before {
            try? FileManager.default.removeItem(at: folder)
        } else {
            say("  The store is kept: \(folder.path)")
        }
    }

    var url: URL { StressStore.url(in: folder) }

    static func url(in folder: URL) -> URL { folder.appending(component: "store.sqlite") }

    /// The bytes of the write-ahead log; 0 if there is none.
    static func logSize(_ url: URL) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? Int) ?? 0
    }

    /// Opens it as an app does.
    func open(key: String = "1", configuration: PersistentContainer.Configuration) async throws -> PersistentContainer {
        try await PersistentContainer(
            model: .stress, store: .sqlite(url), databaseKey: key, configuration: configuration)
    }

    /// Opens it the same way, with other calls for the files.
    static func open(
        _ url: URL, key: String = "1", synchronous: SynchronousLevel = .normal, logLimit: Int = 40,
        history: KeptHistory = .unchanged, calls: FileCalls
    ) throws -> PersistentContainer {
        var identity = TestModel.identity(of: .stress)
        identity.databaseKey = key
        let layout = ModelLayout(.stress)
        var options = SQLiteStore.Options(
            url: url, layout: layout, identity: identity, synchronous: synchronous, resetPolicy: .discard, calls: calls)
        options.logLimit = logLimit
        options.history = history
        let store = try SQLiteStore.open(options)
        return PersistentContainer(layout, store, startup: store.startup)
    }
}
