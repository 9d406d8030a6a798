/// The kind of work that made the changes of a record in the kept history. A release may add new kinds, so a switch over kinds
/// needs a default branch.
public struct HistoryKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String

    /// The kind with the given raw value, for example from a log.
    ///
    /// ```swift
    /// let kind = HistoryKind(rawValue: "incoming")
    /// ```
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }

    /// Values were added, synced or deleted: `add`, `sync` and `delete` of a data source.
    public static let incoming = HistoryKind(rawValue: "incoming")
    /// Objects were edited: `perform`, `update(_:where:set:)`, `delete(_:where:)` and drafts.
    public static let local = HistoryKind(rawValue: "local")
    /// Objects of a scope were deleted because they are too old or too many: ``ScopeEviction``. An undo passes over the record.
    /// Evictions in the save of an answer have no record of their own: they belong to the record of the answer, which has the
    /// kind ``incoming``.
    public static let eviction = HistoryKind(rawValue: "eviction")
    /// A graph was imported.
    public static let imported = HistoryKind(rawValue: "imported")
    /// The store was emptied, wholly or for one data source, and the history begins with this record. Or the store was restored
    /// from a copy, or the history has begun in a store that existed before. The record has no values: read all objects.
    public static let reset = HistoryKind(rawValue: "reset")
    /// The store was migrated to another model. The record has no values.
    public static let migration = HistoryKind(rawValue: "migration")
    /// A program that is not a container of the store has written to it. The record has no values.
    public static let outsideWrites = HistoryKind(rawValue: "outsideWrites")
}

/// What the kept history records about a save, besides the rows of the save.
package final class SaveFacts: Sendable {
    package let kind: HistoryKind
    /// The class name of the data source that made the save; nil if no data source made it.
    package let dataSourceName: String?
    /// The author that the app gave; nil if the app gave no author.
    package let author: String?
    /// The record that the save reverts; nil if the save reverts no record.
    package let reversal: SaveReversal?
    /// The mark of a draft, for the save of the draft, and for each undo or redo of that save; nil for all other saves.
    package let mark: DraftMark?

    static let revertWord = "revert"

    package init(
        _ kind: HistoryKind, dataSourceName: String?, author: String?, reversal: SaveReversal? = nil,
        mark: DraftMark? = nil
    ) {
        self.kind = kind
        self.dataSourceName = dataSourceName
        self.author = author
        self.reversal = reversal
        self.mark = mark
    }

    /// The record that the save undoes or redoes; nil if the save is neither an undo nor a redo.
    package var undo: UndoReference? { if case .step(let undo, _) = reversal { undo } else { nil } }

    /// Whether the save reverts a record that may have values of a server, and is neither an undo nor a redo.
    package var revertsIncoming: Bool { reversal == .record(isIncoming: true) }

    /// The kind as stores write it, followed by the record that the save undoes or redoes, and by the mark of a draft. For
    /// example, `local undo 12` or `local draft 9f`. The revert of a record with values of a server is `local revert`.
    package var kindText: String {
        if revertsIncoming { return "\(kind.rawValue) \(SaveFacts.revertWord)" }
        if undo == nil, mark == nil { return kind.rawValue }
        return ([kind.rawValue] + [undo?.description, mark?.description].compactMap(\.self)).joined(separator: " ")
    }
}

/// Marks the save of a draft in the kept history, so that the draft finds the record of the save. The number is random.
package struct DraftMark: Sendable, Hashable, CustomStringConvertible {
    private let number: UInt64

    package init() { number = .random(in: 0 ... .max) }

    /// For example `draft 9f`.
    package var description: String { "draft \(String(number, radix: 16))" }

    /// - Parameter words: The words of ``description``.
    init?(_ words: ArraySlice<Substring>) {
        guard words.count == 2, words.first == "draft", let number = words.last.flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        self.number = number
    }
}

/// How a save reverts a record. `isIncoming` says whether the record may have values of a server: a data source has stored them,
/// or a revert, an undo or a redo has brought them back or removed them.
package enum SaveReversal: Sendable, Hashable {
    /// The save reverts a record that the app has passed to `revert`.
    case record(isIncoming: Bool)
    /// The save undoes or redoes a record of an author.
    case step(UndoReference, isIncoming: Bool = false)

    package var isIncoming: Bool {
        switch self {
        case .record(let isIncoming), .step(_, let isIncoming): isIncoming
        }
    }
}

/// The record that a save undoes or redoes, and the newer records of the author in which nothing was left to undo or redo.
package struct UndoReference: Sendable, Hashable, CustomStringConvertible {
    package let isUndo: Bool
    /// The numbers from the undone or redone record to the newest of the newer records. All other records of the author in
    /// this range were reverted earlier, or had nothing left to undo or redo.
    package let numbers: ClosedRange<Int64>

    package init(isUndo: Bool, _ numbers: ClosedRange<Int64>) {
        self.isUndo = isUndo
        self.numbers = numbers
    }

    /// For example `undo 12`, or `undo 12 15` if the newer records up to number 15 had nothing left to undo.
    package var description: String {
        let passed = numbers.lowerBound < numbers.upperBound ? " \(numbers.upperBound)" : ""
        return "\(isUndo ? "undo" : "redo") \(numbers.lowerBound)\(passed)"
    }

    /// - Parameter words: The words of ``description``.
    init?(_ words: ArraySlice<Substring>) {
        guard words.count == 2 || words.count == 3, let word = words.first, word == "undo" || word == "redo",
            let first = Int64(words[words.startIndex + 1]), let last = words.last.flatMap({ Int64($0) }), first <= last
        else { return nil }
        self.init(isUndo: word == "undo", first...last)
    }
}
