internal import CoreDataSource
internal import Foundation

/// The list on a terminal, in sections. Each report repaints the screen and marks each change.
@MainActor
final class ScreenView: ListView {
    /// The last message.
    private var status = ""
    private var screen = Screen()

    func show(_ list: WatchedList, _ changes: [ManagedObjectID: RowChange]) {
        screen = Screen()
        for section in list.sections {
            screen.add(section: section.name, count: section.rows.count)
            for row in section.rows { screen.add(row.line, mark: changes[row.objectID]?.mark) }
        }
        for change in changes.values.filter({ $0.type == .delete }).sorted(by: { $0.text < $1.text }) {
            screen.add(gone: "\(change.mark) \(change.text)")
        }
        paint()
    }

    func showMessage(_ text: String) {
        status = text
        paint()
    }

    private func paint() {
        let help = "delete NAME, add FILE, quit"
        let lines = screen.lines(height: Terminal.height - 2) + [status, help]
        let width = Terminal.width
        // Moves the cursor home, clears the rest of each line, and clears everything below.
        print(
            "\u{1B}[H" + lines.map { $0.prefix(width) + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J",
            terminator: "")
        flush()
    }
}

/// The lines of a list. A terminal shows the lines around the first change.
struct Screen {
    private var lines: [String] = []
    private var gone: [String] = []
    private var firstMark: Int?

    mutating func add(section: String, count: Int) {
        lines.append("\(section.isEmpty ? "no section" : section) (\(count))")
    }

    mutating func add(_ text: String, mark: String?) {
        if mark != nil && firstMark == nil { firstMark = lines.count }
        lines.append("\(mark ?? " ") \(text)")
    }

    mutating func add(gone text: String) {
        gone.append(text)
    }

    /// At most `height` lines. Deleted rows come last, and use at most a third of the lines.
    func lines(height: Int) -> [String] {
        let shownGone = gone.prefix(max(1, height / 3))
        let room = max(1, height - shownGone.count)
        let first = max(0, min((firstMark ?? 0) - room / 2, lines.count - room))
        return Array(lines.dropFirst(first).prefix(room) + shownGone)
    }
}

/// The list on standard output. Each change is a line: first deleted rows, then the other changes in the order of the list.
struct LineView: ListView {
    func show(_ list: WatchedList, _ changes: [ManagedObjectID: RowChange]) {
        let gone = changes.values.filter { $0.type == .delete }.sorted { $0.text < $1.text }
        let sections = changes.isEmpty || changes.count > gone.count ? list.sections : []
        let rows = sections.flatMap(\.rows)
        if changes.isEmpty { print("watching: \(rows.count) \(list.subject.noun), \(sections.count) sections") }
        for change in gone + rows.compactMap({ changes[$0.objectID] }) { print(change.mark, change.text) }
        flush()
    }

    func showMessage(_ text: String) {
        print(text)
        flush()
    }
}

/// Standard output, if it is a terminal.
enum Terminal {
    static let isInteractive = isatty(FileHandle.standardOutput.fileDescriptor) != 0

    /// Height in lines and width in columns; 24 by 80 if they are unknown.
    static var height: Int { size.map { Int($0.ws_row) } ?? 24 }
    static var width: Int { size.map { Int($0.ws_col) } ?? 80 }

    private static var size: winsize? {
        var size = winsize()
        let isKnown = ioctl(FileHandle.standardOutput.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0
        return isKnown && size.ws_row > 0 ? size : nil
    }
}
