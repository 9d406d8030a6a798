import Dispatch
import Synchronization

/// A fault of the server's reply.
package enum ServerFault: Sendable, Equatable {
    /// The reply has another status, such as 429 or 500.
    case status(Int)
    /// The reply has the status 429, and the header `Retry-After` with seconds or with a date.
    case tooMany(retryAfter: Int, asDate: Bool)
    /// The connection is reset in the middle of the body.
    case reset
    /// The reply waits until the faults are released, for at most this number of seconds.
    case hold(seconds: Int)
    /// The header `Date` has a time that is this number of seconds from now.
    case clock(seconds: Int)
    /// The list is empty.
    case empty
    /// The list has only its first object.
    case short
    /// Each page after the first one names its own cursor as the cursor of the next page.
    case repeatedCursor
    /// Each page after the first one begins with the last object of the previous page.
    case overlap
    /// The body is not JSON.
    case noJSON

    /// Reads a fault, such as `status 500`, `429 20`, `429 20 date`, `hold 5` or `clock -86400`.
    ///
    /// - Throws: A sentence that says what is wrong.
    init(_ words: [String]) throws(HTTPReply) {
        let number = words.count > 1 ? Int(words[1]) : nil
        switch (words.first, number, words.count) {
        case ("status", let status?, 2) where 400..<600 ~= status: self = .status(status)
        case ("429", let seconds?, 2): self = .tooMany(retryAfter: seconds, asDate: false)
        case ("429", let seconds?, 3) where words[2] == "date": self = .tooMany(retryAfter: seconds, asDate: true)
        case ("hold", let seconds?, 2) where 0...3600 ~= seconds: self = .hold(seconds: seconds)
        case ("clock", let seconds?, 2): self = .clock(seconds: seconds)
        case ("reset", nil, 1): self = .reset
        case ("empty", nil, 1): self = .empty
        case ("short", nil, 1): self = .short
        case ("cursor", nil, 1): self = .repeatedCursor
        case ("overlap", nil, 1): self = .overlap
        case ("garbage", nil, 1): self = .noJSON
        default:
            throw HTTPReply(
                400,
                "A fault is one of: status CODE; 429 SECONDS [date]; hold SECONDS (up to 3600); clock SECONDS; reset; empty; short; cursor; overlap; garbage."
            )
        }
    }
}

/// The faults that later replies will have, and the requests that wait for a release.
final class FaultPlan: Sendable {
    /// A fault of the next requests whose paths begin with `path`.
    private struct Rule: Sendable {
        let path: String
        let fault: ServerFault
        /// How many more requests get the fault; nil if all of them do.
        var times: Int?
    }

    private struct State: Sendable {
        var rules: [Rule] = []
        /// The signals of the threads that wait.
        var waiting: [DispatchSemaphore] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// The maximum number of rules. Further rules are refused.
    private static let limit = 1000

    /// Adds a fault: `PATH TIMES FAULT`, where TIMES is a number or `always`.
    func add(_ words: [String]) throws(HTTPReply) {
        guard words.count >= 3, words[0].hasPrefix("/"), words[1] == "always" || Int(words[1]) ?? 0 > 0 else {
            throw HTTPReply(400, "Enter fault PATH TIMES FAULT, as in: fault /feeds 1 status 500")
        }
        let rule = Rule(path: words[0], fault: try ServerFault(Array(words[2...])), times: Int(words[1]))
        let isFull = state.withLock { state in
            if state.rules.count >= Self.limit { return true }
            state.rules.append(rule)
            return false
        }
        if isFull { throw HTTPReply(400, "There are \(Self.limit) faults. Enter clear first.") }
    }

    /// The wait of a request that is held.
    struct Wait: Sendable {
        fileprivate let signal = DispatchSemaphore(value: 0)
        let seconds: Int

        /// Waits for a release. Blocks the thread.
        func run() { _ = signal.wait(timeout: .now() + .seconds(seconds)) }
    }

    /// Returns the faults of a request, and counts them as used. The next release ends the waits, even if they have not begun.
    func take(_ path: String) -> (faults: [ServerFault], waits: [Wait]) {
        state.withLock { state in
            var faults: [ServerFault] = []
            for index in state.rules.indices where path.hasPrefix(state.rules[index].path) {
                faults.append(state.rules[index].fault)
                if let times = state.rules[index].times { state.rules[index].times = times - 1 }
            }
            state.rules.removeAll { $0.times == 0 }
            if state.isClosed { return (faults, []) }
            let waits = faults.compactMap { if case .hold(let seconds) = $0 { Wait(seconds: seconds) } else { nil } }
            state.waiting += waits.map(\.signal)
            return (faults, waits)
        }
    }

    func clear() { state.withLock { $0.rules = [] } }

    /// Ends all waits.
    func release() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for signal in waiting { signal.signal() }
    }

    /// Ends all waits. Later waits end at once.
    func close() {
        state.withLock { $0.isClosed = true }
        release()
    }
}
