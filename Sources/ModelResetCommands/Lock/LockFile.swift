internal import Foundation
internal import ModelReader

/// The lock file on the disk.
struct LockFile {
    let path: String

    /// The path of a model relative to the lock file's folder, which does not depend on the working directory.
    func name(of model: String) -> String {
        let from = folder.pathComponents
        let to = LockFile.resolved(URL(filePath: model).standardizedFileURL).pathComponents
        let shared = zip(from, to).prefix { $0 == $1 }.count
        return (Array(repeating: "..", count: from.count - shared) + to[shared...]).joined(separator: "/")
    }

    /// Whether that path is its own.
    func isAt(_ other: String) -> Bool {
        LockFile.resolved(URL(filePath: other).standardizedFileURL).path
            == LockFile.resolved(URL(filePath: path).standardizedFileURL).path
    }

    /// Whether the model at that path still exists.
    func isThere(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: name).standardizedFileURL.path)
    }

    /// The path of the model with that name: relative if this path is, to read as the user would have written it.
    func path(of name: String) -> String {
        let absolute = folder.appending(path: name).standardizedFileURL.path
        let current = LockFile.resolved(URL(filePath: FileManager.default.currentDirectoryPath)).path + "/"
        return absolute.hasPrefix(current) ? String(absolute.dropFirst(current.count)) : absolute
    }

    /// The names of the bundles in the lock file's folder and below it, without those in hidden folders such as `.build`.
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

    /// Nil if there is no lock file.
    func read() throws -> ModelLock? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try ModelLock(text: text(), file: path)
    }

    /// - Parameter error: Why it cannot be read.
    func conflict(_ error: LockFileError) throws -> LockConflict? { LockConflict(try text(), error) }

    private func text() throws -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)), let text = String(data: data, encoding: .utf8)
        else {
            throw LockFileError(
                file: path, message: "The lock file is not UTF-8 text. Restore it, or remove it.")
        }
        return text
    }

    /// Also makes the folder, as on first use.
    func write(_ lock: ModelLock) throws {
        try OutputFile(path: path).write(lock.text)
    }

    private var folder: URL { LockFile.resolved(URL(filePath: path).deletingLastPathComponent().standardizedFileURL) }

    /// Without symbolic links, even if the last components do not exist yet.
    private static func resolved(_ url: URL) -> URL {
        guard !FileManager.default.fileExists(atPath: url.path), url.pathComponents.count > 1 else {
            return url.resolvingSymlinksInPath().standardizedFileURL
        }
        return resolved(url.deletingLastPathComponent()).appending(component: url.lastPathComponent)
    }
}
