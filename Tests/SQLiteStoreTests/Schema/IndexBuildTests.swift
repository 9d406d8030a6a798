import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import TestSupport
import Testing

/// Indexes are built with files, not in memory.
struct IndexBuildTests {
    /// A store of that many rows with strings of 200 characters.
    private func makeStore(_ folder: TemporaryFolder, rows: Int) throws {
        try SQLiteStore.open(.test(folder)).close()
        let raw = try RawDatabase(folder.store)
        try raw.run(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)) INSERT INTO Item (_key, text) "
                + "SELECT i, printf('%020d', (i * 7919) % \(rows)) || hex(zeroblob(90)) FROM n")
        try raw.run("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private func buildIndex(
        _ folder: TemporaryFolder, temporaryFiles: String = "/tmp"
    ) async throws -> Subprocess {
        let program = PackageFiles.products.appending(component: "store-program").path
        return try await Subprocess("env", ["SQLITE_TMPDIR=\(temporaryFiles)", program, folder.store.path, "index"])
    }

    @Test func theMemoryDoesNotGrowWithTheRows() async throws {
        var peaks: [Int] = []
        for rows in [100_000, 300_000] {
            let folder = try TemporaryFolder()
            try makeStore(folder, rows: rows)
            let child = try await buildIndex(folder)
            try #require(child.status == 0, "\(child.output)\(child.errors)")
            peaks.append(try #require(Int(child.output.trimmingCharacters(in: .whitespacesAndNewlines))))
            #expect(try RawDatabase(folder.store).run("SELECT count(*) FROM Item WHERE text > '0'") == ["\(rows)"])
            try checkIntegrity(folder)
        }
        // The rows are 20 and 60 MB; the cache is 16 MB, and sorting takes as much.
        #expect(peaks[1] < 48 << 20)
        #expect(peaks[1] < peaks[0] + 8 << 20)
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can mount a small file system."))
    func aFullFolderForTemporaryFilesIsNamedAndChangesNothing() async throws {
        let folder = try TemporaryFolder()
        let small = try TemporaryFolder()
        guard run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", small.url.path) else {
            print("Skipped: this system does not let root mount a file system.")
            return
        }
        defer { _ = run("umount", "-l", small.url.path) }
        try makeStore(folder, rows: 150_000)
        let failed = try await buildIndex(folder, temporaryFiles: small.url.path)
        #expect(failed.status == 1)
        #expect(failed.output.contains("diskFull") && failed.output.contains(small.url.path))
        let store = try SQLiteStore.open(.test(folder, resetPolicy: .fail))
        #expect(try store.count() == 150_000)
        store.close()
        #expect(try await buildIndex(folder).status == 0)
        try checkIntegrity(folder)
    }
}
