internal import CSQLite
internal import Dispatch
internal import Foundation
internal import RowStore

extension DataSourceError {
    /// Makes the error for an SQLite result code. The message contains the path of the file, but no values of rows.
    init(sqlite code: Int32, connection: OpaquePointer, path: String, while action: String) {
        let number = sqlite3_system_errno(connection)
        let text = String(cString: sqlite3_errmsg(connection))
        self.init(sqlite: code, systemError: number, text: text, path: path, while: action)
    }

    init(sqlite code: Int32, systemError number: Int32, text: String, path: String, while action: String) {
        let cause = "SQLite \(code): \(text)"
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            self.init(
                .storeBusy,
                "Another connection, in this or another process, keeps \(path) locked. Close that connection, or "
                    + "try again later.",
                cause: cause)
        case SQLITE_FULL:
            self.init(diskFullAt: path, cause: cause)
        case SQLITE_IOERR where isFull(number, path):
            self.init(diskFullAt: path, cause: cause)
        case SQLITE_CANTOPEN where path.utf8.count > Connection.longestPath:
            self.init(longPath: path)
        case SQLITE_CANTOPEN where number != 0:
            self.init(systemError: number, path: path, while: action)
        case SQLITE_READONLY where code == SQLITE_READONLY | (4 << 8):
            self.init(storeMoved: path)
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
            self.init(permissionDeniedAt: path, cause: cause)
        case SQLITE_CORRUPT:
            self.init(
                .storeCorrupt, "\(path) is damaged. Restore it from a copy, or delete it and start over.", cause: cause)
        case SQLITE_NOTADB:
            self.init(
                .notADatabase, "\(path) is not an SQLite database. Choose another path, or move that file away.",
                cause: cause)
        case SQLITE_TOOBIG:
            self.init(
                .valueTooLarge, "A row is larger than the store can hold. Keep large data in separate files.",
                cause: cause)
        default:
            self.init(failure: action, path, cause: cause)
        }
    }

    /// Makes the error for an error number of the operating system.
    init(systemError number: Int32, path: String, while action: String) {
        let cause = String(cString: strerror(number))
        switch number {
        case EACCES, EPERM, EROFS:
            self.init(permissionDeniedAt: path, cause: cause)
        case ENOSPC, EDQUOT:
            self.init(diskFullAt: path, cause: cause)
        case ENOENT where !isFolder((path as NSString).deletingLastPathComponent):
            self.init(
                .notAFile, "The folder of \(path) is missing. Create it before opening the store.", cause: cause)
        case ENOTDIR:
            self.init(.notAFile, "A part of \(path) is a file, not a folder. Choose another path.", cause: cause)
        case ELOOP where !isSymbolicLink(path):
            self.init(
                .notAFile,
                "A folder in \(path) is a symbolic link that leads in a circle. Choose another path, or correct the link.",
                cause: cause)
        case ELOOP,
            ENOENT where isSymbolicLink(path):
            self.init(
                .notAFile, "\(path) is a symbolic link that leads to no file. Choose another path.", cause: cause)
        case EISDIR, ENXIO:
            self.init(.notAFile, "\(path) is not a plain file. Choose another path.", cause: cause)
        case ENAMETOOLONG:
            self.init(
                .notAFile, "A name in \(path), or the whole path, is too long. Choose a shorter path.", cause: cause)
        default:
            self.init(failure: action, path, cause: cause)
        }
    }

    /// Makes the error for a path that is too long for SQLite. The paths of the files beside the store must fit, too.
    init(longPath path: String) {
        self.init(
            .notAFile,
            "The path of the store has \(path.utf8.count) bytes, but SQLite takes at most \(Connection.longestPath): \(path). Choose a shorter path."
        )
    }

    private init(failure action: String, _ path: String, cause: String) {
        self.init(
            .storeUnreadable,
            "\(action.capitalized) \(path) failed, for the reason in `cause`. Try again, or look up the cause.",
            cause: cause)
    }

    /// Makes the error for a path that leads to a folder, a device or another object that is not a plain file.
    init(notAPlainFile path: String, _ state: stat) {
        let kind =
            switch state.st_mode & S_IFMT {
            case S_IFDIR: "a folder"
            case S_IFLNK: "a symbolic link"
            case S_IFIFO: "a named pipe"
            case S_IFSOCK: "a socket"
            default: "a device"
            }
        self.init(.notAFile, "\(path) is not a plain file. Choose another path.", cause: "It is \(kind).")
    }

    /// Makes the error for an open store when one of its files is no longer at its path.
    init(storeMoved path: String) {
        self.init(
            .storeMoved,
            "\(path) was moved, replaced or deleted while the store was open. Put the file back and save again, or close the "
                + "container and open the store again.")
    }

    /// Makes the error for a new file whose name is already taken.
    init(fileExists path: String) {
        self.init(.fileExists, "The file \(path) already exists. Choose another name, or move that file away.")
    }

    private init(diskFullAt path: String, cause: String) {
        // SQLite does not report which file was too large for the disk, and has already removed its temporary files.
        if !isFull(folder: (path as NSString).deletingLastPathComponent) {
            self.init(
                .diskFull,
                "The disk of \(path), or that of \(temporaryFolder) for SQLite's temporary files, is full. Free some "
                    + "space, or set SQLITE_TMPDIR to another folder, and save again.", cause: cause)
            return
        }
        self.init(.diskFull, "The disk of \(path) is full. Free some space and save again.", cause: cause)
    }

    private init(permissionDeniedAt path: String, cause: String) {
        var state = statvfs()
        if statvfs((path as NSString).deletingLastPathComponent, &state) == 0, state.f_flag & UInt(ST_RDONLY) != 0 {
            self.init(
                .permissionDenied,
                "The file system of \(path) can only be read. Choose another path, or open the store with "
                    + "isReadOnly.",
                cause: cause)
            return
        }
        self.init(
            .permissionDenied,
            "This user may not read or write \(path). Grant both permissions for the file and its folder.",
            cause: cause)
    }
}

