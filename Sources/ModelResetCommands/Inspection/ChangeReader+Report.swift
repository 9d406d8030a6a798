internal import Foundation
internal import RowStore

/// A save as it is shown.
extension ChangeReader {
    /// The most rows of a save that are shown one by one.
    private static let rowLimit = 20

    func lines(_ save: NotedSave, _ members: [StoreMember]) -> [String] {
        let head = "\(save.position)  \(save.time.ISO8601Format())  \(maker(save, members).text)"
        return [head] + contents(save).map { "  \($0)" }
    }

    private func contents(_ save: NotedSave) -> [String] {
        switch save.content {
        case .unknown(let entities):
            return ["rows of \(entities.joined(separator: ", ")), without details"]
        case .words(let words):
            guard let rows = rows(words) else { return [ChangeReader.undecodable] }
            let rest = rows.count - ChangeReader.rowLimit
            return rows.prefix(ChangeReader.rowLimit).map(\.line) + (rest > 0 ? ["and \(rest) more rows"] : [])
        }
    }

    private static let undecodable =
        "its changes cannot be decoded, because the app that made it has the model's attributes in another order, or other transient "
        + "attributes; pass that model with --model"

    func json(_ save: NotedSave, _ members: [StoreMember]) -> JSON {
        var unknown = JSON.null
        var changes = JSON.null
        switch save.content {
        case .unknown(let entities): unknown = .strings(entities)
        case .words(let words): changes = rows(words).map { .list($0.map(\.json)) } ?? .null
        }
        return .object([
            ("position", .number(Int(save.position))), ("time", .string(save.time.ISO8601Format())),
            ("member", maker(save, members).json), ("unknown", unknown), ("changes", changes),
        ])
    }

    /// Who made a save.
    private func maker(_ save: NotedSave, _ members: [StoreMember]) -> (text: String, json: JSON) {
        if let member = members.first(where: { $0.number == save.member }) {
            return (member.description, member.json)
        }
        return (save.member == 0 ? "another program" : "member \(save.member), which has ended", .null)
    }
}

extension ChangeReader.Row {
    /// `* Item 5: name "a" -> "b"`
    fileprivate var line: String {
        switch kind {
        case .inserted: "+ \(entity) \(key)" + list { "\($0.column.name) \($0.newText)" }
        case .updated: "* \(entity) \(key)" + list { "\($0.column.name) \($0.oldText) -> \($0.newText)" }
        case .deleted: "- \(entity) \(key)" + list { "\($0.column.name) \($0.oldText)" }
        }
    }

    private func list(_ text: (Value) -> String) -> String {
        let shown = values.filter { kind == .updated || $0.before != $0.after }
        return shown.isEmpty ? "" : ": " + shown.map(text).joined(separator: ", ")
    }

    fileprivate var json: JSON {
        .object([
            ("entity", .string(entity)), ("key", .number(Int(key))), ("change", .string(kind.rawValue)),
            ("attributes", .list(values.map { value in json(value) })),
        ])
    }

    private func json(_ value: Value) -> JSON {
        var members: [(String, JSON)] = [("name", .string(value.column.name))]
        if kind != .inserted { members.append(("before", ValueText(value.before, value.column).json)) }
        if kind != .deleted { members.append(("after", ValueText(value.after, value.column).json)) }
        return .object(members)
    }
}

extension ChangeReader.Row.Value {
    fileprivate var oldText: String { ValueText(before, column).text }
    fileprivate var newText: String { ValueText(after, column).text }
}
