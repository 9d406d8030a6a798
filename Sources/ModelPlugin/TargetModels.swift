import Foundation
import PackagePlugin

/// The models of one target, and the options of the code generator.
struct TargetModels {
    private(set) var urls: [URL] = []
    private(set) var options: [String] = []
    /// The file that lists the models, if the file exists. A change of the file runs the code generator again.
    private(set) var configurationFiles: [URL] = []
    /// Arguments of the code generator: the path of the file that lists the models, and the file's contents when the
    /// build was planned. The code generator compares these contents with the file, to find later edits.
    private(set) var settings: [String] = []

    /// A fault in the models of a target. The description is one line.
    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    private struct Configuration: Decodable {
        var models: [String]
        var access: String?
    }

    init(of target: any Target, in package: Package) throws {
        let file = target.directoryURL.appending(component: "ModelPlugin.json")
        if FileManager.default.fileExists(atPath: file.path) {
            try configure(from: file, in: package)
        } else {
            let shared = package.directoryURL.appending(component: "Models")
            urls = [target.directoryURL, shared].lazy.map(models).first { !$0.isEmpty } ?? []
            if urls.isEmpty {
                throw Problem(
                    description: "ModelPlugin found no model for the target \(target.name): put the .xcdatamodeld into "
                        + "\(target.directoryURL.path), into \(shared.path), or name the model in \(file.path)")
            }
        }
        let names = Dictionary(grouping: urls) { $0.deletingPathExtension().lastPathComponent }
        if let (name, _) = names.sorted(by: { $0.key < $1.key }).first(where: { $1.count > 1 }) {
            throw Problem(
                description:
                    "ModelPlugin found more than one model \(name) for the target \(target.name): keep only one")
        }
    }

    private mutating func configure(from file: URL, in package: Package) throws {
        let configuration: Configuration
        do {
            let data = try Data(contentsOf: file)
            configuration = try JSONDecoder().decode(Configuration.self, from: data)
            settings = ["--settings", file.path, "--settings-text", String(decoding: data, as: UTF8.self)]
        } catch {
            let example = #"{"models": ["Models/Contacts.xcdatamodeld"], "access": "internal"}"#
            throw Problem(description: "\(file.path): expected something like \(example); \(error)")
        }
        urls = configuration.models.map { package.directoryURL.appending(path: $0, directoryHint: .isDirectory) }
        if let missing = urls.first(where: { !FileManager.default.fileExists(atPath: $0.path) }) {
            throw Problem(description: "\(file.path): there is no model \(missing.path)")
        }
        if let access = configuration.access {
            guard ["public", "package", "internal"].contains(access) else {
                throw Problem(description: "\(file.path): access is public, package or internal, not \(access)")
            }
            options = ["--access", access]
        }
        configurationFiles = [file]
    }
}

/// Returns the model bundles under a directory, sorted by path. Versions inside of a bundle are not separate models.
private func models(under directory: URL) -> [URL] {
    let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
    var models: [URL] = []
    while let file = files?.nextObject() as? URL {
        guard ["xcdatamodeld", "xcdatamodel"].contains(file.pathExtension) else { continue }
        models.append(file)
        files?.skipDescendants()
    }
    return models.sorted { $0.path < $1.path }
}

/// Returns all files in a bundle, sorted by path. The hidden file that names the current version is included.
func regularFiles(in bundle: URL) -> [URL] {
    let files = FileManager.default.enumerator(at: bundle, includingPropertiesForKeys: [.isRegularFileKey])
    let all = (files?.allObjects ?? []).compactMap { $0 as? URL }
    let regular = all.filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true }
    return regular.sorted { $0.path < $1.path }
}

/// Returns the lock files in which the tool looks for earlier versions of a model.
func lockFiles(above model: URL, in package: URL) -> [URL] {
    let top = package.standardizedFileURL.path
    var folder = model.standardizedFileURL.deletingLastPathComponent()
    var files: [URL] = []
    while folder.path.hasPrefix(top) {
        files += ["model.lock", "Models/model.lock"].map { folder.appending(path: $0) }
        folder.deleteLastPathComponent()
    }
    return files.filter { FileManager.default.fileExists(atPath: $0.path) }
}

/// Returns the number of entities in the largest version of a model.
func entityCount(in files: [URL]) -> Int {
    let contents = files.filter { $0.lastPathComponent == "contents" }
    // The tool reports a file that cannot be read, so the plugin ignores such a file.
    return contents.compactMap { try? Data(contentsOf: $0) }.map { data in
        String(decoding: data, as: UTF8.self).components(separatedBy: "<entity ").count - 1
    }.max() ?? 0
}

/// Returns the names of the files among which the tool divides the entities of a large model. The number of files is fixed when
/// the build is planned. Entities that are added later go into the same files.
func partNames(of name: String, entityCount: Int) -> [String] {
    let (entitiesPerFile, maximumFileCount) = (8, 64)
    guard entityCount > 2 * entitiesPerFile else { return [] }
    return (1...min(maximumFileCount, (entityCount + entitiesPerFile - 1) / entitiesPerFile)).map {
        "\(name).model \($0).swift"
    }
}
