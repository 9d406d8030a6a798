internal import Foundation
internal import ManagedModel
internal import ModelMigration
internal import ModelReader

/// The lock file in the file system.
struct LockFile {
    let path: String

    /// Returns the name of a model: its path relative to the folder of the lock file. This path does not depend on the working
    /// directory. The name of a model of several files consists of their sorted paths, with commas between them.
    func name(of model: ModelArgument) -> String { model.paths.map(name).sorted().joined(separator: ",") }

    private func name(of path: String) -> String {
        let from = folder.pathComponents
        let to = LockFile.resolved(URL(filePath: path).standardizedFileURL).pathComponents
        let shared = zip(from, to).prefix { $0 == $1 }.count
        return (Array(repeating: "..", count: from.count - shared) + to[shared...]).joined(separator: "/")
    }

    /// Whether the path leads to this lock file.
    func isSameFile(_ other: String) -> Bool {
        LockFile.resolved(URL(filePath: other).standardizedFileURL).path
            == LockFile.resolved(URL(filePath: path).standardizedFileURL).path
    }

    /// Whether the model with the given name still exists. A model of several files exists if at least one of the files
    /// exists.
    func modelExists(_ name: String) -> Bool { ModelArgument.paths(name, exists: exists).contains(where: exists) }

    private func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: name).standardizedFileURL.path)
    }

    /// Returns the model with the given name. Its paths are relative if they are below the working directory, and otherwise
    /// absolute.
    func model(named name: String) -> ModelArgument {
        let current = LockFile.resolved(URL(filePath: FileManager.default.currentDirectoryPath)).path + "/"
        let paths = ModelArgument.paths(name, exists: exists).map { name in
            let absolute = folder.appending(path: name).standardizedFileURL.path
            return absolute.hasPrefix(current) ? String(absolute.dropFirst(current.count)) : absolute
        }
        return ModelArgument(path: paths.joined(separator: ","))
    }

    /// Returns the names of the bundles in the lock file's folder and below it. Hidden folders such as `.build` are skipped.
    func modelsInFolder() -> [String] {
        let files = FileManager.default.enumerator(
            at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
        var names: [String] = []
        while let url = files?.nextObject() as? URL {
            guard url.pathExtension == "xcdatamodeld" else { continue }
            files?.skipDescendants()
            names.append(name(of: url.path))
        }
        return names
    }

    /// Reads the lock file. Returns nil if the file does not exist.
    func read() throws -> ModelLock? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try ModelLock(text: text(), file: path)
    }

    /// Returns both sides of a merge conflict in the file; nil if the file has a different fault.
    ///
    /// - Parameter error: The error from reading the file.
    func conflict(_ error: LockFileError) throws -> LockConflict? { LockConflict(try text(), error) }

    private func text() throws -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)), let text = String(data: data, encoding: .utf8)
        else {
            throw LockFileError(
                file: path, message: "The lock file cannot be read, or is not UTF-8 text. Restore or remove the file.")
        }
        return text
    }

    /// Writes the file, and creates its folder if the folder does not exist.
    func write(_ lock: ModelLock) throws {
        try OutputFile(path: path).write(lock.text)
    }

    private var folder: URL { LockFile.resolved(URL(filePath: path).deletingLastPathComponent().standardizedFileURL) }

    /// Resolves symbolic links, even if the end of the path does not exist yet.
    private static func resolved(_ url: URL) -> URL {
        guard !FileManager.default.fileExists(atPath: url.path), url.pathComponents.count > 1 else {
            return url.resolvingSymlinksInPath().standardizedFileURL
        }
        return resolved(url.deletingLastPathComponent()).appending(component: url.lastPathComponent)
    }
}

/// A lock file in which Git left a merge conflict.
struct LockConflict {
    /// The error from reading the file. `check` reports the error, unless the command writes the file.
    let error: LockFileError
    let sides: [(name: String, lock: ModelLock)]
    /// The models that are equal on both sides or exist on one side only.
    private(set) var agreedModels = ModelLock()
    /// The paths of the models that are different on the two sides.
    private(set) var conflictingPaths: [String] = []

    /// Nil if the file has no merge conflict, or if a side is not a lock file.
    init?(_ text: String, _ error: LockFileError) {
        guard error.code == LockFileError.mergeConflict, let texts = ModelLock.conflictSides(of: text) else {
            return nil
        }
        self.error = error
        do {
            sides = try texts.map { (name: $0.name, lock: try ModelLock(text: $0.text, file: error.file)) }
        } catch {
            return nil
        }
        for path in Set(sides.flatMap { $0.lock.models.map(\.path) }).sorted() {
            let found = sides.compactMap { $0.lock.model(at: path) }
            if found.count == 2, found[0] != found[1] {
                conflictingPaths.append(path)
            } else {
                agreedModels.put(found[0])
            }
        }
    }
}

/// The difference between a model and the locked model, or the reason why the difference cannot be listed.
enum LockDifference {
    case comparison(ModelComparison)
    case remark(String)

    /// - Parameter old: The locked model; nil if another release wrote the model.
    init(from old: ManagedObjectModel?, to new: ManagedObjectModel?) {
        guard let old, let new else {
            self = .remark("The lock file was written by another release, so the changes cannot be listed.")
            return
        }
        let comparison = ModelComparison(from: old, to: new)
        // Equal strings can have different bytes. If the canonical forms are equal strings, only their bytes differ.
        guard old.canonicalForm != new.canonicalForm else {
            self = .remark(
                "The names are the same in another form of Unicode. This release reads every name in NFC, and uses NFC in tables."
            )
            return
        }
        self =
            comparison.plan.changes.isEmpty
            ? .remark("This release uses another layout of the tables.") : .comparison(comparison)
    }

    /// The lines that describe the difference, indented.
    var lines: [String] {
        switch self {
        case .comparison(let comparison): comparison.lines.map { "  \($0)" }
        case .remark(let remark): ["  \(remark)"]
        }
    }

    var changes: [String] {
        switch self {
        case .comparison(let comparison): comparison.plan.changes.map(\.description)
        case .remark(let remark): [remark]
        }
    }

    var migrationJSON: JSON { if case .comparison(let comparison) = self { comparison.migrationJSON } else { .null } }
}
