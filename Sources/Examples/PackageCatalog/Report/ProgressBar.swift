internal import CoreDataSource
internal import Foundation
internal import Synchronization

/// The progress of long work, drawn on standard error if standard error is a terminal.
///
/// **Isolation**: none. Any thread can advance the bar, including the thread that runs the hook of a data source.
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

    /// - Parameter total: The amount of work; nil if it is unknown.
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

/// The result of a sync of one data source, on one line.
struct SyncLine: CustomStringConvertible {
    let description: String

    init(_ name: String, _ report: SyncReport, broken: Int, rows: Int) {
        description = """
            \(name): read=\(report.read + broken) inserted=\(report.inserted) updated=\(report.updated) \
            unchanged=\(report.unchanged) deleted=\(report.deleted) duplicates=\(report.duplicates) broken=\(broken) \
            rows=\(rows)
            """
    }
}

extension StoreStartup {
    var sentence: String {
        switch reason {
        case .firstLaunch: return "first launch"
        case .current: return "current"
        default:
            var changes: [String] = []
            if reason.isModelChanged { changes.append("the model (\(reason.changedEntities.joined(separator: ", ")))") }
            if reason.isDatabaseKeyChanged { changes.append("the database key") }
            return "reset, \(changes.joined(separator: " and ")) changed; rows dropped: \(rowsDropped)"
        }
    }
}

/// Messages for people, separate from the program's output.
enum StandardError {
    static let isTerminal = isatty(FileHandle.standardError.fileDescriptor) != 0

    static func print(_ text: String, terminator: String = "\n") {
        FileHandle.standardError.write(Data((text + terminator).utf8))
    }
}

/// An error of the app itself.
struct CatalogError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
