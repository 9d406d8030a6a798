/// A client's message to a server that a ``TCPProxy`` intercepts, once.
package final class Interception: Sendable {
    enum Action {
        /// The connection is cut, and the server never gets the message.
        case cutBefore
        /// The server gets the message. After its reply the connection is cut, and the client never gets the reply.
        case cutReply
        /// The proxy holds the message back.
        case hold
        /// The server gets the first half of the message. The proxy holds the second half back.
        case holdInside

        var isHolding: Bool { self == .hold || self == .holdInside }
    }

    private enum Stage: Int {
        case expected, reached, delivered, answered
    }

    private struct State {
        var stage = Stage.expected
        /// The first word of the intercepted statement.
        var command = ""
        var answer: String?
    }

    let action: Action
    private let statement: String
    private let state = Monitor(State())
    private let cutClientAction = Monitor<(@Sendable () -> Void)?>(nil)

    init(_ action: Action, _ statement: String) {
        self.action = action
        self.statement = statement
    }

    // MARK: What a test asks

    /// Waits until the message is held back, or until the connection is cut.
    package func wait() {
        state.wait { $0.stage.rawValue >= (action.isHolding ? Stage.reached : .answered).rawValue }
    }

    /// Whether the message has reached the proxy.
    package var isReached: Bool { state.value.stage != .expected }

    /// Ends the connection for the client while the message is held back. The server does not notice.
    package func cutClient() {
        wait()
        cutClientAction.value?()
    }

    /// Forwards a message that is held back to the server.
    ///
    /// - Returns: The server's reply, as ``answer``.
    @discardableResult
    package func deliver() -> String? {
        wait()
        state.change { if $0.stage == .reached { $0.stage = .delivered } }
        state.wait { $0.stage == .answered }
        return answer
    }

    /// The server's reply: the tag of the command, such as `COMMIT`; `ROLLBACK` for a transaction that had failed; or `ERROR`
    /// and its code. Nil if the server is gone.
    package var answer: String? { state.value.answer }

    // MARK: What the proxy reports

    func matches(_ query: String) -> Bool { query.contains(statement) }

    /// Records the statement. Its message is the next one on the way.
    func find(in query: String) {
        let found = query.split(separator: ";").first { $0.contains(statement) } ?? ""
        let command = found.split(separator: " ").first.map(String.init) ?? ""
        state.change { $0.command = command.uppercased() }
    }

    func markReached(cutClient: @escaping @Sendable () -> Void) {
        cutClientAction.change { $0 = cutClient }
        state.change { $0.stage = .reached }
    }

    func waitForDelivery() { state.wait { $0.stage.rawValue >= Stage.delivered.rawValue } }

    /// The reply to the statement in a message of the server; nil if the message is not the reply.
    func answer(in message: WireMessage) -> String? {
        if message.hasType("C"), let tag = message.strings(1).first {
            return tag.prefix { $0 != " " } == state.value.command || tag == "ROLLBACK" ? tag : nil
        }
        guard message.hasType("E") else { return nil }
        let code = message.body.split(separator: 0).first { $0.first == UInt8(ascii: "C") }
        return "ERROR " + String(decoding: code?.dropFirst() ?? [], as: UTF8.self)
    }

    /// Records the reply before its effects can be noticed.
    func note(_ answer: String) { state.change { $0.answer = answer } }

    /// Ends the interception: the reply has come, or never will.
    func finish() { state.change { $0.stage = .answered } }

    func waitForAnswer() { state.wait { $0.stage == .answered } }
}
