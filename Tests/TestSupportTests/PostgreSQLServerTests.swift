import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// The server that other tests run against.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct PostgreSQLServerTests {
    @Test func eachDatabaseIsEmptyAndOnesOwn() throws {
        let server = try PostgreSQLServer.shared
        let names = [try server.makeDatabase(), try server.makeDatabase(encoding: "LATIN1")]
        for name in names {
            let session = try server.session(database: name)
            try session.run("CREATE TABLE t (name text); INSERT INTO t VALUES ('\(name)'), (NULL)")
            #expect(try session.run("SELECT name, 1 FROM t ORDER BY name") == [[name, "1"], [nil, "1"]])
        }
        #expect(try server.session(database: names[1]).run("SHOW server_encoding") == [["LATIN1"]])
        for name in names { try server.dropDatabase(name) }
    }

    @Test func aServerThatIsKilledComesBackWithWhatWasCommitted() throws {
        let server = try PostgreSQLServer()
        let session = try server.session()
        try session.run("CREATE TABLE t (number int); INSERT INTO t VALUES (1)")
        try session.run("BEGIN; INSERT INTO t VALUES (2)")
        for stop in [server.kill, server.stop] {
            stop()
            expectThrows((any Error).self) { try server.session() }
            try server.start()
            #expect(try server.session().run("SELECT number FROM t") == [["1"]])
        }
        expectThrows(PostgreSQLSession.Failure.self) { try session.run("SELECT 1") }
    }

    @Test func aServerThatIsPausedAnswersLater() throws {
        let server = try PostgreSQLServer()
        let session = try server.session()
        server.pause()
        session.send("SELECT 1")
        server.resume()
        #expect(try session.reply() == [["1"]])
        server.pause()
        server.kill()
        try server.start()
        #expect(try server.session().run("SELECT 1") == [["1"]])
    }

    @Test func rolesThatHaveAPasswordAreAskedForIt() throws {
        let server = try PostgreSQLServer.shared
        let role = "role_\(getpid())"
        try server.session().run("CREATE ROLE \(role) LOGIN PASSWORD 'right' IN ROLE with_password")
        expectThrows(PostgreSQLSession.Failure.self) {
            try PostgreSQLSession(port: server.port, database: "postgres", user: role)
        }
    }

    @Test(.timeLimit(.minutes(30))) func theServerAndItsFilesAreGoneWhenItsProcessIsKilled() async throws {
        let directory = try TemporaryDirectory()
        let note = directory.url.appending(component: "server").path
        await #expect(processExitsWith: .signal(SIGKILL)) { [note = note as String] in
            let server = try PostgreSQLServer()
            try "\(server.processID ?? 0) \(server.socketFolder)".write(toFile: note, atomically: true, encoding: .utf8)
            kill(getpid(), SIGKILL)
        }
        let words = try String(contentsOfFile: note, encoding: .utf8).split(separator: " ").map(String.init)
        let process = try #require(Int32(words[0]))
        // The guardian removes the folder after the server has ended.
        while FileManager.default.fileExists(atPath: words[1]) {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(kill(process, 0) != 0)
    }
}
