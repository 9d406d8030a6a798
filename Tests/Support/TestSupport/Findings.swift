internal import Synchronization

/// The counts of a stress suite, and the promises that were broken.
package final class Findings: Sendable {
    package enum Count: String, Sendable, CaseIterable {
        // What was tried.
        case kills, stops, images, faults, schedules, reads, blocked
        // The results.
        case acknowledged, lost, half, stale, refused, hangs, traps

        /// Whether the count is printed even if it is zero.
        fileprivate var isOutcome: Bool {
            ![.kills, .stops, .images, .faults, .schedules, .reads, .blocked].contains(self)
        }
    }

    private struct State {
        var counts: [Count: Int] = [:]
        var violations: [String] = []
        var figures: [(name: String, value: String)] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var violations: [String] { state.withLock { $0.violations } }

    package func count(_ count: Count, _ number: Int = 1) {
        state.withLock { $0.counts[count, default: 0] += number }
    }

    package func number(of count: Count) -> Int { state.withLock { $0.counts[count] ?? 0 } }

    /// Records a broken promise.
    ///
    /// - Parameter count: The count to increase.
    package func recordViolation(_ sentence: String, _ count: Count? = nil) {
        state.withLock { state in
            if let count { state.counts[count, default: 0] += 1 }
            state.violations.append(sentence)
        }
    }

    /// Records a violation, unless the condition is true.
    package func expect(_ condition: Bool, _ sentence: @autoclosure () -> String, _ count: Count? = nil) {
        if !condition { recordViolation(sentence(), count) }
    }

    /// Records a figure for the report: kills, images, bytes.
    package func recordFigure(_ name: String, _ value: some CustomStringConvertible) {
        state.withLock { state in
            state.figures.removeAll { $0.name == name }
            state.figures.append((name, value.description))
        }
    }

    /// Records a figure whose largest value is reported.
    package func recordMaximum(_ name: String, _ value: Int) { combine(name, value, max) }

    /// Records a figure whose sum is reported.
    package func sum(_ name: String, _ value: Int) { combine(name, value, +) }

    private func combine(_ name: String, _ value: Int, _ combine: (Int, Int) -> Int) {
        let known = state.withLock { $0.figures.first { $0.name == name }.flatMap { Int($0.value) } }
        recordFigure(name, known.map { combine($0, value) } ?? value)
    }

    /// All figures and counts, in one line.
    package var summary: String {
        state.withLock { state in
            let figures = state.figures.map { "\($0.value) \($0.name)" }
            let counts = Count.allCases.filter { $0.isOutcome || state.counts[$0] != nil }
                .map { "\(state.counts[$0] ?? 0) \($0.rawValue)" }
            return (figures + counts).joined(separator: ", ")
        }
    }
}
