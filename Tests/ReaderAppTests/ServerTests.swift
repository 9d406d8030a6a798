import FeedServer
import Foundation
import TestSupport
import Testing

/// The server itself, which gets bytes that are no request, too.
@MainActor
struct ServerTests {
    /// Sends bytes, and returns the first line of the answer.
    private func answer(_ bytes: String, _ server: FeedServer) async throws -> String {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(component: "request")
        try Data(bytes.utf8).write(to: file)
        let run = try await Subprocess(
            "bash", ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(server.port) && cat '\(file.path)' >&3 && cat <&3"])
        return run.output.split(separator: "\r\n").first.map(String.init) ?? ""
    }

    @Test(arguments: [
        ("GET /feeds HTTP/1.1\r\n\r\n", 200), ("HEAD /feeds HTTP/1.0\r\n\r\n", 200),
        ("GET /feeds/bread/articles?cursor=10 HTTP/1.1\r\n\r\n", 200),
        ("GET /feeds/bread/articles?cursor=24 HTTP/1.1\r\n\r\n", 400),
        ("GET /feeds/bread/articles?cursor=-1 HTTP/1.1\r\n\r\n", 400),
        ("GET /feeds/bread/articles?cursor=x HTTP/1.1\r\n\r\n", 400),
        ("GET /feeds/none/articles HTTP/1.1\r\n\r\n", 404), ("GET /%00/%ff/.. HTTP/1.1\r\n\r\n", 404),
        ("POST /feeds HTTP/1.1\r\n\r\n", 405), ("PUT /control HTTP/1.1\r\n\r\n", 405),
        ("\r\n\r\n", 400), ("GET\r\n\r\n", 400), ("GET feeds HTTP/1.1\r\n\r\n", 400),
        ("GET /feeds HTTP/3\r\n\r\n", 400), ("GET /feeds HTTP/1.1\r\nno colon\r\n\r\n", 400),
        ("POST /control HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
        ("POST /control HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        ("POST /control HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
        ("POST /control HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        ("POST /control HTTP/1.1\r\nContent-Length: 5\r\n\r\nclear", 200),
        ("POST /control HTTP/1.1\r\nContent-Length: 5\r\n\r\nwrong", 400),
        ("GET /" + String(repeating: "a", count: 20_000), 431),
    ])
    func everyRequestHasAnAnswer(bytes: String, status: Int) async throws {
        let server = try FeedServer(.sample())
        #expect(try await answer(bytes, server).hasPrefix("HTTP/1.1 \(status) "))
        #expect(try await answer("GET /feeds HTTP/1.1\r\n\r\n", server) == "HTTP/1.1 200 OK")
        server.close()
    }

    @Test(arguments: [
        "", "fault", "fault /feeds", "fault feeds 1 reset", "fault /feeds 0 reset", "fault /feeds -1 reset",
        "fault /feeds 1 status 200", "fault /feeds 1 hold 3601", "fault /feeds 1 429", "fault /feeds 1 unknown",
        "publish none Title", "publish stars", "expire none 1", "close none", "clear all",
    ])
    func aWrongCommandIsRefused(line: String) throws {
        let server = try FeedServer(.sample())
        var isRefused = false
        do { try server.site.perform(line) } catch { isRefused = error.status == 400 }
        #expect(isRefused)
        server.close()
    }

    @Test func whatIsRememberedHasABound() async throws {
        let site = FeedSite.sample()
        let server = try FeedServer(site)
        for _ in 0..<1000 { try site.perform("fault /none always reset") }
        var isRefused = false
        do { try site.perform("fault /none always reset") } catch { isRefused = true }
        #expect(isRefused)
        try site.perform("expire stars 1000000")
        try site.perform("expire stars -5")
        server.close()
        // A server that is closed twice, and one that is only released.
        server.close()
        _ = try FeedServer(.sample())
    }

    @Test func aClosedServerLeavesItsPort() async throws {
        let server = try FeedServer(.sample())
        try server.site.perform("fault /feeds always hold 3600")
        let waiting = Task { try await answer("GET /feeds HTTP/1.1\r\n\r\n", server) }
        while server.site.records.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        server.close()
        // The request that was held gets no answer, or the list.
        _ = try await waiting.value
        let next = try FeedServer(.sample(), port: server.port)
        #expect(try await answer("GET /feeds HTTP/1.1\r\n\r\n", next) == "HTTP/1.1 200 OK")
        next.close()
    }
}
