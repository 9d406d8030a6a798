internal import Foundation

/// The lock file on the disk.
struct LockFile {
    let path: String

    /// The way from the lock file's folder to a model, which is the same wherever the program is started.
    func name(of model: String) -> String {
        let from = folder.pathComponents
        let to = URL(filePath: model).resolvingSymlinksInPath().standardizedFileURL.pathComponents
        let shared = zip(from, to).prefix { $0 == $1 }.count
        return (Array(repeating: "..", count: from.count - shared) + to[shared...]).joined(separator: "/")
    }

    /// Whether the model that the lock file names by its way there is still there.
    func isThere(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: name).path)
    }

    /// Nil if there is no lock file.
    func read() throws -> ModelLock? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let data = try? Data(contentsOf: URL(filePath: path)), let text = String(data: data, encoding: .utf8)
        else {
            throw LockFileError(
                file: path, message: "The lock file cannot be read as text. Restore it, or remove it.")
        }
        return try ModelLock(text: text, file: path)
    }

    func write(_ lock: ModelLock) throws {
        do { try Data(lock.text.utf8).write(to: URL(filePath: path), options: .atomic) } catch {
            throw UsageError("\(path) cannot be written (\(error.localizedDescription))")
        }
    }

    private var folder: URL {
        URL(filePath: path).deletingLastPathComponent().resolvingSymlinksInPath().standardizedFileURL
    }
}
