internal import CSQLite
internal import Foundation

/// The failure of a call: an error number of the system, or a result code of SQLite.
package struct Fault: Sendable, CustomStringConvertible {
    package let name: String
    package let number: Int32
    package let code: Int32

    package var description: String { name }

    package static let all = [
        Fault(name: "EACCES", number: EACCES, code: SQLITE_CANTOPEN),
        .busy,
        .io,
        Fault(name: "EMFILE", number: EMFILE, code: SQLITE_CANTOPEN),
        .full,
        Fault(name: "CORRUPT", number: EIO, code: SQLITE_CORRUPT),
        Fault(name: "NOTADB", number: EIO, code: SQLITE_NOTADB),
    ]

    /// The result code of a failed call, as SQLite's VFS returns it: only a lock is busy, only a write finds the disk full, and
    /// an I/O error has the code of its call.
    package func code(of call: String) -> Int32 {
        let isSync = call == "sync"
        if code == SQLITE_BUSY && !call.lowercased().contains("lock") || code == SQLITE_FULL && isSync {
            return Fault.io.code(of: call)
        }
        guard code == SQLITE_IOERR else { return code }
        let details: [String: Int32] = ["read": 1, "write": 3, "sync": 4, "truncate": 6]
        return SQLITE_IOERR | (details[call] ?? 0) << 8
    }

    package static let busy = Fault(name: "EBUSY", number: EBUSY, code: SQLITE_BUSY)
    package static let full = Fault(name: "ENOSPC", number: ENOSPC, code: SQLITE_FULL)
    package static let io = Fault(name: "EIO", number: EIO, code: SQLITE_IOERR)
}
