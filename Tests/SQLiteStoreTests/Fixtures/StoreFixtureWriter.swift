import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// Writes the stores of a new format: `WRITE_STORE_FIXTURES=format-2 Scripts/test --filter StoreFixtureWriter`.
///
/// The folder of each store, with its `model.xml`, has to be there. The README beside them says more.
struct StoreFixtureWriter {
    @Test(.enabled(if: formatToWrite != nil)) func writeTheStoresOfThisFormat() async throws {
        let format = try #require(formatToWrite)
        for fixture in StoreFixture.all where fixture.format == format {
            // Those that are there stay as they are.
            if FileManager.default.fileExists(atPath: fixture.store.path) { continue }
            let model = try fixture.model()
            try model.validate()
            let folder = try TemporaryFolder()
            let url = folder.url.appending(component: StoreFixture.storeName)
            let keys = fixture.name == "Contacts" ? ["GroupEntity": "7"] : [:]
            try writeRows(fixture, url, keys, half: 0)
            if fixture.name == "Killed" {
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = url.path as String, folder = fixture.folder.path as String] in
                    try writeRows(StoreFixture(URL(filePath: folder)), URL(filePath: path), [:], half: 1)
                }
            } else {
                try writeRows(fixture, url, keys, half: 1)
                // Closed by the store, it is one file.
                let store = try SQLiteStore.open(fixture.options(url, model, keys: keys))
                for changes in FixtureRows(model).links { try store.write([changes]) }
                store.close()
            }
            _ = try StoreFixture(folder.url).copyStore(to: fixture.folder)
            try StoreContents(rawFile: url, model).write(to: fixture.contentsFile)
        }
    }
}

private let formatToWrite = ProcessInfo.processInfo.environment["WRITE_STORE_FIXTURES"]

private func writeRows(_ fixture: StoreFixture, _ url: URL, _ keys: [String: String], half: Int) throws {
    let model = try fixture.model()
    let store = try SQLiteStore.open(fixture.options(url, model, keys: keys))
    for changes in FixtureRows(model).changes(ofHalf: half) { try store.write([changes]) }
    if fixture.name == "Killed" && half == 1 { kill(getpid(), SIGKILL) }
    store.close()
}
