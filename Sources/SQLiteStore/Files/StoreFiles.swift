internal import Dispatch
internal import Foundation
internal import RowStore

/// The files of one store. This type never opens a file while SQLite has the file open: closing any descriptor of a file
/// releases all locks that the process has on the file.
struct StoreFiles: Sendable {
    let main: String
    let folder: String
    let calls: FileCalls
    /// The permissions of new files.
    let mode: mode_t

    var lock: String { main + ".lock" }
    var log: String { main + "-wal" }
    var sharedMemory: String { main + "-shm" }
    var journal: String { main + "-journal" }
    /// The path of a restored store before it replaces the main file.
    var restoring: String { main + ".restoring" }

    /// Resolves all symbolic links in the path, even if the last name in the path is a link. SQLite refuses symbolic links, and
    /// the log, the lock file and the backups belong beside the real file.
    ///
    /// - Parameter mode: The permissions of new files. Read and write permission for the owner is added.
    /// - Throws: `notAFile` if the folder is missing or the path does not lead to a file; `permissionDenied`.
    init(_ url: URL, _ calls: FileCalls, mode: Int = 0o600) throws(DataSourceError) {
        guard url.isFileURL, !url.path.utf8.contains(0), StoreFiles.isName(url.lastPathComponent) else {
            throw DataSourceError(.notAFile, "A store needs a file URL that names a file.")
        }
        self.calls = calls
        // Without permission to read and write, the owner could not open the store again.
        self.mode = mode_t(mode & 0o777 | 0o600)
        var folder = url.deletingLastPathComponent().path
        var name = url.lastPathComponent
        // Stop after 40 links, like Linux.
        for _ in 0..<40 {
            let (resolved, error) = calls.resolve(folder)
            guard error == 0 else { throw DataSourceError(systemError: error, path: url.path, while: "opening") }
            let path = resolved == "/" ? "/" + name : resolved + "/" + name
            guard let target = try StoreFiles.target(of: path, calls) else {
                guard path.utf8.count <= Connection.longestPath else { throw DataSourceError(longPath: path) }
                self.folder = resolved
                main = path
                return
            }
            folder = StoreFiles.folder(of: target, in: resolved)
            name = (target as NSString).lastPathComponent
            guard StoreFiles.isName(name) else { break }
        }
        throw DataSourceError(
            .notAFile, "\(url.path) is a symbolic link that leads to no file. Choose another path.")
    }

    private static func isName(_ name: String) -> Bool { !["", "/", ".", ".."].contains(name) }

    private static func folder(of target: String, in folder: String) -> String {
        let outer = (target as NSString).deletingLastPathComponent
        return target.utf8.first == UInt8(ascii: "/") ? outer : folder + "/" + outer
    }

    /// Returns the target of a symbolic link; nil if the path is not a symbolic link.
    private static func target(of path: String, _ calls: FileCalls) throws(DataSourceError) -> String? {
        var state = stat()
        let statusError = calls.status(at: path, &state)
        guard statusError == 0 || statusError == ENOENT else {
            throw DataSourceError(systemError: statusError, path: path, while: "opening")
        }
        guard statusError == 0, state.st_mode & S_IFMT == S_IFLNK else { return nil }
        let (target, error) = calls.readLink(path)
        guard error == 0 else { throw DataSourceError(systemError: error, path: path, while: "opening") }
        return target
    }

    /// Returns whether the main file exists.
    ///
    /// - Throws: `notAFile` if the path leads to a folder, a device or a symbolic link.
    func mainExists() throws(DataSourceError) -> Bool {
        guard let state = try state(main) else { return false }
        guard state.st_mode & S_IFMT == S_IFREG else {
            throw DataSourceError(notAPlainFile: main, state)
        }
        return true
    }

    /// Returns whether the store has a write-ahead log that is not empty.
    func hasLog() throws(DataSourceError) -> Bool {
        try state(log).map { $0.st_size > 0 } ?? false
    }

