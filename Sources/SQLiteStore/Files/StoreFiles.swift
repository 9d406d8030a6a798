internal import Dispatch
internal import Foundation
internal import RowStore

/// The files of one store. This type never opens them while SQLite has them open, because closing any descriptor of a file
/// releases all locks of the process on the file.
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
    /// The path of a restored store until it replaces the main file.
    var restoring: String { main + ".restoring" }

    /// Follows symbolic links in the path, even if the store's own name is a link. SQLite refuses symbolic links, and the log,
    /// the lock and the backups belong beside the real file.
    ///
    /// - Parameter mode: The permissions of new files. The owner's read and write permissions are added.
    /// - Throws: `notAFile` if the folder is missing or the path is not a file; `permissionDenied`.
    init(_ url: URL, _ calls: FileCalls, mode: Int = 0o600) throws(DataSourceError) {
        guard url.isFileURL, !url.path.utf8.contains(0), StoreFiles.isName(url.lastPathComponent) else {
            throw DataSourceError(.notAFile, "A store needs a file URL that names a file.")
        }
        self.calls = calls
        // Without these two permissions, the store could not be opened again.
        self.mode = mode_t(mode & 0o777 | 0o600)
        var folder = url.deletingLastPathComponent().path
        var name = url.lastPathComponent
        // Linux also follows at most 40 links.
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

    /// The target of a symbolic link; nil if the path is no symbolic link.
    private static func target(of path: String, _ calls: FileCalls) throws(DataSourceError) -> String? {
        var state = stat()
        let looking = calls.look(at: path, &state)
        guard looking == 0 || looking == ENOENT else {
            throw DataSourceError(systemError: looking, path: path, while: "opening")
        }
        guard looking == 0, state.st_mode & S_IFMT == S_IFLNK else { return nil }
        let (target, error) = calls.readLink(path)
        guard error == 0 else { throw DataSourceError(systemError: error, path: path, while: "opening") }
        return target
    }

    /// Whether the main file exists.
    ///
    /// - Throws: `notAFile` if something else has its name: a folder, a device, a symbolic link.
    func mainExists() throws(DataSourceError) -> Bool {
        guard let state = try state(main) else { return false }
        guard state.st_mode & S_IFMT == S_IFREG else {
            throw DataSourceError(notAPlainFile: main, state)
        }
        return true
    }

    /// Whether the store has a write-ahead log that is not empty.
    func hasLog() throws(DataSourceError) -> Bool {
        try state(log).map { $0.st_size > 0 } ?? false
    }

    /// The system's information about a file; nil if the file does not exist.
    func state(_ path: String) throws(DataSourceError) -> stat? {
        var state = stat()
        let error = calls.look(at: path, &state)
        if error == ENOENT { return nil }
        try check(error, path, "opening")
        return state
    }

    /// Makes an empty main file.
    func makeMain() throws(DataSourceError) {
        try make(main)
        try syncFolder()
    }

    /// Makes an empty file.
    func make(_ path: String) throws(DataSourceError) {
        try check(calls.create(path, mode: mode), path, "creating")
    }

    /// Sets the permissions of new files on an existing empty main file and on the files beside it.
    func adopt() throws(DataSourceError) {
        for path in [main, log, sharedMemory] {
            guard let state = try state(path), state.st_mode & 0o777 != mode else { continue }
            guard state.st_mode & S_IFMT == S_IFREG else {
                throw DataSourceError(notAPlainFile: path, state)
            }
            try check(calls.setMode(path, mode), path, "opening")
        }
    }

    /// Removes a file; does nothing if it does not exist.
    func remove(_ path: String) throws(DataSourceError) {
        let error = calls.remove(path)
        if error != ENOENT { try check(error, path, "removing") }
    }

    func move(_ path: String, to other: String) throws(DataSourceError) {
        try check(calls.move(path, to: other), path, "moving")
    }

    /// Gives a file another name, without replacing an existing file.
    ///
    /// - Throws: `fileExists` if the name is taken.
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
            // The file system has no hard links.
            guard try state(other) == nil else { throw DataSourceError(fileExists: other) }
            try move(path, to: other)
        default: try check(error, path, "moving")
        }
    }

    /// Syncs the contents of a file to the disk. No process may have the file open.
    func sync(_ path: String) throws(DataSourceError) {
        try check(calls.sync(path), path, "syncing")
    }

    /// Syncs the names of the store's files to the disk.
    func syncFolder() throws(DataSourceError) {
        try sync(folder)
    }

    /// The names of all files in the folder.
    func names() throws(DataSourceError) -> [String] {
        let (names, error) = calls.list(folder)
        try check(error, folder, "reading")
        return names
    }

    private func check(_ error: Int32, _ path: String, _ action: String) throws(DataSourceError) {
        guard error == 0 else { throw DataSourceError(systemError: error, path: path, while: action) }
    }
}

/// Frees the space of a removed file on another thread, because freeing a large file takes tens of milliseconds.
///
/// The file's name is gone at once. Its space is free when its last descriptor is closed, or the process ends.
struct RemovedFile {
    private let descriptor: Int32

    /// The free space in bytes above which the caller does not wait for more.
    private static let enough: UInt64 = 256 << 20

    /// - Parameter path: The path of the file, before it is removed.
    init(_ path: String) {
        var disk = statvfs()
        // The files that are made next may need the space.
        let hasEnough =
            statvfs(path, &disk) == 0 && UInt64(disk.f_bavail) * UInt64(disk.f_frsize) > RemovedFile.enough
        descriptor = hasEnough ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1
    }

    /// Call it after the file's name was removed.
    func giveBackSpace() {
        guard descriptor >= 0 else { return }
        DispatchQueue.global(qos: .utility).async { [descriptor] in close(descriptor) }
    }

    /// Call it if the file's name could not be removed, before the file is opened again. Closing a descriptor ends all locks of
    /// the process on the file. (https://www.sqlite.org/howtocorrupt.html, 2.2)
    func keep() {
        if descriptor >= 0 { close(descriptor) }
    }
}
