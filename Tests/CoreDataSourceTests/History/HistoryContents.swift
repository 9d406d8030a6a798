import Foundation
import RowStore
import TestSupport

/// What is in the files and tables of a store with a history.
extension HistoryPlace {
    /// How many records have the bytes of a string.
    func recordCount(containing string: String, _ url: URL) throws -> Int {
        switch self {
        case .memory: return 0
        case .sqlite, .sharedFile:
            let sql = "SELECT count(*) FROM _history WHERE instr(changes, CAST('\(string)' AS BLOB)) > 0"
            return try RawConnection(url).column(sql).first.flatMap { Int($0) } ?? 0
        case .custom:
            return try recordFiles(url).count { file in
                let parts = try object(file)["parts"] as? [String] ?? []
                return parts.contains { Data(base64Encoded: $0)?.range(of: Data(string.utf8)) != nil }
            }
        case .server:
            let tables = try rows("SELECT schemaname FROM pg_tables WHERE tablename = '_history'", url)
            return try tables.compactMap { $0[0] }.reduce(0) { count, schema in
                let found = try rows(
                    """
                    SELECT count(*) FROM "\(schema)"._history WHERE position(convert_to('\(string)', 'UTF8') IN changes) > 0
                    """, url)
                return count + (found.first?.first?.flatMap { Int($0) } ?? 0)
            }
        }
    }

    /// Moves the times of the records back, up to a number. The store must be closed.
    func makeRecordsOlder(by milliseconds: Int, upTo last: Int = 1 << 40, _ url: URL) throws {
        switch self {
        case .memory: break
        case .sqlite, .sharedFile:
            try RawConnection(url).execute(
                "UPDATE _history SET time = time - \(milliseconds) WHERE key >> 20 <= \(last)")
        case .custom:
            for file in try recordFiles(url) {
                var record = try object(file)
                guard let number = record["number"] as? Int, number <= last, let time = record["time"] as? Int
                else { continue }
                record["time"] = time - milliseconds
                try JSONSerialization.data(withJSONObject: record).write(to: file)
            }
        case .server:
            let sql = "UPDATE \"store 1\"._history SET time = time - \(milliseconds)"
            _ = try rows("\(sql) WHERE number BETWEEN 1 AND \(last)", url)
        }
    }

    /// The format in the metadata of the store.
    func format(_ url: URL) throws -> Int64? {
        switch self {
        case .memory: nil
        case .sqlite, .sharedFile:
            try RawConnection(url).column("SELECT value FROM _metadata WHERE name = 'format'").first.flatMap {
                Int64($0)
            }
        case .custom: (try object(metadataFile(url))["format"] as? Int).map { Int64($0) }
        case .server:
            try rows("SELECT number FROM \"store 1\"._metadata WHERE name = 'format'", url).first?.first?
                .flatMap { Int64($0) }
        }
    }

    func setFormat(_ format: Int64, _ url: URL) throws {
        switch self {
        case .memory: break
        case .sqlite, .sharedFile:
            try RawConnection(url).execute("UPDATE _metadata SET value = \(format) WHERE name = 'format'")
        case .custom:
            var metadata = try object(metadataFile(url))
            metadata["format"] = Int(format)
            try JSONSerialization.data(withJSONObject: metadata).write(to: metadataFile(url))
        case .server:
            _ = try rows("UPDATE \"store 1\"._metadata SET number = \(format) WHERE name = 'format'", url)
        }
    }

    // MARK: Files and tables

    private func folder(_ url: URL) -> URL { url.appendingPathExtension("folder") }

    private func metadataFile(_ url: URL) -> URL { folder(url).appending(path: "store.json") }

    private func recordFiles(_ url: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: folder(url).appending(path: "history"), includingPropertiesForKeys: nil)
    }

    private func object(_ file: URL) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
    }

    private func rows(_ sql: String, _ url: URL) throws -> [[String?]] {
        #if PostgreSQL
        let database = HistoryPlace.databases.withLock { $0[url] } ?? ""
        return try PostgreSQLServer.shared.session(database: database).run(sql)
        #else
        return []
        #endif
    }
}
