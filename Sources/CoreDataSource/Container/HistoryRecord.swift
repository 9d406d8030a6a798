public import Foundation
public import RowStore

/// A save, or another event, of the kept history: ``PersistentContainer/history(after:where:)``.
///
/// ```swift
/// for try await record in container.history() where record.author != "sync" {
///     print(record.date, record.author ?? "-", record.entityNames)
/// }
/// ```
public struct HistoryRecord: Sendable {
    /// The position after this record. Keep the position to continue after this record later.
    public let position: HistoryPosition
    private let record: StoredRecord
    private let objects: DetachedObjectFactory

    init(_ record: StoredRecord, _ historyID: String, _ objects: DetachedObjectFactory) {
        self.record = record
        self.objects = objects
        position = HistoryPosition(historyID: historyID, number: record.number, time: record.time)
    }

    /// The number of the record. Numbers have no gaps. After a reset, they begin with 1 again.
    public var number: Int64 { record.number }
    /// The time of the save, by the clock of the machine that made it; on a server, by the clock of the server.
    public var date: Date { Date(timeIntervalSince1970: Double(record.time) / 1000) }
    /// The kind of work that made the changes.
    public var kind: HistoryKind { record.kind }
    /// The class name of the data source that made the save. For a save of several data sources, the name of the first one.
    public var dataSourceName: String? { record.dataSourceName }
    /// The author of the save: ``PersistentContainer/withAuthor(_:isolation:_:)``.
    public var author: String? { record.author }
    /// The container and the process that made the save. The number is 0 for a store that is not shared.
    public var member: StoreMember { record.member }
    /// The names of the entities whose objects have changed, and the names of many-to-many relationships whose links have
    /// changed, in the form `ContactEntity.groups`. Empty for events whose entities are not known, and for an undo or
    /// a redo that has changed nothing. A record from before a migration has the names of the earlier model.
    public var entityNames: [String] { record.entityNames }
    /// Whether the record has the old and new values. It has none if the save was too large (``KeptHistory/kept(for:upTo:)``),
    /// or if the event was not a save.
    public var hasValues: Bool { record.changes != nil }
    /// For a record without values, what has happened; otherwise nil.
    public var note: String? { record.note }

    /// The changes of the objects of a class and its subclasses: inserts, then updates, then deletes.
    ///
    /// ```swift
    /// for change in try record.changes(of: ContactEntity.self) {
    ///     print(change.id, change.changedProperties)
    /// }
    /// ```
    ///
    /// If the model has changed since, the values are found by their names. Values of entities and attributes that the model
    /// no longer has, or that are stored in another form now, are left out. If only the type of a value has changed, such as
    /// from `Double` to `Date`, and not the stored form, the value is read with the new type.
    ///
    /// **Complexity**: O(*n*) for *n* changed objects.
    ///
    /// - Parameter type: The class; `ManagedObject` for the changes of all objects.
    /// - Returns: The changes; none if ``hasValues`` is false.
    /// - Throws: `unknownEntity` if the class is not in the model.
    public func changes<Object: ManagedObject>(of type: Object.Type) throws -> [SavedChange<Object>] {
        try CommittedSave(record.changes ?? ChangeSet(entities: []), objects).changes(of: type)
    }

    /// The changed links of many-to-many relationships, and of to-many relationships without an inverse.
    ///
    /// ```swift
    /// for link in record.linkChanges where link.kind == .insert {
    ///     print(link.source, link.relationshipName, link.destination)
    /// }
    /// ```
    public var linkChanges: [SavedLink] {
        CommittedSave(record.changes ?? ChangeSet(entities: []), objects).linkChanges
    }

    /// The recorded rows. For tests.
    package var changeSet: ChangeSet? { record.changes }
}

extension DraftReport {
    /// The record of the history that an undo, a redo or a revert has reverted; nil after the save of a draft.
    public var revertedRecord: HistoryRecord? { reverted.map { HistoryRecord($0.record, $0.historyID, $0.objects) } }
}

extension HistoryRecord {
    /// The record for a report.
    var entry: RevertedEntry { RevertedEntry(record: record, historyID: position.historyID, objects: objects) }
}

extension HistoryRecord: CustomStringConvertible {
    /// The number, the kind, the author and the entities: `record 12: local by editor: ContactEntity`.
    public var description: String {
        let author = author.map { " by \($0)" } ?? ""
        let subject = note ?? entityNames.joined(separator: ", ")
        return "record \(number): \(kind)\(author): \(subject)"
    }
}
