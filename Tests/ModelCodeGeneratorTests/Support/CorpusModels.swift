import Foundation
import ModelReader
import TestSupport

/// Models of real apps, which lie beside the package and not in it.
enum CorpusModels {
    /// The current version of each bundle, or the last in the order of the names if the bundle names none. Versions that are not
    /// XML are left out.
    static let all: [URL] = {
        let files = FileManager.default.enumerator(at: PackageFiles.models, includingPropertiesForKeys: nil)
        var versions: [URL: [URL]] = [:]
        while let file = files?.nextObject() as? URL {
            guard file.lastPathComponent == "contents" else { continue }
            let version = file.deletingLastPathComponent()
            let parent = version.deletingLastPathComponent()
            versions[parent.pathExtension == "xcdatamodeld" ? parent : version, default: []].append(version)
        }
        return versions.sorted { $0.key.path < $1.key.path }.compactMap { bundle, versions in
            let named = try? ModelBundle(at: bundle).currentVersion
            return versions.first { $0.deletingPathExtension().lastPathComponent == named }
                ?? versions.max { $0.path < $1.path }
        }
    }()

    /// As many as are asked for, from the whole list.
    static let chosen: [URL] = {
        let count = ProcessInfo.processInfo.environment["COREDATASOURCE_COMPILED_MODELS"].flatMap { Int($0) } ?? 3
        let step = max(1, all.count / max(1, count))
        return Array(stride(from: 0, to: all.count, by: step).lazy.map { all[$0] }.prefix(count))
    }()
}
