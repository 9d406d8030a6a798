import CFaultyVFS
import CSQLite
import Foundation
import RowStore
import SQLiteStore
import Testing

/// What a call fails with: an error number of the system's, or a result code of SQLite's.
struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let number: Int32
    let code: Int32

    var testDescription: String { name }

    static let all = [
        Fault(name: "EACCES", number: EACCES, code: SQLITE_CANTOPEN),
        Fault(name: "EBUSY", number: EBUSY, code: SQLITE_BUSY),
        .io,
        Fault(name: "EMFILE", number: EMFILE, code: SQLITE_CANTOPEN),
        .full,
        Fault(name: "CORRUPT", number: EIO, code: SQLITE_CORRUPT),
        Fault(name: "NOTADB", number: EIO, code: SQLITE_NOTADB),
    ]

    /// The result code of one of SQLite's calls, as its own way to the files gives it: only a lock is busy, only a write
    /// says that the disk is full, and an error says what failed.
    func code(of call: String) -> Int32 {
        let isSync = call == "sync"
        if code == SQLITE_BUSY && !call.lowercased().contains("lock") || code == SQLITE_FULL && isSync {
            return Fault.io.code(of: call)
        }
        guard code == SQLITE_IOERR else { return code }
        let details: [String: Int32] = ["read": 1, "write": 3, "sync": 4, "truncate": 6]
        return SQLITE_IOERR | (details[call] ?? 0) << 8
    }

    static let full = Fault(name: "ENOSPC", number: ENOSPC, code: SQLITE_FULL)
    static let io = Fault(name: "EIO", number: EIO, code: SQLITE_IOERR)
}

/// Counts the calls that a store makes for its files, its own and SQLite's, and makes some of them fail.
final class FaultyCalls: Sendable {
    private struct State {
        var count = 0
        /// The number of the first call that changes a name.
        var firstRemoval: Int?
        let fails: @Sendable (Int) -> Bool
    }

    private let state: Guarded<State>
    private let fault: Fault
    private let name = "faulty-\(UUID().uuidString)"

    /// - Parameter fails: Whether the call of that number, counted from 1, is to fail.
    init(_ fault: Fault = .io, fails: @escaping @Sendable (Int) -> Bool = { _ in false }) throws {
        self.fault = fault
        state = Guarded(State(fails: fails))
        let code = faulty_vfs_register(
            name,
            { context, call in
                guard let context, let call else { return SQLITE_OK }
                let calls = Unmanaged<FaultyCalls>.fromOpaque(context).takeUnretainedValue()
                return calls.next() ? calls.fault.code(of: String(cString: call)) : SQLITE_OK
            }, nil, Unmanaged.passUnretained(self).toOpaque())
        try #require(code == SQLITE_OK)
    }

    deinit {
        faulty_vfs_unregister(name)
    }

    /// How many calls there have been.
    var count: Int { state.withLock { $0.count } }
    var firstRemoval: Int? { state.withLock { $0.firstRemoval } }

    /// It lives as long as these do.
    var calls: FileCalls {
        FileCalls(sqliteVFS: name) { call, _ in
            if call == .remove || call == .move {
                self.state.withLock { $0.firstRemoval = $0.firstRemoval ?? $0.count + 1 }
            }
            return self.next() ? self.fault.number : 0
        }
    }

    private func next() -> Bool {
        state.withLock { state in
            state.count += 1
            return state.fails(state.count)
        }
    }
}
