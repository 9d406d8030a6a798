internal import Foundation
internal import RowStore

/// Moves an old store into a folder that the user chose.
struct FolderBackup {
    let files: StoreFiles
    let folder: URL

    /// Moves all files of a store that no process has open, and returns the new place of the main file.
    ///
    /// First the log is copied into the main file, so that one file is the whole store. One rename then moves it: at every
    /// moment the store is in one of the two places.
    func move() throws(DataSourceError) -> URL {
        try checkFileSystem()
        try makeFolder()
        try copyLog()
        let target = freePlace()
        for suffix in ["", "-wal", "-shm"] where files.exists(files.main + suffix) {
            guard rename(files.main + suffix, target + suffix) == 0 else {
                throw DataSourceError(systemError: errno, path: files.main + suffix, while: "moving")
            }
        }
        try StoreFiles(URL(filePath: target), files.calls, mode: Int(files.mode)).syncFolder()
        try files.syncFolder()
        return URL(filePath: target)
    }

    private func makeFolder() throws(DataSourceError) {
        do { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) } catch {
            throw DataSourceError(
                .notAFile, "The folder \(folder.path) for the backup cannot be made. Choose another.",
                cause: error.localizedDescription)
        }
    }

    /// Checks the folder, or its nearest existing parent.
    private func checkFileSystem() throws(DataSourceError) {
        var nearest = folder.standardizedFileURL
        while !files.exists(nearest.path), nearest.path != "/" { nearest.deleteLastPathComponent() }
        var here = stat()
        var there = stat()
        guard stat(files.main, &here) == 0, stat(nearest.path, &there) == 0 else {
            throw DataSourceError(systemError: errno, path: folder.path, while: "opening")
        }
        guard here.st_dev == there.st_dev else {
            throw DataSourceError(
                .notAFile,
                "The folder \(folder.path) is on another file system than the store, so the store cannot be moved "
                    + "there in one step. Choose one beside the store.")
        }
    }

    private func copyLog() throws(DataSourceError) {
        let connection = try Connection(path: files.main, isReader: false)
        defer { connection.close(copyingLog: true) }
        try connection.configure()
        let outcome = try connection.values("PRAGMA wal_checkpoint(TRUNCATE)")
        guard outcome.first?.first == .integer(0) else {
            throw DataSourceError(
                .storeBusy, "Another program is reading \(files.main). Close that program, or try again later.")
        }
    }

    /// The store's own name in the folder or, if that is taken, the name with a number.
    private func freePlace() -> String {
        let name = URL(filePath: files.main)
        let base = folder.appending(component: name.deletingPathExtension().lastPathComponent).path
        let suffix = name.pathExtension.isEmpty ? "" : ".\(name.pathExtension)"
        var number = 1
        var path = base + suffix
        while ["", "-wal", "-shm"].contains(where: { files.exists(path + $0) }) {
            number += 1
            path = "\(base)-\(number)\(suffix)"
        }
        return path
    }
}
