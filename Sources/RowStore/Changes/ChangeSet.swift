/// The changes of one save: the rows before and after the save, by entity.
///
/// Rows are immutable and shared, so a copy of a change set costs almost nothing.
public struct ChangeSet: Sendable {
    /// The changes by entity, in the order of the model. Each entity occurs at most once.
    public var entities: [EntityChanges]
    /// The save's number in its container. The first save has the number 1. A change set without a number has 0.
    public var number: Int64 {
        get { saveNumber.rawValue }
        set { saveNumber = SaveNumber(newValue) }
    }
    /// The save's number in its container.
    package var saveNumber = SaveNumber.beforeFirst
    /// The origin of the save. Saves with the same origin can depend on each other. Two data sources have the same origin if
    /// they share a uniqueness constraint, or once their objects were linked or saved together. A store that refuses a save
    /// also refuses every later save with the same origin, with `saveRolledBack`.
    public var origin = 0
    /// Whether the change set undoes refused saves. Such a change set is never written.
    package var isRollback = false
    /// The leases under which the save was made; empty in a store that is not shared. If one of the leases is no longer valid,
    /// a shared store refuses the save with `leaseLost`.
    public var leases: [LeaseEpoch] = []
    /// The member of a shared store that made the save; nil for a save of this container.
    public var member: StoreMember?

    /// The parts of the save other than its rows; nil if there are none.
    private var notes: SaveNotes?
    /// The early write of the save's new rows; nil if no rows were written early.
    package var earlyWrite: EarlyWrite?

    /// Makes a change set, for example for the feed of a shared store.
    ///
    /// ```swift
    /// var contacts = EntityChanges(entity: layout.index)
    /// contacts.inserted.append(StoredRow(key: 12, row: row))
    /// let set = ChangeSet(entities: [contacts])
    /// ```
    public init(entities: [EntityChanges]) {
        self.entities = entities
    }

    /// The changes that the save makes to the store's scopes.
    package var scopes: [ScopeChange] {
        get { notes?.scopes ?? [] }
        set { note(newValue, facts) }
    }

    /// The facts of the save, such as its author; nil if they are not known.
    package var facts: SaveFacts? {
        get { notes?.facts }
        set { note(scopes, newValue) }
    }

    private mutating func note(_ scopes: [ScopeChange], _ facts: SaveFacts?) {
        notes = scopes.isEmpty && facts == nil ? nil : SaveNotes(scopes: scopes, facts: facts)
    }

    package var isEmpty: Bool { !hasRecord && scopes.isEmpty }

    /// Whether a kept history has a record of the save: true for a save with rows, and for each undo and redo. An undo or a redo
    /// may change no row, because the newer values were kept in all of its conflicts. The record then says that the step is
    /// done.
    package var hasRecord: Bool { !entities.isEmpty || facts?.undo != nil }

    /// Adds only the changes of rows that are not in the change set yet. So each row still occurs at most once.
    package mutating func add(_ changes: EntityChanges) {
        let index = entities.firstIndex { $0.entity >= changes.entity } ?? entities.endIndex
        guard index < entities.endIndex, entities[index].entity == changes.entity else {
            return entities.insert(changes, at: index)
        }
        var keys = Set(entities[index].keys)
        entities[index].sharedColumns = nil
        entities[index].inserted += changes.inserted.filter { keys.insert($0.key).inserted }
        entities[index].updated += changes.updated.filter { keys.insert($0.key).inserted }
        entities[index].deleted += changes.deleted.filter { keys.insert($0.key).inserted }
    }

    /// Whether each entity and each row occurs at most once.
    package var hasEachRowOnce: Bool {
        Set(entities.map(\.entity)).count == entities.count
            && entities.allSatisfy { Set($0.keys).count == $0.rowCount }
    }

    /// The highest key of an inserted row; 0 if there are no inserted rows.
    package var highestInsertedKey: Int64 {
        entities.reduce(0) { highest, changes in
            changes.inserted.reduce(highest) { max($0, $1.key) }
        }
    }

    package var rowCount: Int { entities.reduce(0) { $0 + $1.rowCount } }

    /// The estimated memory of the rows in the change set, in bytes.
    package var byteCount: Int {
        entities.reduce(0) { total, changes in
            var bytes = changes.rowCount * ChangeSet.bytesPerRow
            for row in changes.inserted { bytes += row.row.byteCount }
            for row in changes.updated { bytes += row.row.byteCount + row.previous.byteCount }
            for row in changes.deleted { bytes += row.row.byteCount }
            return total + bytes
        } + scopes.reduce(0) { $0 + $1.byteCount }
    }

    /// The memory of a row's entries in the change set and in the index of pending rows, in bytes, without the row's values.
    private static let bytesPerRow = 96
}

