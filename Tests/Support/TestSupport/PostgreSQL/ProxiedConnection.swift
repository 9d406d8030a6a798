import Foundation
import Synchronization

/// A client's connection to a ``TCPProxy``, and the proxy's connection to the server.
final class ProxiedConnection: Sendable {
    let number: Int
    private let client: Socket
    private let server: Socket
    private let proxy: Monitor<TCPProxy.State>
    private let isCut = Atomic(false)
    /// The intercepted message of this connection that is not answered yet.
    private let interception = Mutex<Interception?>(nil)

    init(number: Int, _ client: Socket, _ server: Socket, _ proxy: Monitor<TCPProxy.State>) {
        self.number = number
        self.client = client
        self.server = server
        self.proxy = proxy
    }

    func start() {
        Thread { [self] in
            forwardRequests()
            // A client that was cut off may have sent a statement that the server still runs.
            if !isCut.load(ordering: .acquiring) { interception.withLock { $0 }?.waitForAnswer() }
            end()
        }.start()
        Thread { [self] in
            forwardReplies()
            end()
        }.start()
    }

    func cut() {
        isCut.store(true, ordering: .releasing)
        client.cut()
        server.cut()
    }

    private func end() {
        cut()
        proxy.change { $0.connections[number] = nil }
        // Both threads end here. The second thread finds an interception that the first thread did not.
        interception.withLock { $0 }?.finish()
    }

    /// - Returns: Whether the connection is still open.
    private func waitWhileStalled() -> Bool {
        if proxy.value.isStalled {
            proxy.wait { !$0.isStalled || self.isCut.load(ordering: .acquiring) }
        }
        return !isCut.load(ordering: .acquiring)
    }

    // MARK: From the client to the server

    private func forwardRequests() {
        var messages = WireMessages(isFromClient: true)
        var statements: [String: String] = [:]
        while true {
            let bytes = client.receive()
            guard !bytes.isEmpty else { return }
            messages.append(bytes)
            var ready: [UInt8] = []
            while let message = messages.next() {
                guard let match = intercepted(message, &statements) else {
                    ready += message.bytes
                    continue
                }
                let bytes = message.bytes
                let sent = match.action == .holdInside ? bytes.prefix(bytes.count / 2) : []
                guard waitWhileStalled(), server.send(ready + sent), handle(match) else { return }
                ready = Array(bytes.dropFirst(sent.count))
            }
            guard waitWhileStalled(), server.send(ready) else { return }
        }
    }

    /// - Returns: Whether to forward more messages.
    private func handle(_ match: Interception) -> Bool {
        if match.action == .cutBefore {
            match.markReached {}
            cut()
            match.finish()
            return false
        }
        interception.withLock { $0 = match }
        match.markReached { [client] in client.cutSending() }
        if match.action.isHolding { match.waitForDelivery() }
        return true
    }

    private func intercepted(_ message: WireMessage, _ statements: inout [String: String]) -> Interception? {
        var statement: String?
        if message.hasType("Q") {
            statement = message.strings(1)[0]
        } else if message.hasType("P") {
            let strings = message.strings(2)
            statements[strings[0]] = strings[1]
        } else if message.hasType("B") {
            statement = statements[message.strings(2)[1]]
        }
        guard let statement, !proxy.value.interceptions.isEmpty else { return nil }
        return proxy.change { state in
            guard let index = state.interceptions.firstIndex(where: { $0.matches(statement) }) else { return nil }
            state.interceptions[index].find(in: statement)
            return state.interceptions.remove(at: index)
        }
    }

    // MARK: From the server to the client

    private func forwardReplies() {
        var messages = WireMessages(isFromClient: false)
        let (version, localizesErrors) = (proxy.value.version, proxy.value.localizesErrors)
        while true {
            let bytes = server.receive()
            guard !bytes.isEmpty else { return }
            messages.append(bytes)
            var ready: [UInt8] = []
            while let message = messages.next() {
                let pending = interception.withLock { $0 }
                let answer = pending?.answer(in: message)
                if let pending, pending.action == .cutReply {
                    guard let answer else { continue }
                    pending.note(answer)
                    cut()
                    return pending.finish()
                }
                if let pending, let answer {
                    interception.withLock { $0 = nil }
                    pending.note(answer)
                    pending.finish()
                }
                ready += changed(message, version, localizesErrors).bytes
            }
            guard waitWhileStalled() else { return }
            // A client that was cut off gets nothing, but the reply to its intercepted statement is still awaited.
            if !client.send(ready), interception.withLock({ $0 == nil }) { return }
        }
    }

    private func changed(_ message: WireMessage, _ version: String?, _ localizesErrors: Bool) -> WireMessage {
        if localizesErrors, message.hasType("E") { return message.translated }
        guard let version, message.hasType("S"), message.strings(1) == ["server_version"] else { return message }
        return WireMessage("S", WireMessage.encoded("server_version", version))
    }
}
