internal import Dispatch
internal import Foundation
internal import RowStore

/// The files of one store. They are never opened here while SQLite has them open, because closing any descriptor of a file
/// releases the locks that the process has on it.
struct StoreFiles: Sendable {
    let main: String
    let folder: String
    let calls: FileCalls
    /// The permissions of files that are made.
    let mode: mode_t

    var lock: String { main + ".lock" }
    var log: String { main + "-wal" }
    var sharedMemory: String { main + "-shm" }
    var journal: String { main + "-journal" }
    /// A store that is being restored, until it gets the name of the main file.
    var restoring: String { main + ".restoring" }

    /// Follows symbolic links, including one with the store's own name: SQLite refuses them anywhere in the path, and the log,
    /// the lock and the backups belong beside the file itself.
    ///
    /// - Parameter mode: The permissions of files that are made.
    /// - Throws: `notAFile` if the folder is missing or the path is not a file; `permissionDenied`.
    init(_ url: URL, _ calls: FileCalls, mode: Int = 0o600) throws(DataSourceError) {
        guard url.isFileURL, !url.path.utf8.contains(0), StoreFiles.isName(url.lastPathComponent) else {
            throw DataSourceError(.notAFile, "A store needs a file URL that names a file.")
        }
        self.calls = calls
        // Without these two permissions it could not be opened again.
        self.mode = mode_t(mode & 0o777 | 0o600)
        var folder = url.deletingLastPathComponent().path
        var name = url.lastPathComponent
        // As often as Linux follows links.
        for _ in 0..<40 {
            let (resolved, error) = calls.resolve(folder)
            guard error == 0 else { throw DataSourceError(systemError: error, path: url.path, while: "opening") }
            let path = resolved == "/" ? "/" + name : resolved + "/" + name
            guard let target = try StoreFiles.target(of: path, calls) else {
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

    /// The target of a symbolic link; nil if the file is not one.
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

    /// Whether the main file is there.
    ///
    /// - Throws: `notAFile` if something else has its name: a folder, a device, a symbolic link.
    func mainExists() throws(DataSourceError) -> Bool {
        guard let state = try state(main) else { return false }
        guard state.st_mode & S_IFMT == S_IFREG else {
            throw DataSourceError(notAPlainFile: main, state)
        }
        return true
    }

    /// Whether there is a write-ahead log that is not empty.
    func hasLog() throws(DataSourceError) -> Bool {
        try state(log).map { $0.st_size > 0 } ?? false
    }

    /// The system's information about a file; nil if there is none.
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

    /// Sets the permissions of new files on an existing empty file, and on the files beside it.
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

    /// Gives a file another name, without replacing any other file.
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
            // A file system without second names.
            guard try state(other) == nil else { throw DataSourceError(fileExists: other) }
            try move(path, to: other)
        default: try check(error, path, "moving")
        }
    }

    /// Returns once the contents of a file, which no process has open, are on the disk.
    func sync(_ path: String) throws(DataSourceError) {
        try check(calls.sync(path), path, "syncing")
    }

    /// Returns once the names of the files are on the disk.
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

/// The space of a file that is being removed, which another thread gives back: for a large file that takes tens of milliseconds.
///
/// The name is gone at once. The space is free when the last descriptor is closed, or the process ends.
struct RemovedFile {
    private let descriptor: Int32

    /// The least free space with which the caller does not wait for more, in bytes.
    private static let enough: UInt64 = 256 << 20

    /// - Parameter path: The file, which still has its name.
    init(_ path: String) {
        var disk = statvfs()
        // What is made next may need the space.
        let hasEnough =
            statvfs(path, &disk) == 0 && UInt64(disk.f_bavail) * UInt64(disk.f_frsize) > RemovedFile.enough
        descriptor = hasEnough ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1
    }

    /// Call it once the name is gone.
    func giveBackSpace() {
        guard descriptor >= 0 else { return }
        DispatchQueue.global(qos: .utility).async { [descriptor] in close(descriptor) }
    }

    /// The name could not be removed. Closing a descriptor ends all locks of the process on its file, so it is done before anybody opens
    /// the file again. (https://www.sqlite.org/howtocorrupt.html, 2.2)
    func keep() {
        if descriptor >= 0 { close(descriptor) }
    }
}