    /// Returns the system's information about a file; nil if the file does not exist.
    func state(_ path: String) throws(DataSourceError) -> stat? {
        var state = stat()
        let error = calls.status(at: path, &state)
        if error == ENOENT { return nil }
        try check(error, path, "opening")
        return state
    }

    func makeMain() throws(DataSourceError) {
        try make(main)
        try syncFolder()
    }

    func make(_ path: String) throws(DataSourceError) {
        try check(calls.create(path, mode: mode), path, "creating")
    }

    /// Gives the permissions of new files to a main file that exists but is empty, and to the files beside it.
    func applyPermissions() throws(DataSourceError) {
        for path in [main, log, sharedMemory] {
            guard let state = try state(path), state.st_mode & 0o777 != mode else { continue }
            guard state.st_mode & S_IFMT == S_IFREG else {
                throw DataSourceError(notAPlainFile: path, state)
            }
            try check(calls.setMode(path, mode), path, "opening")
        }
    }

    /// Removes a file. Does nothing if the file does not exist.
    func remove(_ path: String) throws(DataSourceError) {
        let error = calls.remove(path)
        if error != ENOENT { try check(error, path, "removing") }
    }

    func move(_ path: String, to other: String) throws(DataSourceError) {
        try check(calls.move(path, to: other), path, "moving")
    }

    /// Renames a file. Never replaces an existing file.
    ///
    /// - Throws: `fileExists` if the new name is taken.
    func moveToFreeName(_ path: String, to other: String) throws(DataSourceError) {
        let error = calls.link(path, to: other)
        switch error {
        case 0:
            do throws(DataSourceError) { try remove(path) } catch {
                try? remove(other)
                throw error
            }
        case EEXIST: throw DataSourceError(fileExists: other)
        case EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK:
            // The file system does not support hard links.
            guard try state(other) == nil else { throw DataSourceError(fileExists: other) }
            try move(path, to: other)
        default: try check(error, path, "moving")
        }
    }

    /// Waits until the contents of a file are on the disk. No process may have the file open.
    func sync(_ path: String) throws(DataSourceError) {
        try check(calls.sync(path), path, "syncing")
    }

    /// Waits until the names of the store's files are on the disk.
    func syncFolder() throws(DataSourceError) {
        try sync(folder)
    }

    /// Returns the names of all files in the folder.
    func names() throws(DataSourceError) -> [String] {
        let (names, error) = calls.list(folder)
        try check(error, folder, "reading")
        return names
    }

    private func check(_ error: Int32, _ path: String, _ action: String) throws(DataSourceError) {
        guard error == 0 else { throw DataSourceError(systemError: error, path: path, while: action) }
    }
}

/// Frees the space of a removed file on another thread, because the system may need tens of milliseconds for a large file.
///
/// The file's name disappears at once. The space is freed when the last descriptor of the file is closed, or when the process
/// ends.
struct RemovedFile {
    private let descriptor: Int32

    /// If the disk has more free space than this (in bytes), the caller does not wait for the removed file's space.
    private static let ampleFreeSpace: UInt64 = 256 << 20

    /// Opens the file before its removal, unless the disk has little free space.
    ///
    /// - Parameter path: The path of the file, which still exists.
    init(_ path: String) {
        var disk = statvfs()
        // If there is little free space, the files that are made next may need the space of the removed file.
        let hasAmpleSpace =
            statvfs(path, &disk) == 0 && UInt64(disk.f_bavail) * UInt64(disk.f_frsize) > RemovedFile.ampleFreeSpace
        descriptor = hasAmpleSpace ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1
    }

    /// Frees the space. Call this method after the file's name was removed.
    func giveBackSpace() {
        guard descriptor >= 0 else { return }
        DispatchQueue.global(qos: .utility).async { [descriptor] in close(descriptor) }
    }

    /// Keeps the file. Call this method if the file's name could not be removed. Do not open the file again before the call:
    /// closing a descriptor ends all locks of the process on the file. (https://www.sqlite.org/howtocorrupt.html, 2.2)
    func keep() {
        if descriptor >= 0 { close(descriptor) }
    }
}
