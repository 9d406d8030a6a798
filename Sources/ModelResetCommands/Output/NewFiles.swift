internal import Foundation

/// New files in a folder. If a file cannot be written, none is kept.
struct NewFiles {
    let folder: String
    /// Whether the files are a whole new folder, which must not exist before.
    let isWhole: Bool

    /// Writes the files, and then checks them. If a file cannot be written, or if the check throws, removes the written files
    /// and folders, and throws the error.
    func write<Result>(
        _ files: [(path: String, text: String)], then check: () throws -> Result
    ) throws -> Result {
        let url = URL(filePath: folder, directoryHint: .isDirectory)
        let manager = FileManager.default
        let isNew = !manager.fileExists(atPath: url.path)
        if isWhole, !isNew {
            throw OutputError("\(folder) already exists; choose another name, or delete \(folder) first")
        }
        for file in files {
            guard file.path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy(Self.isFileName) else {
                throw OutputError("\"\(file.path)\" is not the name of a file in \(folder); choose another name")
            }
            if manager.fileExists(atPath: url.appending(path: file.path).path) {
                throw OutputError(
                    "\(url.appending(path: file.path).path) already exists; choose another folder, or delete the file first"
                )
            }
        }
        let parents = missingParents(of: url)
        do { try manager.createDirectory(at: url, withIntermediateDirectories: true) } catch {
            remove([], isNew ? url : nil, parents)
            throw OutputError("the folder \(folder) cannot be made (\(error.localizedDescription))")
        }
        var written: [URL] = []
        do {
            for file in files {
                let target = url.appending(path: file.path)
                try OutputFile(path: target.path).write(file.text)
                written.append(target)
            }
            return try check()
        } catch {
            remove(written, isNew ? url : nil, parents)
            throw error
        }
    }

    private static func isFileName(_ name: Substring) -> Bool { !name.isEmpty && name != "." && name != ".." }

    /// The enclosing folders that do not exist yet, innermost first.
    private func missingParents(of url: URL) -> [URL] {
        var missing: [URL] = []
        var parent = url.standardizedFileURL.deletingLastPathComponent()
        while parent.pathComponents.count > 1, !FileManager.default.fileExists(atPath: parent.path) {
            missing.append(parent)
            parent.deleteLastPathComponent()
        }
        return missing
    }

    private func remove(_ files: [URL], _ folder: URL?, _ parents: [URL]) {
        let manager = FileManager.default
        for file in files { try? manager.removeItem(at: file) }
        if let folder { try? manager.removeItem(at: folder) }
        for parent in parents {
            // Another program might have put something there.
            guard let content = try? manager.contentsOfDirectory(atPath: parent.path), content.isEmpty else { return }
            try? manager.removeItem(at: parent)
        }
    }
}
