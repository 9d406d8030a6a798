import Foundation

/// The style of a piece of text. The raw values are the parameters of a terminal's color sequences.
enum Style: String {
    case plain = ""
    case strong = "1"
    case faint = "90"
    case heading = "1;34"
    case accent = "36"
    case unread = "1;33"
    case good = "32"
    case bad = "31"
}

/// A line of text in several styles. All characters are one column wide.
struct Line {
    private(set) var runs: [(text: String, style: Style)] = []

    init(_ text: String = "", _ style: Style = .plain) {
        add(text, style)
    }

    mutating func add(_ text: String, _ style: Style = .plain) {
        if !text.isEmpty { runs.append((text, style)) }
    }

    mutating func add(_ line: Line) { runs += line.runs }

    var width: Int { runs.reduce(0) { $0 + $1.text.count } }

    /// Returns the line with exactly `width` columns, filled with spaces or shortened with an ellipsis.
    func fitted(to width: Int) -> Line {
        var rest = width
        var fitted = Line()
        for (text, style) in runs where rest > 0 {
            let shown = text.fitted(to: min(rest, text.count))
            fitted.add(shown, style)
            rest -= shown.count
        }
        fitted.add(String(repeating: " ", count: rest))
        return fitted
    }

    func text(isColored: Bool) -> String {
        runs.map { text, style in
            isColored && style != .plain ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
        }.joined()
    }
}

extension String {
    /// Returns the string with exactly `width` characters, filled with spaces or shortened with an ellipsis.
    func fitted(to width: Int) -> String {
        if count > width { return String(prefix(max(0, width - 1))) + (width > 0 ? "…" : "") }
        return self + String(repeating: " ", count: width - count)
    }

    /// Returns the string aligned to the right in `width` columns.
    func atRight(of width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

/// Draws pictures on standard output, in one of three modes.
@MainActor
final class Terminal {
    enum Mode {
        /// For a terminal that is large enough: each picture of a scene replaces the previous picture.
        case animated
        /// Prints only the last picture of each scene.
        case still
        /// Prints all pictures, each followed by a form feed and its duration in milliseconds. `terminal-drawing` reads this
        /// format.
        case recording
    }

    let mode: Mode
    private let isColored: Bool
    /// The factor for the durations of pictures. Pauses can be short, because the last picture of each scene stays on the
    /// screen.
    private let durationScale: Double
    private var shown: [Line] = []

    /// - Parameters:
    ///   - width: The number of columns of a picture.
    ///   - height: The number of lines of a picture.
    init(isRecording: Bool, isFast: Bool, width: Int, height: Int) {
        let isTerminal = isatty(FileHandle.standardOutput.fileDescriptor) != 0
        let refusesColors = ProcessInfo.processInfo.environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        isColored = isRecording || isTerminal && !refusesColors
        durationScale = isFast ? 0 : 0.25
        mode = isRecording ? .recording : isTerminal && Self.hasRoom(width, height) ? .animated : .still
    }

    /// Begins a scene below the previous scene.
    func beginScene() {
        endScene()
        shown = []
    }

    func endScene() {
        guard mode == .still, !shown.isEmpty else { return }
        print(lines: shown)
        print()
    }

    /// Shows a picture as the mode says. Only the mode `animated` waits: for the duration of the picture, multiplied by
    /// `durationScale`.
    func show(_ lines: [Line], for duration: Duration) async throws {
        switch mode {
        case .still: shown = lines
        case .recording:
            print(lines: lines)
            print("\u{0C}\(Int(duration / .milliseconds(1)))")
        case .animated:
            // Moves the cursor to the first line of the previous picture.
            if !shown.isEmpty { print("\u{1B}[\(shown.count)A\r", terminator: "") }
            shown = lines
            print(lines: lines)
            try await Task.sleep(for: duration * durationScale)
        }
    }

    private func print(lines: [Line]) {
        let end = mode == .animated ? "\u{1B}[K" : ""
        print(lines.map { $0.text(isColored: isColored) + end }.joined(separator: "\n"))
    }

    /// Writes without a buffer, so that each picture is shown at once.
    private func print(_ text: String = "", terminator: String = "\n") {
        FileHandle.standardOutput.write(Data((text + terminator).utf8))
    }

    private static func hasRoom(_ width: Int, _ height: Int) -> Bool {
        var size = winsize()
        let isKnown = ioctl(FileHandle.standardOutput.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0
        return isKnown && Int(size.ws_col) >= width && Int(size.ws_row) > height
    }
}
