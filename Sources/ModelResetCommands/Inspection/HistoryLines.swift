internal import Foundation
internal import RowStore

/// The output of `inspect` about the history of a store.
struct HistoryLines {
    private let history: InspectedHistory
    /// Whether the values of the records are shown.
    private let showsValues: Bool

    init(_ history: InspectedHistory, showsValues: Bool) {
        self.history = history
        self.showsValues = showsValues
    }

    var all: [String] {
        let (oldest, newest) = history.numbers
        let records = newest < oldest ? "no records" : "records \(oldest) to \(newest)"
        return [
            "history: \(records), \(history.byteCount) bytes; kept for \(history.limits.seconds) s, up to \(history.limits.bytes) bytes"
        ] + consumers + history.records.flatMap(lines).map { "  \($0)" }
    }

    private var consumers: [String] {
        history.consumers.map { name, number in
            let unread = max(0, history.numbers.newest - number)
            let state = number + 1 < history.numbers.oldest ? ", has missed records" : ""
            return "  consumer \(JSON.string(name).text): \(unread) to read\(state)"
        }
    }

    private func lines(_ record: StoredRecord) -> [String] {
        var words = ["\(record.number)  \(HistoryLines.time(record))  \(record.member)", record.kind.rawValue]
        if let source = record.dataSourceName { words.append("of \(source)") }
        if let author = record.author { words.append("by \(author)") }
        let subject = record.note ?? record.entityNames.joined(separator: ", ")
        let head = words.joined(separator: " ") + ": \(subject)"
        guard showsValues, let changes = record.changes, let layout = history.layout else { return [head] }
        return [head] + ChangeReader.lines(ChangeReader.rows(changes, layout)).map { "  \($0)" }
    }

    private static func time(_ record: StoredRecord) -> String {
        Date(timeIntervalSince1970: Double(record.time) / 1000).ISO8601Format()
    }

    // MARK: JSON

    var json: JSON {
        .object([
            ("oldest", .number(Int(history.numbers.oldest))), ("newest", .number(Int(history.numbers.newest))),
            ("bytes", .number(Int(history.byteCount))), ("byteLimit", .number(Int(history.limits.bytes))),
            ("seconds", .number(Int(history.limits.seconds))),
            (
                "consumers",
                .list(
                    history.consumers.map {
                        .object([("name", .string($0.name)), ("position", .number(Int($0.number)))])
                    })
            ), ("records", .list(history.records.map(json))),
        ])
    }

    private func json(_ record: StoredRecord) -> JSON {
        var members: [(String, JSON)] = [
            ("number", .number(Int(record.number))), ("time", .string(HistoryLines.time(record))),
            ("kind", .string(record.kind.rawValue)), ("source", .string(record.dataSourceName)),
            ("author", .string(record.author)), ("process", .number(Int(record.member.processID))),
            ("program", .string(record.member.name)), ("entities", .strings(record.entityNames)),
            ("note", .string(record.note)),
        ]
        if showsValues {
            let rows = history.layout.flatMap { layout in record.changes.map { ChangeReader.rows($0, layout) } }
            members.append(("changes", rows.map(ChangeReader.json) ?? .null))
        }
        return .object(members)
    }
}
