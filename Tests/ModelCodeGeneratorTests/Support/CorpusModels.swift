import Foundation
import TestSupport

/// Models of real apps, which lie beside the package and not in it.
enum CorpusModels {
    /// The last version of each bundle, as far as it is XML.
    static let all: [URL] = {
        let files = FileManager.default.enumerator(at: PackageFiles.models, includingPropertiesForKeys: nil)
        var last: [String: URL] = [:]
        while let file = files?.nextObject() as? URL {
            guard file.lastPathComponent == "contents" else { continue }
            let version = file.deletingLastPathComponent()
            let parent = version.deletingLastPathComponent()
            let bundle = parent.pathExtension == "xcdatamodeld" ? parent.path : version.path
            if last[bundle].map({ $0.path < version.path }) ?? true { last[bundle] = version }
        }
        return last.sorted { $0.key < $1.key }.map(\.value)
    }()

    /// As many as are asked for, from the whole list.
    static let chosen: [URL] = {
        let count = ProcessInfo.processInfo.environment["COREDATASOURCE_COMPILED_MODELS"].flatMap { Int($0) } ?? 3
        let step = max(1, all.count / max(1, count))
        return Array(stride(from: 0, to: all.count, by: step).lazy.map { all[$0] }.prefix(count))
    }()
}
