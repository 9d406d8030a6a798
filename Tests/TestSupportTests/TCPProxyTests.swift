import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// What is done to connections on their way to the server.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct TCPProxyTests {
    /// A table in a database of its own, with a proxy before it.
    private struct Place {
        let proxy: TCPProxy
        let direct: PostgreSQLSession
        let database: String

        init() throws {
            let server = try PostgreSQLServer.shared
            proxy = try TCPProxy(to: server.port)
            database = try server.makeDatabase()
            direct = try server.session(database: database)
            try direct.run("CREATE TABLE t (number int)")
        }

        func connect() throws -> PostgreSQLSession { try PostgreSQLSession(port: proxy.port, database: database) }

        func numbers() throws -> [String?] { try direct.run("SELECT number FROM t ORDER BY 1").flatMap { $0 } }
    }

    @Test func undisturbedMessagesArrive() throws {
        let place = try Place()
        let session = try place.connect()
        try session.run("INSERT INTO t SELECT generate_series(1, 50000)")
        #expect(try session.run("SELECT number FROM t").count == 50_000)
        #expect(try session.run("SELECT '\(String(repeating: "é", count: 200_000))'")[0][0]?.count == 200_000)
        #expect(place.proxy.connectionCount == 1)
    }

    @Test func allConnectionsAreCut() throws {
        let place = try Place()
        let sessions = [try place.connect(), try place.connect()]
        place.proxy.cutAll()
        for session in sessions { expectThrows(PostgreSQLSession.Failure.self) { try session.run("SELECT 1") } }
        #expect(try place.connect().run("SELECT 1") == [["1"]])
        place.proxy.goOffline()
        expectThrows(PostgreSQLSession.Failure.self) { try place.connect() }
        place.proxy.goOnline()
        #expect(try place.connect().run("SELECT 1") == [["1"]])
    }

    @Test func aMessageThatIsCutOffNeverArrives() throws {
        let place = try Place()
        let session = try place.connect()
        let cut = place.proxy.cutBefore("COMMIT")
        try session.run("BEGIN; INSERT INTO t VALUES (1)")
        #expect(!cut.isReached)
        expectThrows(PostgreSQLSession.Failure.self) { try session.run("COMMIT") }
        #expect(cut.isReached && cut.answer == nil)
        #expect(try place.numbers() == [])
        // It was for one message.
        try place.connect().run("BEGIN; INSERT INTO t VALUES (2); COMMIT")
        #expect(try place.numbers() == ["2"])
    }

    @Test(arguments: [false, true])
    func aReplyIsLostAfterTheServerHasActed(isPrepared: Bool) throws {
        let place = try Place()
        let session = try place.connect()
        if isPrepared { try session.prepare("COMMIT", as: "end") }
        let cut = place.proxy.cutReply(to: "COMMIT")
        try session.run("BEGIN; INSERT INTO t VALUES (1)")
        expectThrows(PostgreSQLSession.Failure.self) {
            if isPrepared { try session.run(prepared: "end") } else { try session.run("COMMIT") }
        }
        cut.wait()
        #expect(cut.answer == "COMMIT")
        #expect(try place.numbers() == ["1"])
    }

    @Test func aMessageIsHeldWhileItsClientIsCutOff() throws {
        let place = try Place()
        let session = try place.connect()
        let hold = place.proxy.hold("COMMIT")
        try session.run("BEGIN; INSERT INTO t VALUES (1)")
        session.send("COMMIT")
        hold.cutClient()
        expectThrows(PostgreSQLSession.Failure.self) { try session.reply() }
        #expect(try place.numbers() == [])
        #expect(hold.deliver() == "COMMIT")
        #expect(try place.numbers() == ["1"])
    }

    @Test func aMessageThatIsHeldMayGoOnAsIfNothingHadBeen() throws {
        let place = try Place()
        let session = try place.connect()
        let hold = place.proxy.hold("COMMIT")
        session.send("BEGIN; INSERT INTO t VALUES (1); COMMIT")
        hold.wait()
        #expect(hold.deliver() == "COMMIT")
        _ = try session.reply()
        #expect(try session.run("SELECT 1") == [["1"]])
    }

    @Test func aHeldMessageIsLostWithItsConnection() throws {
        let place = try Place()
        let session = try place.connect()
        let hold = place.proxy.hold("COMMIT")
        session.send("BEGIN; INSERT INTO t VALUES (1); COMMIT")
        hold.wait()
        place.proxy.cutAll()
        #expect(hold.deliver() == nil)
        #expect(try place.numbers() == [])
    }

    @Test func aStalledProxyForwardsLater() throws {
        let place = try Place()
        let session = try place.connect()
        place.proxy.stall()
        session.send("INSERT INTO t VALUES (1)")
        #expect(try place.numbers() == [])
        place.proxy.resume()
        _ = try session.reply()
        #expect(try place.numbers() == ["1"])
    }

    @Test func theServerSeemsToBeOfAnotherVersion() throws {
        let place = try Place()
        place.proxy.reportVersion("12.4")
        #expect(try place.connect().parameters["server_version"] == "12.4")
        #expect(place.direct.parameters["server_version"] != "12.4")
    }
}
