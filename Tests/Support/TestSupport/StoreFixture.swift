package import Foundation

/// A store that an earlier or the present format wrote, with its contents: a folder of `Tests/Fixtures/Stores`.
package struct StoreFixture: Sendable, CustomStringConvertible {
    package let folder: URL

    package init(_ folder: URL) {
        self.folder = folder
    }

    package static let stores = PackageFiles.tests.appending(path: "Fixtures/Stores")

    /// The fixtures of all formats.
    package static let all: [StoreFixture] = folders(in: stores).flatMap { folders(in: $0) }.map(StoreFixture.init)

    /// The fixtures of one model, in all formats.
    package static func all(named name: String) -> [StoreFixture] { all.filter { $0.name == name } }

    private static func folders(in folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().filter { !$0.contains(".") }.map { folder.appending(component: $0) }
    }

    package var name: String { folder.lastPathComponent }
    package var format: String { folder.deletingLastPathComponent().lastPathComponent }
    package var description: String { "\(format)/\(name)" }
    package var modelFile: URL { folder.appending(component: "model.xml") }
    package var contentsFile: URL { folder.appending(component: "contents.json") }
    package var store: URL { folder.appending(component: StoreFixture.storeName) }

    package static let storeName = "store.sqlite"

    package func contents() throws -> StoreContents { try StoreContents(contentsOf: contentsFile) }

    /// Copies the store, with its WAL if there is one.
    ///
    /// - Returns: The URL of the copy.
    package func copyStore(to folder: URL) throws -> URL {
        for name in [StoreFixture.storeName, StoreFixture.storeName + "-wal"] {
            let file = self.folder.appending(component: name)
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            try FileManager.default.copyItem(at: file, to: folder.appending(component: name))
        }
        return folder.appending(component: StoreFixture.storeName)
    }
}
