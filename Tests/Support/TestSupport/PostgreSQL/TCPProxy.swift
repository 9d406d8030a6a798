import Foundation

/// A proxy between clients and a PostgreSQL server that simulates faults of a network.
///
/// It understands the messages of unencrypted connections. A statement, also a prepared one, is found by a string that it
/// contains.
package final class TCPProxy: Sendable {
    struct State: Sendable {
        var connections: [Int: ProxiedConnection] = [:]
        var interceptions: [Interception] = []
        var connectionCount = 0
        var isStalled = false
        var isOffline = false
        var version: String?
        var localizesErrors = false
        var serverPort: Int
    }

    let state: Monitor<State>
    private let listener: Socket

    /// Accepts connections, and connects to the server for each.
    package init(to serverPort: Int) throws {
        state = Monitor(State(serverPort: serverPort))
        listener = try Socket(listeningAt: 0)
        Thread { [listener, weak self] in
            while let client = listener.accept(), let self { self.accept(client) }
        }.start()
    }

    deinit {
        listener.cut()
        cutAll()
    }

    /// The port for clients.
    package var port: Int { listener.port }

    /// The number of connections so far.
    package var connectionCount: Int { state.value.connectionCount }

    private func accept(_ client: Socket) {
        guard let server = try? Socket(connectingTo: state.value.serverPort) else { return client.cut() }
        let connection: ProxiedConnection? = state.change { state in
            if state.isOffline { return nil }
            state.connectionCount += 1
            let connection = ProxiedConnection(number: state.connectionCount, client, server, self.state)
            state.connections[connection.number] = connection
            return connection
        }
        if let connection { connection.start() } else { client.cut() }
    }

    // MARK: Connections

    /// Cuts all present connections.
    package func cutAll() {
        for connection in state.value.connections.values { connection.cut() }
        // Wakes threads that wait while the proxy is stalled.
        state.change { _ in }
    }

    /// Cuts all connections, and accepts no others until ``goOnline()``.
    package func goOffline() {
        refuseNewConnections()
        cutAll()
    }

    /// Accepts no connections until ``goOnline()``. Present connections stay open.
    package func refuseNewConnections() { state.change { $0.isOffline = true } }

    package func goOnline() { state.change { $0.isOffline = false } }

    /// Leads later connections to another server.
    package func redirect(to serverPort: Int) { state.change { $0.serverPort = serverPort } }

    /// Forwards nothing in either direction until ``resume()``. Connections stay open.
    package func stall() { state.change { $0.isStalled = true } }

    package func resume() { state.change { $0.isStalled = false } }

    /// Replaces the version that the server reports, for later connections.
    package func reportVersion(_ version: String?) { state.change { $0.version = version } }

    /// Replaces the language of the server's errors, for later connections. The error codes stay.
    package func localizeErrors() { state.change { $0.localizesErrors = true } }

    // MARK: Messages

    /// Cuts the connection when a client sends the next statement that contains the string.
    package func cutBefore(_ statement: String) -> Interception { intercept(.cutBefore, statement) }

    /// Lets the server run the next matching statement, and cuts the connection before the client gets the reply.
    package func cutReply(to statement: String) -> Interception { intercept(.cutReply, statement) }

    /// Holds back the next matching statement until ``Interception/deliver()``.
    package func hold(_ statement: String) -> Interception { intercept(.hold, statement) }

    /// Forwards the first half of the next matching statement, and holds back the second half until ``Interception/deliver()``,
    /// as if the client were halted while it sends.
    package func holdInside(_ statement: String) -> Interception { intercept(.holdInside, statement) }

    private func intercept(_ action: Interception.Action, _ statement: String) -> Interception {
        let interception = Interception(action, statement)
        state.change { $0.interceptions.append(interception) }
        return interception
    }
}
