internal import Foundation

/// The system calls that a store makes for its files, in addition to SQLite's own calls. Each call returns 0 or an error
/// number. Tests use ``fault`` to make calls fail.
package struct FileCalls: Sendable {
    package enum Call: String, Sendable, CaseIterable {
        case resolve, readLink, status, lock, create, setMode, remove, move, link, sync, list, watch
    }

    /// Runs before each call. If the closure returns a number other than 0, the call is skipped and returns that number as its
    /// error.
    package var fault: @Sendable (Call, _ path: String) -> Int32
    /// The name of the SQLite VFS; nil for the default VFS.
    package var sqliteVFS: String?

    package init(sqliteVFS: String? = nil, fault: @escaping @Sendable (Call, _ path: String) -> Int32 = { _, _ in 0 }) {
        self.sqliteVFS = sqliteVFS
        self.fault = fault
    }

    /// The system calls, without faults.
    package static let system = FileCalls()

    /// Returns the path with all symbolic links resolved.
    func resolve(_ path: String) -> (path: String, error: Int32) {
        let error = fault(.resolve, path)
        guard error == 0 else { return (path, error) }
        guard let resolved = realpath(path, nil) else { return (path, errno) }
        defer { free(resolved) }
        return (String(cString: resolved), 0)
    }

    func status(at path: String, _ state: inout stat) -> Int32 {
        run(.status, path) { lstat(path, &state) }
    }

    /// Returns the target of a symbolic link.
    func readLink(_ path: String) -> (target: String, error: Int32) {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let error = run(.readLink, path) { Int32(readlink(path, &bytes, bytes.count - 1)) }
        return (String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self), error)
    }

    /// Opens or makes a file that only serves as a lock, and locks the file.
    ///
    /// - Parameters:
    ///   - mode: The permissions of a new file.
    ///   - isShared: True for a shared lock, false for an exclusive lock.
    func lock(_ path: String, mode: mode_t, isShared: Bool = false) -> (descriptor: Int32, error: Int32) {
        var (descriptor, error) = openOrMake(path, mode: mode)
        guard error == 0 else { return (-1, error) }
        error = run(.lock, path) { flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) }
        if error != 0 {
            close(descriptor)
            descriptor = -1
        }
        return (descriptor, error)
    }

    /// Opens a file beside a store. Makes the file if it is missing.
    func openOrMake(_ path: String, mode: mode_t) -> (descriptor: Int32, error: Int32) {
        var descriptor: Int32 = -1
        let error = run(.lock, path) {
            descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            if descriptor >= 0 { fchmod(descriptor, mode) }
            if descriptor < 0, errno == EEXIST {
                descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode)
            }
            return descriptor
        }
        return (error == 0 ? descriptor : -1, error)
    }

    /// Opens an existing file and takes a shared lock on the file.
    func lockForReading(_ path: String) -> (descriptor: Int32, error: Int32) {
        var descriptor: Int32 = -1
        var error = run(.lock, path) {
            descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            return descriptor
        }
        guard error == 0 else { return (-1, error) }
        error = run(.lock, path) { flock(descriptor, LOCK_SH | LOCK_NB) }
        if error != 0 { close(descriptor) }
        return (error == 0 ? descriptor : -1, error)
    }

    /// Makes an empty file with exactly these permissions, whatever the umask of the process.
    func create(_ path: String, mode: mode_t) -> Int32 {
        run(.create, path) {
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            guard descriptor >= 0 else { return descriptor }
            let result = fchmod(descriptor, mode)
            let error = errno
            close(descriptor)
            errno = error
            return result
        }
    }

    func setMode(_ path: String, _ mode: mode_t) -> Int32 {
        run(.setMode, path) { chmod(path, mode) }
    }

    func remove(_ path: String) -> Int32 {
        run(.remove, path) { unlink(path) }
    }

    func move(_ path: String, to other: String) -> Int32 {
        run(.move, path) { rename(path, other) }
    }

    /// Gives a file a second name. Fails if the name is taken.
    func link(_ path: String, to other: String) -> Int32 {
        run(.link, path) { Foundation.link(path, other) }
    }

    /// Waits until a file's contents, or a folder's names, are on the disk.
    func sync(_ path: String) -> Int32 {
        run(.sync, path) {
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { return descriptor }
            let result = fsync(descriptor)
            let error = errno
            close(descriptor)
            errno = error
            return result
        }
    }

    /// Returns the names of the files in a folder.
    func list(_ path: String) -> (names: [String], error: Int32) {
        let error = fault(.list, path)
        guard error == 0 else { return ([], error) }
        guard let folder = opendir(path) else { return ([], errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: $0.pointee)) {
                        String(cString: $0)
                    }
                })
        }
        return (names, 0)
    }

    private func run(_ call: Call, _ path: String, _ body: () -> Int32) -> Int32 {
        let error = fault(call, path)
        guard error == 0 else { return error }
        return body() < 0 ? errno : 0
    }
}
