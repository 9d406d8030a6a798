import CoreDataSource
import Foundation
import MailApp

/// The window. It shows mailboxes and labels on the left, messages or a form on the right, and a sentence about the current
/// step.
///
/// Each drawing reads the contents from live lists and aggregates.
@MainActor
final class MailWindow {
    enum Content {
        case messages(MessageList, of: MailboxEntity)
        case found(LiveList<MessageEntity>, word: String)
        case form([Line])
    }

    static let width = 98
    static let height = rows + 6
    /// The number of lines inside each pane.
    static let rows = 17
    private static let sidebarWidth = 27

    let sidebar: LiveList<MailboxEntity>
    let labels: LiveList<LabelEntity>
    private let badges: UnreadBadges
    private let totals: LiveAggregate<(Int, Int64)>
    private let now: Date
    var content: Content?
    var title = ""
    var sentence = ""
    /// The completed share of the work, from 0 to 1; nil for no progress bar.
    var progress: Double?

    init(_ store: MailStore, now: Date) throws {
        sidebar = try store.mailboxes.sidebar()
        labels = try store.labels.all()
        badges = UnreadBadges(store.messages)
        totals = try store.totals()
        self.now = now
    }

    /// Draws the current contents.
    func lines() throws -> [Line] {
        let left = Pane(title: "Mailboxes", rows: try sidebarRows())
        let right = try contentPane()
        var lines = left.lines(width: Self.sidebarWidth, height: Self.rows)
        for (index, line) in right.lines(width: Self.width - Self.sidebarWidth, height: Self.rows).enumerated() {
            lines[index].add(line)
        }
        lines.append(Line(" \(title)", .heading))
        lines += sentence.wrapped(to: Self.width - 2).map { Line(" \($0)") }
        if let progress { lines.append(bar(progress)) }
        while lines.count < Self.height { lines.append(Line()) }
        return lines
    }

    private func bar(_ share: Double) -> Line {
        let width = Self.width - 9
        let filled = Int(share * Double(width))
        var line = Line(" " + String(repeating: "█", count: filled), .accent)
        line.add(String(repeating: "░", count: width - filled), .faint)
        line.add("\(Int(share * 100)) %".atRight(of: 6), .strong)
        return line
    }

    // MARK: Left pane

    private func sidebarRows() throws -> [Line] {
        badges.keep(sidebar.snapshot.ids)
        var rows: [Line] = []
        for section in sidebar.sections {
            rows.append(Line(section.name, .strong))
            for index in section.range {
                let mailbox = sidebar.snapshot[index]
                rows.append(sidebarRow(mailbox.name, mailbox.id, count: try badges.count(mailbox.id), .unread))
            }
        }
        rows.append(Line())
        rows.append(Line("Labels", .strong))
        for (index, label) in labels.snapshot.enumerated() {
            let count = labels.object(index)?.messages.count ?? 0
            rows.append(sidebarRow(label.name, label.id, count: count, .accent))
        }
        return rows
    }

    private func sidebarRow(_ name: String, _ id: ManagedObjectID, count: Int, _ style: Style) -> Line {
        var isSelected = false
        if case .messages(_, let mailbox) = content { isSelected = mailbox.objectID == id }
        var line = Line(isSelected ? "▸ " : "  ", .accent)
        line.add(name.fitted(to: 15), isSelected ? .accent : .plain)
        if count > 0 { line.add(count.grouped.atRight(of: 6), style) }
        return line
    }

    // MARK: Right pane

    private func contentPane() throws -> Pane {
        let (count, size) = totals.value
        let footer = "\(count.grouped) messages, \(size.byteCountText)"
        switch content {
        case .messages(let list, let mailbox):
            let name = "\(mailbox.account?.name ?? ""): \(mailbox.name)"
            let page = list.page > 1 ? ", page \(list.page)" : ""
            let rows = messageRows(list.live, list.calendar)
            return Pane(title: "\(name)\(page) (\(list.calendar.zoneName))", footer: footer, rows: rows)
        case .found(let list, let word):
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            let rows = messageRows(list, calendar)
            return Pane(title: "Search: \(word) (\(list.count.grouped) found)", footer: footer, rows: rows)
        case .form(let lines): return Pane(title: "Contact", footer: footer, rows: lines)
        case nil: return Pane(title: "No mailbox", footer: footer, rows: [])
        }
    }

    private func messageRows(_ list: LiveList<MessageEntity>, _ calendar: Calendar) -> [Line] {
        var rows: [Line] = []
        for section in list.sections where rows.count < Self.rows {
            if let day = section.interval?.start { rows.append(heading(day, section.numberOfObjects, calendar)) }
            for index in section.range where rows.count < Self.rows {
                guard let message = list.object(index) else { continue }
                rows.append(row(message, calendar, hasDay: section.interval == nil))
            }
        }
        return rows
    }

    private func heading(_ day: Date, _ count: Int, _ calendar: Calendar) -> Line {
        var line = Line(calendar.dayName(day, now: now), .strong)
        line.add(" \(count)", .faint)
        return line
    }

    private func row(_ message: MessageEntity, _ calendar: Calendar, hasDay: Bool) -> Line {
        var line = Line(message.isRead ? "  " : "● ", .unread)
        let style: Style = message.isRead ? .plain : .strong
        let date = hasDay ? calendar.dayAndMonth(message.date) : calendar.time(message.date)
        line.add(date.atRight(of: hasDay ? 6 : 5) + "  ", .faint)
        line.add((message.sender?.name ?? "unknown").fitted(to: 16) + " ", style)
        line.add(message.subject.fitted(to: hasDay ? 29 : 30) + " ", style)
        let threadCount = message.thread?.messageCount ?? 1
        line.add((threadCount > 1 ? "\(threadCount)" : "").atRight(of: 2), .accent)
        line.add((message.attachmentSize > 0 ? message.attachmentSize.byteCountText : "").atRight(of: 8), .faint)
        return line
    }
}

/// A box with a title and rows.
struct Pane {
    var title: String
    var footer = ""
    var rows: [Line]

    func lines(width: Int, height: Int) -> [Line] {
        var top = Line("╭─ ", .faint)
        let shown = title.count > width - 6 ? title.fitted(to: width - 6) : title
        top.add(shown, .heading)
        top.add(" " + String(repeating: "─", count: max(0, width - shown.count - 5)) + "╮", .faint)
        var lines = [top]
        for index in 0..<height {
            var line = Line("│ ", .faint)
            line.add((index < rows.count ? rows[index] : Line()).fitted(to: width - 4))
            line.add(" │", .faint)
            lines.append(line)
        }
        let end = footer.isEmpty ? "╯" : " \(footer) ─╯"
        lines.append(Line("╰" + String(repeating: "─", count: max(0, width - end.count - 1)) + end, .faint))
        return lines
    }
}
