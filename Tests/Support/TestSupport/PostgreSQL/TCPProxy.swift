import Foundation

/// Stands between clients and a PostgreSQL server, and does to their connections what a network does.
///
/// It understands the messages of connections that are not encrypted. Statements are found by what they contain, also those
/// that were prepared.
package final class TCPProxy: Sendable {
    struct State: Sendable {
        var connections: [Int: ProxiedConnection] = [:]
        var interceptions: [Interception] = []
        var connectionCount = 0
        var isStalled = false
        var isAway = false
        var version: String?
        var isForeign = false
        var serverPort: Int
    }

    let state: Watched<State>
    private let listener: Socket

    /// Takes connections, and makes one to the server for each.
    package init(to serverPort: Int) throws {
        state = Watched(State(serverPort: serverPort))
        listener = try Socket(listeningAt: 0)
        Thread { [listener, weak self] in
            while let client = listener.accept(), let self { self.take(client) }
        }.start()
    }

    deinit {
        listener.cut()
        cutAll()
    }

    /// Where clients connect to.
    package var port: Int { listener.port }

    /// How many connections there have been.
    package var connectionCount: Int { state.value.connectionCount }

    private func take(_ client: Socket) {
        guard let server = try? Socket(connectingTo: state.value.serverPort) else { return client.cut() }
        let connection: ProxiedConnection? = state.change { state in
            if state.isAway { return nil }
            state.connectionCount += 1
            let connection = ProxiedConnection(number: state.connectionCount, client, server, self.state)
            state.connections[connection.number] = connection
            return connection
        }
        if let connection { connection.start() } else { client.cut() }
    }

    // MARK: Connections

    /// Cuts all connections there are.
    package func cutAll() {
        for connection in state.value.connections.values { connection.cut() }
        // Whoever waits while the proxy is stalled looks again.
        state.change { _ in }
    }

    /// Cuts all connections, and takes no others until ``comeBack()``.
    package func goAway() {
        takeNoMore()
        cutAll()
    }

    /// Takes no connections until ``comeBack()``; those that there are stay.
    package func takeNoMore() { state.change { $0.isAway = true } }

    package func comeBack() { state.change { $0.isAway = false } }

    /// Leads connections that are made from now on to another server.
    package func lead(to serverPort: Int) { state.change { $0.serverPort = serverPort } }

    /// Forwards nothing in either direction until ``resume()``; connections stay open.
    package func stall() { state.change { $0.isStalled = true } }

    package func resume() { state.change { $0.isStalled = false } }

    /// Makes the server say that it is of another version, to clients that connect from now on.
    package func reportVersion(_ version: String?) { state.change { $0.version = version } }

    /// Makes the server's errors come in another language, to clients that connect from now on. Their codes stay.
    package func speakAnotherLanguage() { state.change { $0.isForeign = true } }

    // MARK: Messages

    /// Cuts the connection when a client is about to run a statement: the next one that contains the string.
    package func cutBefore(_ statement: String) -> Interception { intercept(.cutBefore, statement) }

    /// Lets the server run the next such statement, and cuts the connection before the client gets the reply.
    package func cutReply(to statement: String) -> Interception { intercept(.cutReply, statement) }

    /// Keeps the next such statement from the server until ``Interception/deliver()``.
    package func hold(_ statement: String) -> Interception { intercept(.hold, statement) }

    /// Lets the server have a half of the next such statement, and keeps the other half until ``Interception/deliver()``, as if the
    /// client were halted while it sends.
    package func holdInside(_ statement: String) -> Interception { intercept(.holdInside, statement) }

    private func intercept(_ action: Interception.Action, _ statement: String) -> Interception {
        let interception = Interception(action, statement)
        state.change { $0.interceptions.append(interception) }
        return interception
    }
}
