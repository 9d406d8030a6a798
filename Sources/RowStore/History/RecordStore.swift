/// A record of the kept history, as a store returns it.
package struct StoredRecord: Sendable {
    package var number: Int64
    /// The time of the save, in milliseconds since 1970.
    package var time: Int64
    package var kind: HistoryKind
    package var dataSourceName: String?
    package var author: String?
    /// The record that the save undoes or redoes; nil if the save is neither an undo nor a redo.
    package var undo: UndoReference?
    /// See ``SaveFacts/revertsIncoming``.
    package var revertsIncoming = false
    /// The mark of a draft, for the save of the draft, and for each undo or redo of that save; nil for all other saves.
    package var mark: DraftMark?
    /// The container that made the save.
    package var member: StoreMember
    /// The names of the changed entities; empty if they are not known.
    package var entityNames: [String]
    /// Why there are no values, or what was reset or migrated; nil for a save with values.
    package var note: String?
    /// The changed rows, translated to the present model. Nil if the record has no values.
    package var changes: ChangeSet?

    package init(number: Int64, time: Int64, kind: HistoryKind, member: StoreMember, entityNames: [String]) {
        self.number = number
        self.time = time
        self.kind = kind
        self.member = member
        self.entityNames = entityNames
    }

    /// The kind as stores write it: see ``SaveFacts/kindText``.
    var kindText: String {
        let reversal: SaveReversal? = revertsIncoming ? .record(isIncoming: true) : undo.map { .step($0) }
        return SaveFacts(kind, dataSourceName: nil, author: nil, reversal: reversal, mark: mark).kindText
    }

    /// Whether the record may have values of a server: a data source has stored them, or a revert, an undo or a redo has
    /// brought them back or taken them away.
    package var hasIncomingValues: Bool { kind == .incoming || undo != nil || revertsIncoming }

    /// Whether this is the record of an undo or a redo that has changed nothing, because the newer values were kept in all of its
    /// conflicts.
    package var isPassedStep: Bool { undo != nil && note == nil && entityNames.isEmpty }

    /// The approximate number of bytes that a row of a record adds to the size of the history, besides the row's changes. A record
    /// has a row for each part of its changes: ``HistoryEncoding/forEachPart(of:_:)``.
    package static let rowOverhead = 160

    /// Returns the number of bytes that the texts of a record add to the size of the history. Short texts add nothing,
    /// because ``rowOverhead`` includes them. Long texts must count, because an app may give authors of any length.
    package static func byteCount(ofTexts texts: [String?]) -> Int {
        max(0, texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) } - textRoom)
    }

    private static let textRoom = 128

    /// The number of bytes that the texts of the record add to the size of the history: see ``byteCount(ofTexts:)``.
    package var textByteCount: Int {
        StoredRecord.byteCount(ofTexts: [dataSourceName, author, member.name, note] + entityNames)
    }

    /// The note of the first record of a history that begins in an existing store. Without this record, a consumer of an
    /// earlier history would not notice that it has missed saves.
    package static let begun = "The history begins here. Earlier saves have no record."

    package static let tooLarge = "The save is too large for the history."
}

extension StoredRecord {
    /// - Parameter kindText: See ``SaveFacts/kindText``.
    package init(number: Int64, time: Int64, kindText: String, member: StoreMember, entityNames: [String]) {
        // Most records have only a kind. Then do not split the text.
        let words = kindText.utf8.contains(UInt8(ascii: " ")) ? kindText.split(separator: " ") : []
        let facts = words.dropFirst()
        let end = facts.firstIndex(of: "draft") ?? facts.endIndex
        let (undo, mark) = (UndoReference(facts[..<end]), DraftMark(facts[end...]))
        let revertsIncoming = facts == [Substring(SaveFacts.revertWord)]
        let kind = undo == nil && mark == nil && !revertsIncoming ? kindText : String(words[0])
        self.init(
            number: number, time: time, kind: HistoryKind(rawValue: kind), member: member, entityNames: entityNames)
        (self.undo, self.mark, self.revertsIncoming) = (undo, mark, revertsIncoming)
    }
}

/// Some records of a history, the oldest first.
package struct HistoryPage: Sendable {
    package var historyID: String
    package var records: [StoredRecord] = []
    /// The position after the last record that the store looked at, even if the filter leaves out that record.
    package var position: HistoryPosition
    /// Whether the history has more records after ``position``.
    package var isMore = false

    package init(historyID: String, position: HistoryPosition) {
        self.historyID = historyID
        self.position = position
    }
}