/// Returns whether the disk is full. SQLite reports some full disks as an I/O error, for example if a shared memory file
/// cannot grow.
private func isFull(_ number: Int32, _ path: String) -> Bool {
    if number == ENOSPC || number == EDQUOT { return true }
    return isFull(folder: (path as NSString).deletingLastPathComponent)
}

private func isFull(folder: String) -> Bool {
    var state = statvfs()
    guard statvfs(folder, &state) == 0 else { return false }
    return UInt64(state.f_bavail) * UInt64(state.f_frsize) < 128 * 1024
}

private func isFolder(_ path: String) -> Bool {
    var state = stat()
    return stat(path, &state) == 0 && state.st_mode & S_IFMT == S_IFDIR
}

private func isSymbolicLink(_ path: String) -> Bool {
    var state = stat()
    return lstat(path, &state) == 0 && state.st_mode & S_IFMT == S_IFLNK
}

/// The folder for SQLite's temporary files.
private var temporaryFolder: String {
    let environment = ProcessInfo.processInfo.environment
    // In the order in which SQLite tries the folders.
    let candidates = [environment["SQLITE_TMPDIR"], environment["TMPDIR"], "/var/tmp", "/usr/tmp", "/tmp"]
    return candidates.compactMap(\.self).first { folder in
        var state = stat()
        return stat(folder, &state) == 0 && state.st_mode & S_IFMT == S_IFDIR && access(folder, W_OK | X_OK) == 0
    } ?? "."
}

/// Passes errors to the app's handler, if no call can throw them.
///
/// The handler runs on a separate queue, because the code that reports an error may have locked something.
final class FailureReports: Sendable {
    typealias Handler = @Sendable (DataSourceError) -> Void

    private struct State {
        var handler: Handler?
        /// Errors that were reported before there was a handler.
        var kept: [DataSourceError] = []
        /// The names of the one-time reports that were made.
        var reported: Set<String> = []
    }

    /// The maximum number of errors that are kept until there is a handler.
    private static let keptLimit = 16
    /// The maximum number of names of one-time reports. No model has so many attributes.
    private static let reportedLimit = 10_000

    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "CoreDataSource.failures", qos: .utility)

    func report(to handler: @escaping Handler) {
        let kept = state.withLock { state in
            state.handler = handler
            defer { state.kept = [] }
            return state.kept
        }
        for error in kept { queue.async { handler(error) } }
    }

    /// - Parameter once: A name for a one-time report, so that further reports with this name are ignored; nil to report each
    ///   time.
    func report(_ error: DataSourceError, once: String? = nil) {
        let handler = state.withLock { state -> Handler? in
            if let once {
                guard state.reported.count < FailureReports.reportedLimit, state.reported.insert(once).inserted
                else { return nil }
            }
            if state.handler == nil, state.kept.count < FailureReports.keptLimit { state.kept.append(error) }
            return state.handler
        }
        if let handler { queue.async { handler(error) } }
    }
}
