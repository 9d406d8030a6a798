internal import Foundation

/// A file that a command writes.
struct OutputFile {
    let path: String

    /// Writes the whole file or nothing, and makes missing folders.
    func write(_ text: String) throws {
        let url = URL(filePath: path)
        let folder = url.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw OutputError("the folder \(folder.path) cannot be made (\(error.localizedDescription))")
        }
        do {
            try Data(text.utf8).write(to: url, options: .atomic)
        } catch {
            throw OutputError("\(path) cannot be written (\(error.localizedDescription))")
        }
    }
}

/// A file cannot be written.
struct OutputError: Error {
    var message: String

    init(_ message: String) {
        self.message = message
    }
}
