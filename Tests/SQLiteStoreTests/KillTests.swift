import Foundation
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

struct KillTests {
    /// A child saves until it is killed, and says so after each save. Every save that it spoke of must be there, whole.
    @Test func whatWasCommittedSurvivesAKill() async throws {
        let folder = try TemporaryFolder()
        var kept: Int64 = 0
        for round in Int64(1)...5 {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = folder.store.path as String, round = round as Int64] in
                try saveUntilKilled(path, saves: round * 37)
            }
            let store = try SQLiteStore.open(.test(folder))
            #expect(store.startup.reason == .current || kept == 0)
            let acknowledged = try #require(
                Int64(String(decoding: Data(contentsOf: folder.url.appendingPathComponent("saved")), as: UTF8.self)))
            let rows = try store.rows(RowQuery(entity: TestModel.item))
            #expect(rows.count % 5 == 0)
            #expect(Int64(rows.count) >= kept + acknowledged * 5)
            #expect(acknowledged >= round * 37)
            kept = Int64(rows.count)
            store.close()
            try checkIntegrity(folder)
        }
    }
}

/// Saves groups of five rows, writes after each how many were saved, and dies in the middle of one that is too many.
private func saveUntilKilled(_ path: String, saves: Int64) throws {
    let url = URL(fileURLWithPath: path)
    let options = SQLiteStore.Options(url: url, layout: TestModel.layout, identity: TestModel.identity())
    let store = try SQLiteStore.open(options)
    let log = url.deletingLastPathComponent().appendingPathComponent("saved")
    let parent = Thread {
        while true {
            if let text = try? Data(contentsOf: log), Int64(String(decoding: text, as: UTF8.self)) ?? 0 >= saves {
                kill(getpid(), SIGKILL)
            }
        }
    }
    try Data("0".utf8).write(to: log)
    parent.start()
    var key = store.firstFreeKey
    for save in Int64(1)... {
        let rows = (0..<5).map { StoredRow(key: key + $0, row: TestModel.row(code: "\(key + $0)")) }
        try store.write([.of(insert: rows, number: save)])
        key += 5
        try Data("\(save)".utf8).write(to: log, options: .atomic)
    }
}