/// The parts of a save other than its rows. A change set has a single reference to them, because change sets are copied often.
private final class SaveNotes: Sendable {
    let scopes: [ScopeChange]
    let facts: SaveFacts?

    init(scopes: [ScopeChange], facts: SaveFacts?) {
        self.scopes = scopes
        self.facts = facts
    }
}

/// The changes of one save in the rows of one entity. Each key is in at most one of the lists ``inserted``, ``updated`` and
/// ``deleted``.
///
/// Rows can exchange unique values. So a store must first remove the deleted rows and the old versions of the updated rows, and
/// only then add new rows and new versions.
public struct EntityChanges: Sendable {
    /// The entity's index in ``ModelLayout/entities``. The entity is never abstract.
    public let entity: Int
    /// New rows, with keys that no earlier row had.
    public var inserted: [StoredRow] = []
    /// Rows with changed values.
    public var updated: [UpdatedRow] = []
    /// The columns that all updates change to the same values; nil if the updates differ. A store can write such updates with
    /// one statement.
    package var sharedColumns: ColumnSet?
    /// Deleted rows, with their last values. A store ignores a deleted row that does not exist.
    public var deleted: [StoredRow] = []

    /// Makes the changes of one entity, with no rows.
    ///
    /// ```swift
    /// var changes = EntityChanges(entity: layout.index)
    /// changes.deleted.append(StoredRow(key: 12, row: row))
    /// ```
    ///
    /// - Parameter entity: The entity's index in ``ModelLayout/entities``.
    public init(entity: Int) {
        self.entity = entity
    }

    /// Whether there are no changes.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    package var rowCount: Int { inserted.count + updated.count + deleted.count }
    package var keys: [Int64] { inserted.map(\.key) + updated.map(\.key) + deleted.map(\.key) }

    /// Adds the changes of other rows.
    package mutating func append(_ changes: EntityChanges) {
        inserted += changes.inserted
        updated += changes.updated
        deleted += changes.deleted
    }
}

/// A row with its key.
public struct StoredRow: Sendable {
    /// The key. It is unique in the whole store, and no later row gets the same key.
    public let key: Int64
    /// The values.
    public package(set) var row: RowSnapshot
    /// The values of the joined columns of the query that found the row; nil if the query has no joined columns.
    package var joined: RowSnapshot?

    /// Makes a row with its key.
    ///
    /// ```swift
    /// let stored = StoredRow(key: 12, row: try layout.row(values))
    /// ```
    public init(key: Int64, row: RowSnapshot) {
        self.key = key
        self.row = row
    }
}

/// A row that a save has changed, with its old and new values.
public struct UpdatedRow: Sendable {
    /// The key.
    public let key: Int64
    /// The new values.
    public let row: RowSnapshot
    /// The old values.
    public let previous: RowSnapshot
    /// The columns whose values differ; at least one. A shared store writes only these columns.
    public let columns: ColumnSet

    /// Makes an update, for the feed of a shared store.
    ///
    /// ```swift
    /// var columns = ColumnSet()
    /// columns.insert(changedColumn)
    /// let update = UpdatedRow(key: 12, row: new, previous: old, columns: columns)
    /// ```
    public init(key: Int64, row: RowSnapshot, previous: RowSnapshot, columns: ColumnSet) {
        self.key = key
        self.row = row
        self.previous = previous
        self.columns = columns
    }
}

/// A container that has a shared store open.
public struct StoreMember: Sendable, Hashable {
    /// The member's number. Members that join later have greater numbers.
    public let number: Int64
    /// The ID of the member's process on its machine.
    public let processID: Int32
    /// The name of the member: `Configuration.name` of its container, or else the name of its program. In a store on a server,
    /// the name of the host follows, as in `importer@mail-2`.
    public let name: String

    /// Makes a member.
    ///
    /// ```swift
    /// let member = StoreMember(number: 3, processID: 4711, name: "importer")
    /// ```
    public init(number: Int64, processID: Int32, name: String) {
        self.number = number
        self.processID = processID
        self.name = name
    }
}

extension StoreMember: CustomStringConvertible {
    /// The member as a string, for example `process 4711 (importer)`, or `process 4711 (importer@mail-2)` on a server.
    public var description: String { "process \(processID) (\(name))" }
}

/// The epoch that a lease had when a save was made.
public struct LeaseEpoch: Sendable, Hashable {
    /// The entity's index in ``ModelLayout/entities``.
    public let entity: Int
    /// The value of ``LeaseTable/Lease/epoch`` when the save was made.
    public let epoch: Int64

    /// Makes the epoch of an entity's lease.
    ///
    /// ```swift
    /// let isValid = set.leases.contains(
    ///     LeaseEpoch(entity: lease.entity, epoch: lease.epoch))
    /// ```
    public init(entity: Int, epoch: Int64) {
        self.entity = entity
        self.epoch = epoch
    }
}
