internal import Foundation

/// New files in a folder. If a file cannot be written, none is kept.
struct NewFiles {
    let folder: String
    /// Whether the folder must not exist yet.
    let isWhole: Bool

    /// Writes the files. If a file cannot be written, removes the written files and throws the error.
    func write(_ files: [(path: String, text: String)]) throws {
        let url = URL(filePath: folder, directoryHint: .isDirectory)
        let manager = FileManager.default
        let isMade = !manager.fileExists(atPath: url.path)
        if isWhole, !isMade {
            throw OutputError("\(folder) already exists; choose another name, or delete \(folder) first")
        }
        for file in files where manager.fileExists(atPath: url.appending(path: file.path).path) {
            throw OutputError(
                "\(url.appending(path: file.path).path) already exists; choose another folder, or delete the file first"
            )
        }
        do { try manager.createDirectory(at: url, withIntermediateDirectories: true) } catch {
            throw OutputError("the folder \(folder) cannot be made (\(error.localizedDescription))")
        }
        var written: [URL] = []
        do {
            for file in files {
                let target = url.appending(path: file.path)
                try OutputFile(path: target.path).write(file.text)
                written.append(target)
            }
        } catch {
            if isMade {
                try? manager.removeItem(at: url)
            } else {
                for target in written { try? manager.removeItem(at: target) }
            }
            throw error
        }
    }
}
