package import Foundation
import Synchronization

/// A server of feeds, for the sample reader and its tests: HTTP/1.1 on the loopback, one request for each connection.
///
/// The server is for tests, not for the internet. Bad requests get a reply, each request and each wait has a limit, and nothing
/// is encrypted.
///
/// ```swift
/// let server = try FeedServer(.sample())
/// try server.site.perform("fault /feeds 1 status 500")
/// print(server.url)
/// ```
package final class FeedServer: Sendable {
    package let site: FeedSite
    package let port: UInt16
    private let listener: ServerSocket
    private let connections = Mutex<Set<Int32>?>([])

    /// The maximum number of bytes before the body of a request, and the maximum number of bytes in the body.
    private static let headLimit = 16 << 10
    private static let bodyLimit = 64 << 10
    /// The maximum number of connections at a time. Further connections are closed immediately.
    private static let connectionLimit = 64
    /// The number of seconds within which a client must send its request. A slower client is disconnected.
    private static let patience = 10

    /// Starts to listen.
    ///
    /// - Parameter port: The port; with 0, the default, the system chooses one.
    /// - Throws: An error of the system, for example because another program uses the port.
    package init(_ site: FeedSite, port: UInt16 = 0) throws {
        self.site = site
        listener = try ServerSocket(port: port)
        self.port = listener.port
        Thread.detachNewThread { [listener] in
            listener.acceptAll { [weak self] connection in
                guard let self else { return ServerSocket.end(connection) }
                self.begin(connection)
            }
        }
    }

    deinit {
        // The thread that accepts connections might release the last reference, so do not wait for the end of that thread
        // here.
        site.close()
        listener.wake()
    }

    /// The address of the server.
    package var url: URL { URL(string: "http://127.0.0.1:\(port)") ?? URL(filePath: "/") }

    /// Ends all connections. After the call, nobody listens on the port.
    package func close() {
        site.close()
        connections.withLock { connections in
            // As long as this loop holds the lock, no thread closes its connection. So each descriptor still belongs to its
            // connection.
            for connection in connections ?? [] { ServerSocket.interrupt(connection) }
            connections = nil
        }
        listener.close()
    }

    private func begin(_ connection: Int32) {
        let isWelcome = connections.withLock { connections in
            guard let count = connections?.count, count < Self.connectionLimit else { return false }
            connections?.insert(connection)
            return true
        }
        guard isWelcome else { return ServerSocket.end(connection) }
        // Serve on a separate thread, because reading blocks the thread, and so does a fault that delays the reply.
        Thread.detachNewThread { [self] in
            let isReset = serve(ServerConnection(connection, patience: Self.patience))
            connections.withLock { connections in
                connections?.remove(connection)
                ServerSocket.end(connection, isReset: isReset)
            }
        }
    }

    /// Reads a request, and replies to it.
    ///
    /// - Returns: Whether to reset the connection.
    private func serve(_ connection: ServerConnection) -> Bool {
        var hasBody = true
        let reply: HTTPReply
        do {
            guard let head = try connection.readHead(atMost: Self.headLimit) else { return false }
            let request = try HTTPRequest(head)
            hasBody = request.method != "HEAD"
            let length = try request.bodyLength(atMost: Self.bodyLimit)
            guard let body = try connection.read(length) else { return false }
            reply = site.reply(to: request, body: Data(body))
        } catch {
            reply = error
        }
        let bytes = reply.bytes(hasBody: hasBody)
        if reply.isCutOff {
            connection.send(Array(bytes.dropLast(reply.body.count - reply.body.count / 2)))
        } else {
            connection.send(bytes)
            connection.finish()
        }
        return reply.isCutOff
    }

    // MARK: A program of its own

    /// Runs a server until standard input ends. Prints the port as the first line, and then performs the commands of standard
    /// input: see ``FeedSite/perform(_:)``.
    ///
    /// Standard input ends when the process that has started the server ends. So the server does not outlive that process.
    package static func run(port: UInt16) throws {
        let server = try FeedServer(.sample(), port: port)
        say("\(server.port)")
        while let line = readLine() {
            do {
                try server.site.perform(line)
                say("done")
            } catch {
                say(String(decoding: error.body, as: UTF8.self).trimmingCharacters(in: .newlines))
            }
        }
        server.close()
    }

    /// Writes a line now, even into a pipe.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
