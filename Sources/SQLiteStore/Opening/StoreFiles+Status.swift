internal import Foundation
internal import RowStore

/// Inspections of a store that containers may have open. An inspection blocks no process, and neither makes nor changes a file.
extension StoreFiles {
    private struct StateOfFiles: Equatable {
        let main: FileState
        let hasLog: Bool
        let hasSharedMemory: Bool
    }

    /// The maximum number of attempts, if the files change during each attempt.
    private static let lookLimit = 100

    /// Runs the body with a connection that reads a single state of the store.
    ///
    /// If there is no log, the connection assumes that the file never changes. If the file has changed after all, the body runs
    /// again.
    ///
    /// - Returns: The result of the body; nil if there is no store.
    /// - Throws: The error of the body; `storeBusy` if the files change during every attempt.
    func withSnapshot<R>(_ body: (Connection) throws(DataSourceError) -> R) throws(DataSourceError) -> R? {
        var failure = DataSourceError(
            .storeBusy, "\(main) is being opened and closed repeatedly. Try again later.")
        for _ in 0..<StoreFiles.lookLimit {
            guard let before = try state() else { return nil }
            let result = Result { () throws(DataSourceError) in try read(before, body) }
            let isSame = try state() == before
            switch result {
            case .success(let result): if isSame || before.hasLog { return result }
            case .failure(let error):
                if isSame { throw error }
                failure = error
            }
        }
        throw failure
    }

    private func state() throws(DataSourceError) -> StateOfFiles? {
        guard try mainExists(), let main = try state(main) else { return nil }
        return StateOfFiles(
            main: FileState(main), hasLog: try hasLog(), hasSharedMemory: try state(sharedMemory) != nil)
    }

    private func read<R>(
        _ files: StateOfFiles, _ body: (Connection) throws(DataSourceError) -> R
    ) throws(DataSourceError) -> R {
        let connection = try connection(for: files)
        defer {
            connection.rollBack()
            connection.close(copyingLog: false)
        }
        return try body(connection)
    }

    /// Returns a connection with an open read transaction.
    private func connection(for files: StateOfFiles) throws(DataSourceError) -> Connection {
        // If a process has the log open, there is also a shared memory file.
        let isLive = files.hasLog && files.hasSharedMemory
        let connection =
            isLive
            ? try Connection(path: main, isReader: true, files: .existingOnly, vfs: calls.sqliteVFS)
            : try connectWithoutChange()
        do {
            if isLive { try connection.configure() }
            try connection.run("BEGIN")
        } catch {
            connection.close(copyingLog: false)
            throw error
        }
        return connection
    }
}

extension StoreFiles {
    /// Returns the containers that have the store open.
    func occupants() throws(DataSourceError) -> StoreOccupants {
        let known = try withSnapshot { (connection) throws(DataSourceError) in
            try StoreProbe(connection).isShared ? try SharedTables.members(connection) : []
        }
        let alive = try MemberNotifier.alive(known ?? [], self)
        if !alive.isEmpty { return StoreOccupants(isOpen: true, members: alive) }
        if try MemberNotifier.isAnyAlive(self).0 { return StoreOccupants(isOpen: true, members: []) }
        return StoreOccupants(isOpen: try isLocked(), members: [])
    }

    /// Whether a container has an exclusive lock on the store.
    private func isLocked() throws(DataSourceError) -> Bool {
        // Without shared memory, no process has the store open, but a process may be opening it. Trying the lock could disturb
        // that process.
        guard try state(sharedMemory) != nil else { return false }
        let (descriptor, error) = calls.lockForReading(lock)
        guard error == 0 else { return error == EWOULDBLOCK }
        flock(descriptor, LOCK_UN)
        close(descriptor)
        return false
    }
}

/// The properties of a file that change when the file is written or replaced.
struct FileState: Equatable {
    private let identity: FileIdentity
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    init(_ state: stat) {
        #if canImport(Darwin)
        let time = state.st_mtimespec
        #else
        let time = state.st_mtim
        #endif
        identity = FileIdentity(state)
        size = Int64(state.st_size)
        seconds = Int(time.tv_sec)
        nanoseconds = Int(time.tv_nsec)
    }
}
