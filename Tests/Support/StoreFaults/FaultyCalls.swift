internal import CFaultyVFS
internal import CSQLite
internal import Foundation
internal import RowStore
package import SQLiteStore

/// Counts a store's file calls, its own and SQLite's, and lets some of them fail.
package final class FaultyCalls: Sendable {
    private struct State {
        var count = 0
        /// The number of the first call that removes or renames a file.
        var firstRemoval: Int?
    }

    private let state = Guarded(State())
    private let fault: Fault
    private let fails: @Sendable (Int) -> Bool
    private let failsCallNamed: @Sendable (String) -> Bool
    private let name = "faulty-\(UUID().uuidString)"

    /// - Parameters:
    ///   - fails: Whether the call with the number, counted from 1, fails. It is called on the thread of the call.
    ///   - failsCallNamed: Whether a call of SQLite fails, by its name.
    package init(
        _ fault: Fault = .io, fails: @escaping @Sendable (Int) -> Bool = { _ in false },
        failsCallNamed: @escaping @Sendable (String) -> Bool = { _ in false }
    ) throws {
        self.fault = fault
        self.fails = fails
        self.failsCallNamed = failsCallNamed
        let code = faulty_vfs_register(
            name,
            { context, call in
                guard let context, let call else { return SQLITE_OK }
                let calls = Unmanaged<FaultyCalls>.fromOpaque(context).takeUnretainedValue()
                let name = String(cString: call)
                return calls.next() || calls.failsCallNamed(name) ? calls.fault.code(of: name) : SQLITE_OK
            }, nil, Unmanaged.passUnretained(self).toOpaque())
        guard code == SQLITE_OK else { throw VFSNotRegistered() }
    }

    deinit {
        faulty_vfs_unregister(name)
    }

    package var count: Int { state.withLock { $0.count } }
    package var firstRemoval: Int? { state.withLock { $0.firstRemoval } }

    /// The calls. They keep this object alive.
    package var calls: FileCalls {
        FileCalls(sqliteVFS: name) { call, _ in
            if call == .remove || call == .move {
                self.state.withLock { $0.firstRemoval = $0.firstRemoval ?? $0.count + 1 }
            }
            return self.next() ? self.fault.number : 0
        }
    }

    private func next() -> Bool {
        // The lock is released first, because `fails` may wait for other calls.
        fails(
            state.withLock { state in
                state.count += 1
                return state.count
            })
    }
}

/// SQLite has refused the VFS of a test.
struct VFSNotRegistered: Error {}
