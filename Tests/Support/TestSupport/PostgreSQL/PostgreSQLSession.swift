/// A connection to a PostgreSQL server for tests. It implements the part of the protocol that the tests need, without libpq.
package final class PostgreSQLSession {
    /// An error of the server.
    package struct Failure: Error, CustomStringConvertible {
        /// The SQLSTATE: five letters or digits. (https://www.postgresql.org/docs/15/errcodes-appendix.html)
        package let code: String
        package let message: String

        package var description: String { "\(code): \(message)" }
        package static let connectionLost = Failure(code: "", message: "the connection is lost")
    }

    /// The parameters that the server reports, such as `server_version`.
    package private(set) var parameters: [String: String] = [:]
    /// The ID of the server process for this connection.
    package private(set) var processID: Int32 = 0

    private let socket: Socket
    private var messages = WireMessages(isFromClient: false)

    package init(port: Int, database: String, user: String = PostgreSQLServer.user) throws {
        socket = try Socket(connectingTo: port)
        let version: [UInt8] = [0, 3, 0, 0]
        send(WireMessage(nil, version + WireMessage.encoded("user", user, "database", database) + [0]))
        _ = try reply()
    }

    deinit {
        // A termination message, so that the server process ends at once and the database can be dropped.
        send(WireMessage("X", []))
    }

    /// Runs statements in order, in one transaction unless they contain transaction commands.
    ///
    /// - Returns: The rows of all statements; a null is nil.
    @discardableResult
    package func run(_ statements: String) throws -> [[String?]] {
        send(statements)
        return try reply()
    }

    /// Sends statements without waiting for their results: see ``reply()``.
    package func send(_ statements: String) { send(WireMessage("Q", WireMessage.encoded(statements))) }

    /// Prepares a statement under a name, in the extended protocol.
    package func prepare(_ statement: String, as name: String) throws {
        send(WireMessage("P", WireMessage.encoded(name, statement) + [0, 0]))
        send(WireMessage("S", []))
        _ = try reply()
    }

    /// Runs a prepared statement without parameters.
    package func run(prepared name: String) throws {
        send(WireMessage("B", WireMessage.encoded("", name) + [0, 0, 0, 0, 0, 0]))
        send(WireMessage("E", [0, 0, 0, 0, 0]))
        send(WireMessage("S", []))
        _ = try reply()
    }

    /// Waits for the results of all statements that were sent.
    package func reply() throws -> [[String?]] {
        var rows: [[String?]] = []
        var failure: Failure?
        while true {
            guard let message = next() else { throw failure ?? .connectionLost }
            switch Character(UnicodeScalar(message.type)) {
            case "S":
                let pair = message.strings(2)
                parameters[pair[0]] = pair[1]
            case "K": processID = Int32(bitPattern: message.number)
            case "D": rows.append(row(message.body))
            case "E": failure = failure ?? error(message.body)
            case "R" where message.number != 0: throw Failure(code: "28000", message: "a password is asked for")
            case "Z":
                if let failure { throw failure }
                return rows
            default: break
            }
        }
    }

    private func send(_ message: WireMessage) { socket.send(message.bytes) }

    private func next() -> WireMessage? {
        while true {
            if let message = messages.next() { return message }
            let bytes = socket.receive()
            if bytes.isEmpty { return nil }
            messages.append(bytes)
        }
    }

    private func row(_ body: ArraySlice<UInt8>) -> [String?] {
        var rest = body.dropFirst(2)
        var values: [String?] = []
        while rest.count >= 4 {
            let length = Int32(bitPattern: rest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
            rest = rest.dropFirst(4)
            values.append(length < 0 ? nil : String(decoding: rest.prefix(Int(length)), as: UTF8.self))
            rest = rest.dropFirst(max(0, Int(length)))
        }
        return values
    }

    private func error(_ body: ArraySlice<UInt8>) -> Failure {
        var fields: [Character: String] = [:]
        for field in body.split(separator: 0) {
            guard let letter = field.first else { continue }
            fields[Character(UnicodeScalar(letter))] = String(decoding: field.dropFirst(), as: UTF8.self)
        }
        return Failure(code: fields["C"] ?? "", message: fields["M"] ?? "")
    }
}
