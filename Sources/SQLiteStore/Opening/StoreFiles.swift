internal import Foundation
internal import RowStore

/// The files of one store. They are never opened here while SQLite has them open: closing any descriptor of a file drops
/// the locks that the process has on it.
struct StoreFiles: Sendable {
    let main: String
    let folder: String
    let calls: FileCalls

    var lock: String { main + ".lock" }
    var log: String { main + "-wal" }
    var sharedMemory: String { main + "-shm" }
    var journal: String { main + "-journal" }

    /// - Throws: `notAFile` if the folder is missing or the file is something else than a file; `permissionDenied`.
    init(_ url: URL, _ calls: FileCalls) throws(DataSourceError) {
        let name = url.lastPathComponent
        guard url.isFileURL, !url.path.utf8.contains(0), !name.isEmpty, name != "/", name != "..", name != "." else {
            throw DataSourceError(.notAFile, "A store needs a file URL that names a file.")
        }
        // SQLite refuses symbolic links anywhere in the path; those of the folder are the system's business.
        let (folder, error) = calls.resolve(url.deletingLastPathComponent().path)
        guard error == 0 else { throw DataSourceError(systemError: error, path: url.path, while: "opening") }
        self.calls = calls
        self.folder = folder
        main = folder == "/" ? "/" + name : folder + "/" + name
    }

    /// Whether the main file is there.
    ///
    /// - Throws: `notAFile` if something else has its name: a folder, a device, a symbolic link.
    func mainExists() throws(DataSourceError) -> Bool {
        guard let state = try state(main) else { return false }
        guard state.st_mode & S_IFMT == S_IFREG else {
            throw DataSourceError(systemError: EISDIR, path: main, while: "opening")
        }
        return true
    }

    /// Whether there is a write-ahead log with anything in it.
    func hasLog() throws(DataSourceError) -> Bool {
        try state(log).map { $0.st_size > 0 } ?? false
    }

    /// What the system says of a file; nil if there is none.
    func state(_ path: String) throws(DataSourceError) -> stat? {
        var state = stat()
        let error = calls.look(at: path, &state)
        if error == ENOENT { return nil }
        try check(error, path, "opening")
        return state
    }

    /// Makes an empty main file that nobody else may read.
    func makeMain() throws(DataSourceError) {
        try make(main)
        try syncFolder()
    }

    /// Makes an empty file that nobody else may read.
    func make(_ path: String) throws(DataSourceError) {
        try check(calls.create(path), path, "creating")
    }

    /// Removes a file; one that is not there is removed.
    func remove(_ path: String) throws(DataSourceError) {
        let error = calls.remove(path)
        if error != ENOENT { try check(error, path, "removing") }
    }

    func move(_ path: String, to other: String) throws(DataSourceError) {
        try check(calls.move(path, to: other), path, "moving")
    }

    /// Returns once the disk has the contents of a file that nobody has open.
    func sync(_ path: String) throws(DataSourceError) {
        try check(calls.sync(path), path, "syncing")
    }

    /// Returns once the disk has the names of the files.
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
