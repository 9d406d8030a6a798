import Foundation
import Synchronization

/// A PostgreSQL server of its own in a temporary folder. It ends with this process, however that ends.
///
/// It takes connections at a port of 127.0.0.1 and at a socket in its folder, asks for no password (but of roles that belong to
/// `with_password`), and has the encoding UTF8.
package final class PostgreSQLServer: Sendable {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// Whether there is a server to run; tests that need one are skipped else.
    package static let isInstalled = PostgreSQLPrograms.installed != nil
    package static let comment = "PostgreSQL is not installed; Scripts/prepare --postgresql installs it."

    /// The role that makes databases and owns them.
    package static let user = "tests"

    private static let common = Result { try PostgreSQLServer() }

    /// One for all tests of this process, which none of them stops.
    package static var shared: PostgreSQLServer { get throws { try common.get() } }

    package let port: Int
    private let guardian: ServerGuardian
    /// The process that has the others as its children; nil while the server does not run.
    private let process = Mutex<Int32?>(nil)
    private let databases = Atomic(0)

    /// Makes and starts one.
    ///
    /// - Parameters:
    ///   - isDurable: Whether what is committed survives the loss of power too.
    ///   - settings: As in `postgresql.conf`.
    package convenience init(isDurable: Bool = false, settings: [String: String] = [:]) throws {
        try self.init(isDurable: isDurable, settings: settings, standbyOf: nil)
        try session().run("CREATE ROLE with_password")
    }

    /// Makes and starts a standby, which takes over what the primary commits, until ``promote()``.
    package convenience init(standbyOf primary: PostgreSQLServer) throws {
        try self.init(isDurable: false, settings: [:], standbyOf: primary.port)
    }

    private init(isDurable: Bool, settings: [String: String], standbyOf primaryPort: Int?) throws {
        guard let programs = PostgreSQLPrograms.installed else { throw Failure(PostgreSQLServer.comment) }
        var all = [
            "listen_addresses": "127.0.0.1", "fsync": isDurable ? "on" : "off", "max_connections": "200",
            "full_page_writes": isDurable ? "on" : "off", "shared_buffers": "32MB", "jit": "off",
        ]
        all.merge(settings) { $1 }
        port = try PostgreSQLServer.freePort()
        let arguments = all.sorted { $0.key < $1.key }.flatMap { ["-c", "\($0.key)=\($0.value)"] }
        guardian = try ServerGuardian(programs, ["-p", "\(port)"] + arguments, standbyOf: primaryPort)
        try start()
    }

    /// Below those that the system gives to connections, so that none of them takes it while the server is away.
    private static func freePort() throws -> Int {
        for _ in 0..<100 {
            let port = Int.random(in: 15_000..<32_000)
            if (try? Socket(listeningAt: port)) != nil { return port }
        }
        throw Failure("No port of 127.0.0.1 is free.")
    }

    /// The folder of its socket: `host` in a connection string.
    package var socketFolder: String { guardian.folder }

    /// What libpq connects with.
    ///
    /// - Parameter port: Another one than the server's, that of a ``TCPProxy``.
    package func connectionString(
        database: String, user: String = PostgreSQLServer.user, password: String? = nil, port: Int? = nil
    ) -> String {
        "postgresql://\(user)\(password.map { ":\($0)" } ?? "")@127.0.0.1:\(port ?? self.port)/\(database)"
            + "?sslmode=disable&gssencmode=disable"
    }

    /// Makes an empty database.
    ///
    /// - Returns: Its name.
    package func makeDatabase(encoding: String = "UTF8") throws -> String {
        let name = "test\(databases.wrappingAdd(1, ordering: .relaxed).newValue)"
        let locale = "LC_COLLATE 'C' LC_CTYPE 'C'"
        try session().run("CREATE DATABASE \(name) TEMPLATE template0 ENCODING '\(encoding)' \(locale)")
        return name
    }

    /// Removes a database, and ends whoever uses it.
    package func dropDatabase(_ name: String) throws {
        try session().run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }

    package func session(database: String = "postgres") throws -> PostgreSQLSession {
        try PostgreSQLSession(port: port, database: database)
    }

    /// Starts it again after ``kill()`` or ``stop()``, and waits until it takes connections.
    package func start() throws {
        try process.withLock { process in
            guard process == nil else { return }
            let length = guardian.log.utf8.count
            process = guardian.start()
            while (try? session()) == nil {
                let log = String(decoding: guardian.log.utf8.dropFirst(length), as: UTF8.self)
                if process == nil || log.contains("database system is shut down") {
                    guardian.end("KILL")
                    process = nil
                    throw Failure("The server does not start: \(log)")
                }
                usleep(10_000)
            }
        }
    }

    /// Ends it without any warning, and waits until all its processes are gone.
    package func kill() {
        process.withLock { process in
            guard let running = process else { return }
            ServerProcesses(of: running).send(SIGKILL)
            guardian.end("KILL")
            process = nil
        }
    }

    /// Ends it in order: connections are closed, open transactions rolled back.
    package func stop() {
        process.withLock { process in
            guard process != nil else { return }
            guardian.end("INT")
            process = nil
        }
    }

    /// Waits until a standby has what its primary has committed so far, and then lets it take over nothing more.
    package func stopFollowing(_ primary: PostgreSQLServer) throws {
        let end = try primary.session().run("SELECT pg_current_wal_insert_lsn()")[0][0] ?? ""
        let session = try session()
        try wait(session, "SELECT pg_last_wal_replay_lsn() >= '\(end)'::pg_lsn")
        try session.run("ALTER SYSTEM SET primary_conninfo = ''")
        try session.run("SELECT pg_reload_conf()")
        try wait(session, "SELECT NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
    }

    /// Lets a standby be a primary server.
    package func promote() throws { try session().run("SELECT pg_promote(true, 60)") }

    private func wait(_ session: PostgreSQLSession, _ condition: String) throws {
        for _ in 0..<3000 {
            if try session.run(condition)[0][0] == "t" { return }
            usleep(10_000)
        }
        throw Failure("The server has waited for half a minute for: \(condition)")
    }

    /// Halts all its processes, as if the machine had no time for them, until ``resume()``.
    package func pause() { process.withLock { if let process = $0 { ServerProcesses(of: process).send(SIGSTOP) } } }

    package func resume() { process.withLock { if let process = $0 { ServerProcesses(of: process).send(SIGCONT) } } }

    /// What it has said so far.
    package var log: String { guardian.log }

    /// The first of its processes.
    package var processID: Int32? { process.withLock { $0 } }

    /// How long its processes that run now have used a processor, in nanoseconds.
    package var processorNanoseconds: UInt64 {
        guard let processID else { return 0 }
        return ServerProcesses.children(of: processID).reduce(0) { sum, process in
            let line = try? String(contentsOfFile: "/proc/\(process)/schedstat", encoding: .utf8)
            return sum + (line?.split(separator: " ").first.flatMap { UInt64($0) } ?? 0)
        }
    }
}

/// The processes of a server: the first one, which is halted while its children are listed, so that there are no more.
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
            // The name in parentheses may hold anything; the state and the parent follow it.
            let words = line.split(separator: ")").last?.split(separator: " ") ?? []
            return words.count > 1 && Int32(words[1]) == first
        }
    }

    func send(_ signal: Int32) {
        for process in all { Foundation.kill(process, signal) }
    }
}
