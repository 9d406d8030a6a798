internal import CFaultyVFS
internal import CSQLite
package import Foundation
internal import RowStore
package import SQLiteStore

/// Records every change that SQLite makes to a store's files. The record shows what a disk may have after a power cut at any
/// moment.
package final class WriteLog: Sendable {
    package enum Event: Sendable {
        case write(file: String, Data, offset: Int)
        case truncate(file: String, size: Int)
        /// The disk has all bytes that were written to the file before.
        case sync(file: String)
        /// The sync failed, and the disk loses all bytes that were written to the file since the last successful sync.
        case failedSync(file: String)
        case delete(file: String)
        /// The store has acknowledged this number of saves.
        case acknowledged(Int)
    }

    private struct State {
        var events: [Event] = []
        var syncs = 0
        let failsSync: @Sendable (Int) -> Bool
    }

    private let state: Guarded<State>
    private let name = "log-\(UUID().uuidString)"

    /// - Parameter failsSync: Whether the sync with the number, counted from 1, fails.
    package init(failsSync: @escaping @Sendable (Int) -> Bool = { _ in false }) throws {
        state = Guarded(State(failsSync: failsSync))
        let code = faulty_vfs_register(
            name,
            { context, call in
                guard let context, let call else { return SQLITE_OK }
                let log = Unmanaged<WriteLog>.fromOpaque(context).takeUnretainedValue()
                return String(cString: call) == "sync" && log.shouldFailSync() ? SQLITE_IOERR | (4 << 8) : SQLITE_OK
            },
            { context, call, path, bytes, count, offset in
                guard let context, let call, let path else { return }
                let log = Unmanaged<WriteLog>.fromOpaque(context).takeUnretainedValue()
                let file = URL(fileURLWithPath: String(cString: path)).lastPathComponent
                let written = bytes.map { Data(bytes: $0, count: Int(count)) } ?? Data()
                log.note(String(cString: call), file, written, Int(offset))
            }, Unmanaged.passUnretained(self).toOpaque())
        guard code == SQLITE_OK else { throw VFSNotRegistered() }
    }

    deinit {
        faulty_vfs_unregister(name)
    }

    /// The calls. They keep the log alive.
    package var calls: FileCalls {
        FileCalls(sqliteVFS: name) { _, _ in withExtendedLifetime(self) { 0 } }
    }

    package var events: [Event] { state.withLock { $0.events } }
    package var syncCount: Int { state.withLock { $0.syncs } }

    package func acknowledge(_ saves: Int) {
        state.withLock { $0.events.append(.acknowledged(saves)) }
    }

    private func shouldFailSync() -> Bool {
        state.withLock { state in
            state.syncs += 1
            return state.failsSync(state.syncs)
        }
    }

    private func note(_ call: String, _ file: String, _ bytes: Data, _ offset: Int) {
        // Shared memory is lost with the power.
        if file.hasSuffix("-shm") { return }
        state.withLock { state in
            switch call {
            case "write": state.events.append(.write(file: file, bytes, offset: offset))
            case "truncate": state.events.append(.truncate(file: file, size: offset))
            case "sync": state.events.append(.sync(file: file))
            case "failedSync": state.events.append(.failedSync(file: file))
            case "delete": state.events.append(.delete(file: file))
            default: break
            }
        }
    }
}
