internal import Foundation

/// The files of a model at the time when the build system planned the build.
///
/// SwiftPM plans the build again only when the manifest changes, or when a file is added to or removed from a target's
/// directory. SwiftPM watches the file that names the current version. So SwiftPM generates the source of a new version,
/// even if the model is outside of the target's directory. But SwiftPM would not notice later edits of this version.
struct WatchedFiles {
    let model: String
    let files: [String]
    let settings: String?
    let settingsText: String

    /// The error for a settings file that was edited after SwiftPM had read it, or for a file that SwiftPM does not
    /// watch; nil if there is neither.
    var problem: String? {
        if let settings, !isUnchanged(settings) {
            return "\(settings): error: This file was edited after SwiftPM had read it. \(WatchedFiles.advice)"
        }
        let known = Set(files.map { URL(filePath: $0).resolvingSymlinksInPath().path })
        guard let unknown = present.first(where: { !known.contains($0) }) else { return nil }
        return
            "\(unknown): error: This file was added after SwiftPM had listed the files of the model, so later edits of it would go unnoticed. \(WatchedFiles.advice)"
    }

    private static let advice = "Run `touch Package.swift`, and build again."

    private func isUnchanged(_ settings: String) -> Bool {
        do { return try Data(contentsOf: URL(filePath: settings)) == Data(settingsText.utf8) } catch { return false }
    }

    /// The files of the bundle from which a model is read. Other files, such as an editor's backups, do not count.
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
