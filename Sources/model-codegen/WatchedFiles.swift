internal import Foundation

/// The files of a model as the build system knew them when it planned the build.
///
/// SwiftPM plans again only when the manifest changes, or a file is added to or removed from a target's directory. A version that is
/// added elsewhere is read, since the file that names the current one is watched; but nobody would notice the edits after that.
struct WatchedFiles {
    let model: String
    let files: [String]
    let settings: String?
    let settingsText: String

    /// What the build system does not know; nil if it knows everything.
    var complaint: String? {
        if let settings, !isUnchanged(settings) {
            return "\(settings): error: It was edited after SwiftPM had read it. \(WatchedFiles.advice)"
        }
        let known = Set(files.map { URL(filePath: $0).resolvingSymlinksInPath().path })
        guard let unknown = present.first(where: { !known.contains($0) }) else { return nil }
        return
            "\(unknown): error: It was added after SwiftPM had listed the files of the model, so that later edits of it would go unnoticed. \(WatchedFiles.advice)"
    }

    private static let advice = "Run `touch Package.swift`, and build again."

    private func isUnchanged(_ settings: String) -> Bool {
        do { return try Data(contentsOf: URL(filePath: settings)) == Data(settingsText.utf8) } catch { return false }
    }

    /// The files that the bundle has now, and that a model is read from. An editor may have added others.
    private var present: [String] {
        let bundle = URL(filePath: model).resolvingSymlinksInPath()
        let found = FileManager.default.enumerator(at: bundle, includingPropertiesForKeys: [.isRegularFileKey])
        var paths: [String] = []
        while let url = found?.nextObject() as? URL {
            guard ["contents", ".xccurrentversion"].contains(url.lastPathComponent) else { continue }
            var isDirectory: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory)
            if exists, !isDirectory.boolValue { paths.append(url.resolvingSymlinksInPath().path) }
        }
        return paths.sorted()
    }
}
