import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

/// Runs on a file system of a few hundred kilobytes, which only root can make.
@Suite(.enabled(if: geteuid() == 0, "Only root can mount a small file system."))
struct DiskFullTests {
    /// What the disk has no room for is refused as such; what was accepted stays, and saving goes on once there is room.
    @Test(arguments: [64, 128, 256, 512, 1024])
    func aFullDiskIsNamedAndLosesNothing(kilobytes: Int) throws {
        let folder = try TemporaryFolder()
        guard run("mount", "-t", "tmpfs", "-o", "size=\(kilobytes)k", "tmpfs", folder.url.path) else {
            print("Skipped: this system does not let root mount a file system.")
            return
        }
        defer { _ = run("umount", "-l", folder.url.path) }
        var accepted: Int64 = 0
        var failure: DataSourceError.Code?
        do {
            let store = try SQLiteStore.open(.test(folder))
            defer { store.close() }
            while failure == nil {
                failure = code { try store.write([.of(insert: [item(accepted + 1)])]) }
                if failure == nil { accepted += 1 }
            }
            #expect(try store.count() == Int(accepted))
        } catch {
            failure = error.code
        }
        #expect(failure == .diskFull)
        #expect(run("mount", "-o", "remount,size=8m", folder.url.path))
        let store = try SQLiteStore.open(.test(folder))
        #expect(try store.count() == Int(accepted))
        try store.write([.of(insert: [item(accepted + 1)])])
        store.close()
        try checkIntegrity(folder)
    }

    private func item(_ key: Int64) -> StoredRow {
        StoredRow(
            key: key,
            row: TestModel.row(.integer(key), .null, .text(String(repeating: "x", count: 3000)), .null, .null, .null))
    }
}