/// Reads the history that a store keeps.
package protocol RecordStore: Sendable {
    /// Whether the store keeps a history. The value does not change while the store is open.
    var keepsHistory: Bool { get }

    /// Returns the first records after a position.
    ///
    /// - Parameters:
    ///   - position: The position; nil to begin with the oldest record.
    ///   - filter: The records to return.
    /// - Throws: `historyNotKept`, `historyExpired`, `historyOfOtherStore`; errors of the store.
    func readHistory(
        after position: HistoryPosition?, _ filter: HistoryFilter
    ) throws(DataSourceError) -> HistoryPage

    /// The position after the newest record.
    ///
    /// - Throws: `historyNotKept`; errors of the store.
    func historyEnd() throws(DataSourceError) -> HistoryPosition

    /// Changes the registered consumers.
    ///
    /// - Returns: The position of the consumer after the change; nil after a removal.
    /// - Throws: `historyNotKept`, `historyOfOtherStore`; `historyExpired` if the history no longer has the new position;
    ///   errors of the store.
    func changeConsumer(_ name: String, _ change: ConsumerChange) throws(DataSourceError) -> HistoryPosition?
}

/// A change of a consumer of a history.
package enum ConsumerChange: Sendable {
    /// Registers the consumer, if it is not registered.
    case register
    /// Keeps the position of a registered consumer. If the consumer is not registered, compares `historyID` with the ID of
    /// the history. If the IDs differ, registers the consumer again. If the IDs are equal, the consumer was removed: throws
    /// `historyNotKept`.
    case resume(historyID: String)
    /// Moves the consumer forward. Does nothing if the consumer has already reached the position.
    case move(HistoryPosition)
    case remove

    /// Returns the position of the consumer after the change; nil after a removal.
    ///
    /// - Parameters:
    ///   - known: The position of the consumer; nil if it is not registered.
    ///   - checked: Checks a position, and returns it. Returns the start of the history for nil.
    package func position(
        of name: String, after known: HistoryPosition?,
        checked: (HistoryPosition?) throws(DataSourceError) -> HistoryPosition
    ) throws(DataSourceError) -> HistoryPosition? {
        switch self {
        case .register, .resume:
            if let known { return known }
            let start = try checked(nil)
            if case .resume(start.historyID) = self { throw DataSourceError(unknownConsumer: name) }
            return start
        case .move(let position):
            guard let known else { throw DataSourceError(unknownConsumer: name) }
            guard position.historyID == known.historyID else { throw DataSourceError.historyOfOtherStore }
            return position.number > known.number ? try checked(position) : known
        case .remove: return nil
        }
    }
}

extension HistoryPosition {
    /// Checks that a kept history has all records after the position.
    ///
    /// - Parameters:
    ///   - start: The position before the oldest record.
    ///   - endedReason: Takes the ID of a history. Returns why the store ended this history; nil for a history of another
    ///     store.
    package func check(
        start: HistoryPosition, endedReason: (String) throws(DataSourceError) -> String?
    ) throws(DataSourceError) {
        guard historyID == start.historyID else {
            guard let reason = try endedReason(historyID) else { throw DataSourceError.historyOfOtherStore }
            throw DataSourceError(historyExpired: reason, start: start)
        }
        if number < start.number {
            throw DataSourceError(
                historyExpired: "The store keeps records for a limited time and in a limited number of bytes.",
                start: start)
        }
    }
}

extension DataSourceError {
    package static let historyNotKept = DataSourceError(
        .historyNotKept,
        "The store keeps no history. Open it with Configuration.history = .kept(for:upTo:). From then on, saves are recorded."
    )

    package static let customStoreWithoutHistory = DataSourceError(
        .historyNotKept,
        "The custom store cannot keep a history, because it does not declare HistoryStore. Open the store without Configuration.history, or use one of the stores of this library."
    )

    package init(historyExpired reason: String, start: HistoryPosition) {
        self.init(
            .historyExpired,
            "The history no longer has all records after the position: \(reason) Read all objects, then go on at historyStart."
        )
        historyStart = start
    }

    package static let historyOfOtherStore = DataSourceError(
        .historyOfOtherStore,
        "The position belongs to another store, or to a history that was switched off since. Read all objects, then read the history from its start."
    )

    package init(unknownConsumer name: String) {
        self.init(
            .historyNotKept,
            "The history has no consumer named \(name): it was removed, or the store was reset. Register the consumer again."
        )
    }
}
