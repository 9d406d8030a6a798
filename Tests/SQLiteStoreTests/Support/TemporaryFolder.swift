import Foundation

/// A folder of one test, gone with it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var store: URL { url.appendingPathComponent("test.store") }

    /// The bytes of the main file and of its log, to see that nothing touched them. For stores that nobody has open.
    func contents() -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in ["test.store", "test.store-wal"] {
            contents[name] = try? Data(contentsOf: url.appendingPathComponent(name))
        }
        return contents
    }

    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
    }
}
