internal import CSQLite
internal import Foundation

/// What a call fails with: an error number of the system's, or a result code of SQLite's.
package struct Fault: Sendable, CustomStringConvertible {
    package let name: String
    package let number: Int32
    package let code: Int32

    package var description: String { name }

    package static let all = [
        Fault(name: "EACCES", number: EACCES, code: SQLITE_CANTOPEN),
        Fault(name: "EBUSY", number: EBUSY, code: SQLITE_BUSY),
        .io,
        Fault(name: "EMFILE", number: EMFILE, code: SQLITE_CANTOPEN),
        .full,
        Fault(name: "CORRUPT", number: EIO, code: SQLITE_CORRUPT),
        Fault(name: "NOTADB", number: EIO, code: SQLITE_NOTADB),
    ]

    /// The result code of one of SQLite's calls. Only a lock can be busy; of anything else SQLite would not expect it.
    package func code(of call: String) -> Int32 {
        code == SQLITE_BUSY && !call.lowercased().contains("lock") ? SQLITE_IOERR : code
    }

    package static let full = Fault(name: "ENOSPC", number: ENOSPC, code: SQLITE_FULL)
    package static let io = Fault(name: "EIO", number: EIO, code: SQLITE_IOERR)
}
