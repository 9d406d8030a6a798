internal import Foundation
internal import Synchronization

/// The progress of long work, drawn on standard error if that is a terminal.
///
/// It can be advanced on any thread, also from a data source's hook.
final class ProgressBar: Sendable {
    static let standardError = ProgressBar()

    fileprivate struct State {
        var title = ""
        var total: Int?
        var done = 0
        var drawnAt: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    private init() {}

    /// - Parameter total: How much work there is; nil if it is unknown.
    func begin(_ title: String, total: Int?) {
        state.withLock { $0 = State(title: title, total: total) }
    }

    func advance(by count: Int = 1) {
        guard StandardError.isTerminal else { return }
        state.withLock { state in
            state.done += count
            let now = ContinuousClock.now
            if let last = state.drawnAt, last.duration(to: now) < .milliseconds(50) { return }
            state.drawnAt = now
            StandardError.print("\r\(state.picture)", terminator: "")
        }
    }

    /// Removes the bar from the screen.
    func end() {
        if StandardError.isTerminal { StandardError.print("\r\u{1B}[K", terminator: "") }
    }
}

extension ProgressBar.State {
    private static let width = 30

    fileprivate var picture: String {
        guard let total, total > 0 else { return "\(title) \(done)" }
        let share = min(1, Double(done) / Double(total))
        let filled = Int(share * Double(Self.width))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        return "\(title) [\(bar)] \(Int(share * 100))%"
    }
}
