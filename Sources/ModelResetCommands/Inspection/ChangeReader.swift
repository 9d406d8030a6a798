internal import Foundation
internal import ManagedModel
internal import RowStore

/// Decodes the changes of saves. Tries each model from the command line, and then the model in the store.
struct ChangeReader {
    /// A row that a save changed.
    struct Row {
        enum Kind: String {
            case inserted, updated, deleted
        }

        /// The value of one column before and after a save. The value before an insert and the value after a delete are null.
        struct Value {
            let column: ColumnLayout
            let before: RowValue
            let after: RowValue
        }

        let kind: Kind
        let entity: String
        let key: Int64
        let values: [Value]
    }

    private let readers: [(layout: ModelLayout, encoding: ChangeEncoding)]

    /// - Parameter models: The models from the command line. They are tried before the store's copy of the model, because
    ///   the copy has no transient attributes and lists the other attributes in a different order.
    init(_ metadata: StoreMetadata, _ models: [ManagedObjectModel]) {
        let own = metadata.model().map { [$0] } ?? []
        readers = (models + own).map { model in
            let layout = ModelLayout(model)
            return (layout, ChangeEncoding(layout))
        }
    }

    /// Returns the changed rows; nil if no model can decode them.
    func rows(_ words: ContiguousArray<UInt64>) -> [Row]? {
        for (layout, encoding) in readers {
            guard let changes = words.withUnsafeBufferPointer(encoding.changes) else { continue }
            return ChangeReader.rows(changes, layout)
        }
        return nil
    }

    /// The rows of decoded changes.
    static func rows(_ changes: ChangeSet, _ layout: ModelLayout) -> [Row] {
        changes.entities.flatMap { rows($0, layout.entities[$0.entity]) }
    }

    private static func rows(_ changes: EntityChanges, _ layout: EntityLayout) -> [Row] {
        let inserted = changes.inserted.map { stored in
            row(.inserted, of: layout, key: stored.key, columns: layout.storedColumns, before: nil, after: stored.row)
        }
        let updated = changes.updated.map { updated in
            row(
                .updated, of: layout, key: updated.key,
                columns: layout.storedColumns.filter(updated.columns.contains), before: updated.previous,
                after: updated.row)
        }
        let deleted = changes.deleted.map { stored in
            row(.deleted, of: layout, key: stored.key, columns: layout.storedColumns, before: stored.row, after: nil)
        }
        return inserted + updated + deleted
    }

    private static func row(
        _ kind: Row.Kind, of layout: EntityLayout, key: Int64, columns: [Int], before: RowSnapshot?,
        after: RowSnapshot?
    ) -> Row {
        let values = columns.map { column in
            let description = layout.columns[column]
            return Row.Value(
                column: description, before: before?.value(column, description.storage) ?? .null,
                after: after?.value(column, description.storage) ?? .null)
        }
        return Row(kind: kind, entity: layout.name, key: key, values: values)
    }
}

/// The output for a save.
extension ChangeReader {
    /// The maximum number of shown rows for each save.
    private static let rowLimit = 20

    func lines(_ save: RecordedSave, _ members: [StoreMember]) -> [String] {
        let head = "\(save.position)  \(save.time.ISO8601Format())  \(member(save, members).text)"
        return [head] + contents(save).map { "  \($0)" }
    }

    private func contents(_ save: RecordedSave) -> [String] {
        switch save.content {
        case .unknown(let entities):
            return ["rows of \(entities.joined(separator: ", ")), without details"]
        case .words(let words):
            return rows(words).map(ChangeReader.lines) ?? [ChangeReader.undecodable]
        }
    }

    /// The lines of the first `rowLimit` rows, and a line with the number of the other rows.
    static func lines(_ rows: [Row]) -> [String] {
        let rest = rows.count - rowLimit
        return rows.prefix(rowLimit).map(\.line) + (rest > 0 ? ["and \(rest) more \(rest == 1 ? "row" : "rows")"] : [])
    }

    /// The rows as JSON.
    static func json(_ rows: [Row]) -> JSON { .list(rows.map(\.json)) }

    private static let undecodable =
        "its changes cannot be decoded, because the model of the app that saved has another order of attributes, or other "
        + "transient attributes; pass that model with --model"

    func json(_ save: RecordedSave, _ members: [StoreMember]) -> JSON {
        var unknown = JSON.null
        var changes = JSON.null
        switch save.content {
        case .unknown(let entities): unknown = .strings(entities)
        case .words(let words): changes = rows(words).map { .list($0.map(\.json)) } ?? .null
        }
        return .object([
            ("position", .number(Int(save.position))), ("time", .string(save.time.ISO8601Format())),
            ("member", member(save, members).json), ("unknown", unknown), ("changes", changes),
        ])
    }

    /// Returns the member that made a save, as text and as JSON.
    private func member(_ save: RecordedSave, _ members: [StoreMember]) -> (text: String, json: JSON) {
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
