import Foundation
import Synchronization

/// A PostgreSQL server in a temporary folder. It ends with this process, even if the process is killed.
///
/// It accepts connections at a port of 127.0.0.1 and at a socket in its folder. Only roles in the group `with_password` need a
/// password. The encoding is UTF8.
package final class PostgreSQLServer: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// Whether a server is installed. If not, tests that need one are skipped.
    package static let isInstalled = PostgreSQLPrograms.installed != nil
    package static let comment = "PostgreSQL is not installed; Scripts/prepare --postgresql installs it."

    /// The role that makes and owns the databases.
    package static let user = "tests"

    private static let common = Result { try PostgreSQLServer() }

    /// The server for all tests of this process. No test stops it.
    package static var shared: PostgreSQLServer { get throws { try common.get() } }

    package let port: Int
    private let supervisor: ServerSupervisor
    /// The first process, whose children are the others; nil while the server does not run.
    private let process = Mutex<Int32?>(nil)
    private let databases = Atomic(0)

    /// Makes and starts a server.
    ///
    /// - Parameters:
    ///   - isDurable: Whether commits also survive a power cut.
    ///   - settings: Settings as in `postgresql.conf`.
    package convenience init(isDurable: Bool = false, settings: [String: String] = [:]) throws {
        try self.init(isDurable: isDurable, settings: settings, standbyOf: nil)
        try session().run("CREATE ROLE with_password")
    }

    /// Makes and starts a standby, which follows the primary until ``promote()``.
    package convenience init(standbyOf primary: PostgreSQLServer) throws {
        try self.init(isDurable: false, settings: [:], standbyOf: primary.port)
    }

    private init(isDurable: Bool, settings: [String: String], standbyOf primaryPort: Int?) throws {
        guard let programs = PostgreSQLPrograms.installed else { throw Failure(PostgreSQLServer.comment) }
        var all = [
            "listen_addresses": "127.0.0.1", "fsync": isDurable ? "on" : "off", "max_connections": "200",
            "full_page_writes": isDurable ? "on" : "off", "shared_buffers": "32MB", "jit": "off",
            // In the folder of the server. A killed server leaves shared memory of the other kinds behind.
            "dynamic_shared_memory_type": "mmap",
        ]
        all.merge(settings) { $1 }
        port = try PostgreSQLServer.freePort()
        let arguments = all.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
        supervisor = try ServerSupervisor(programs, ["-p", "\(port)"] + arguments, standbyOf: primaryPort)
        try start()
    }

    /// A free port below the range of ephemeral ports, so that no connection takes the port while the server is stopped.
    private static func freePort() throws -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: 15_000..<32_000)
            if (try? Socket(listeningAt: port)) != nil { return port }
        }
        throw Failure("No port of 127.0.0.1 is free.")
    }

    /// The folder of the server's socket: `host` in a connection string.
    package var socketFolder: String { supervisor.folder }

    /// The connection string for libpq.
    ///
    /// - Parameter port: The port of a ``TCPProxy``; nil for the server's port.
    package func connectionString(
        database: String, user: String = PostgreSQLServer.user, password: String? = nil, port: Int? = nil
    ) -> String {
        "postgresql://\(user)\(password.map { ":\($0)" } ?? "")@127.0.0.1:\(port ?? self.port)/\(database)"
            + "?sslmode=disable&gssencmode=disable"
    }

    /// Makes an empty database.
    ///
    /// - Returns: The name of the database.
    package func makeDatabase(encoding: String = "UTF8") throws -> String {
        let name = "test\(databases.wrappingAdd(1, ordering: .relaxed).newValue)"
        let locale = "LC_COLLATE 'C' LC_CTYPE 'C'"
        try session().run("CREATE DATABASE \(name) TEMPLATE template0 ENCODING '\(encoding)' \(locale)")
        return name
    }

    /// Drops a database, and ends the sessions that use it.
    package func dropDatabase(_ name: String) throws {
        try session().run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    package func session(database: String = "postgres") throws -> PostgreSQLSession {
        try PostgreSQLSession(port: port, database: database)
    }

    /// Starts the server again after ``kill()`` or ``stop()``, and waits until it accepts connections.
    package func start() throws {
        try process.withLock { process in
            guard process == nil else { return }
            let length = supervisor.log.utf8.count
            process = supervisor.start()
            while (try? session()) == nil {
                let log = String(decoding: supervisor.log.utf8.dropFirst(length), as: UTF8.self)
                if process == nil || log.contains("database system is shut down") {
                    supervisor.end("KILL")
                    process = nil
                    throw Failure("The server does not start: \(log)")
                }
                usleep(10_000)
            }
        }
    }

    /// Kills the server, and waits until all its processes are gone.
    package func kill() {
        process.withLock { process in
            guard let running = process else { return }
            ServerProcesses(of: running).send(SIGKILL)
            supervisor.end("KILL")
            process = nil
        }
    }

    /// Stops the server: connections are closed, and open transactions are rolled back.
    package func stop() {
        process.withLock { process in
            guard process != nil else { return }
            supervisor.end("INT")
            process = nil
        }
    }

    /// Waits until a standby has all commits of its primary so far, and ends the replication.
    package func stopFollowing(_ primary: PostgreSQLServer) throws {
        let end = try primary.session().run("SELECT pg_current_wal_insert_lsn()")[0][0] ?? ""
        let session = try session()
        try wait(session, "SELECT pg_last_wal_replay_lsn() >= '\(end)'::pg_lsn")
        try session.run("ALTER SYSTEM SET primary_conninfo = ''")
        try session.run("SELECT pg_reload_conf()")
        try wait(session, "SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
    }

    /// Makes a standby a primary server.
    package func promote() throws { try session().run("SELECT pg_promote(true, 600)") }

    private func wait(_ session: PostgreSQLSession, _ condition: String) throws {
        for _ in 0..<60_000 {
            if try session.run(condition)[0][0] == "t" { return }
            usleep(10_000)
        }
        throw Failure("The server has waited for ten minutes for: \(condition)")
    }

    /// Halts all processes of the server until ``resume()``, as if the machine had no time for them.
    package func pause() { process.withLock { if let process = $0 { ServerProcesses(of: process).send(SIGSTOP) } } }

    package func resume() { process.withLock { if let process = $0 { ServerProcesses(of: process).send(SIGCONT) } } }

    /// The log so far.
    package var log: String { supervisor.log }

    package var processID: Int32? { process.withLock { $0 } }

    /// The processor time of the server's present processes, in nanoseconds.
    package var processorNanoseconds: UInt64 {
        guard let processID else { return 0 }
        return ServerProcesses.children(of: processID).reduce(0) { sum, process in
            let line = try? String(contentsOfFile: "/proc/\(process)/schedstat", encoding: .utf8)
            return sum + (line?.split(separator: " ").first.flatMap { UInt64($0) } ?? 0)
        }
    }
}

/// The processes of a server. The first process is halted while its children are listed, so that it makes no more.
private struct ServerProcesses {
    private let all: [Int32]

    init(of first: Int32) {
        Foundation.kill(first, SIGSTOP)
        all = [first] + ServerProcesses.children(of: first)
    }

    static func children(of first: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { process in
            let line = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
            // The name in parentheses may have any characters. The state and the parent follow it.
            let words = line.split(separator: ")").last?.split(separator: " ") ?? []
            return words.count > 1 && Int32(words[1]) == first
        }
    }

    func send(_ signal: Int32) {
        for process in all { Foundation.kill(process, signal) }
    }
}
