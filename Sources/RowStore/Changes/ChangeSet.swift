/// The changes of one save: rows before and after, by entity.
///
/// Rows are immutable and shared, so keeping and copying a change set costs nothing.
public struct ChangeSet: Sendable {
    /// At most one element for each entity, in the order of the model.
    public var entities: [EntityChanges]
    /// The save's number in its container: 1 for the first save, and so on; 0 for a change set without a number.
    public var number: Int64 = 0
    /// Saves with the same origin may depend on each other. Data sources that share a uniqueness constraint have the same
    /// origin. A store that refuses a save also refuses every later save with that origin, with `saveRolledBack`.
    public var origin = 0
    /// Whether the change set undoes refused saves. No store writes such a change set.
    package var isRollback = false
    /// The leases under which the save was made; empty in a store that is not shared. If one of the leases is no longer valid,
    /// a shared store refuses the save with `leaseLost`.
    public var leases: [LeaseEpoch] = []
    /// The other member of a shared store that made the save; nil for a save of this container.
    public var member: StoreMember?

    /// The early write of the save's new rows; nil if there is none.
    package var earlyWrite: EarlyWrite?

    /// Makes a change set, as the feed of a shared store does.
    ///
    /// ```swift
    /// var contacts = EntityChanges(entity: layout.index)
    /// contacts.inserted.append(StoredRow(key: 12, row: row))
    /// let set = ChangeSet(entities: [contacts])
    /// ```
    public init(entities: [EntityChanges]) {
        self.entities = entities
    }

    package var isEmpty: Bool { entities.isEmpty }

    /// Adds the changes of rows that are not in the change set yet, so that each row occurs at most once.
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

    /// The highest key among the inserted rows; 0 without inserted rows.
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
        }
    }

    /// The bytes of a row's entries in the change set and in the index of pending rows, without its values.
    private static let bytesPerRow = 96
}

/// The changes of one save in the rows of one entity. A key is in at most one of the three lists.
///
/// Rows may exchange unique values, so remove all old rows before you add the new ones.
public struct EntityChanges: Sendable {
    /// The entity's index in ``ModelLayout/entities``. The entity is never abstract.
    public let entity: Int
    /// New rows. No earlier row had one of their keys.
    public var inserted: [StoredRow] = []
    /// Rows with changed values.
    public var updated: [UpdatedRow] = []
    /// The columns that every updated row changes, all to the same values; nil if the updates differ. A store can write such
    /// rows with one statement.
    package var sharedColumns: ColumnSet?
    /// Deleted rows, with their last values. A store ignores a deleted row that does not exist.
    public var deleted: [StoredRow] = []

    /// Makes the changes of one entity, without rows.
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

    /// Whether no row changes.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    package var rowCount: Int { inserted.count + updated.count + deleted.count }
    fileprivate var keys: [Int64] { inserted.map(\.key) + updated.map(\.key) + deleted.map(\.key) }
}

/// A row with its key.
public struct StoredRow: Sendable {
    /// The key. It is unique among all entities, and never used again.
    public let key: Int64
    /// The values.
    public package(set) var row: RowSnapshot
    /// The joined columns of the query that found the row; nil without joined columns.
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

/// A row that a save changed, with its old and new values.
public struct UpdatedRow: Sendable {
    /// The key.
    public let key: Int64
    /// The new values.
    public let row: RowSnapshot
    /// The old values.
    public let previous: RowSnapshot
    /// The columns whose values differ, at least one. A shared store writes only these columns.
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
    /// The member's number. A later member has a greater number.
    public let number: Int64
    /// The ID of the member's process on its machine.
    public let processID: Int32
    /// The name of the member's program.
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
    /// `process 4711 (importer)`
    public var description: String { "process \(processID) (\(name))" }
}

/// The epoch of a lease when a save was made.
public struct LeaseEpoch: Sendable, Hashable {
    /// The entity's index in ``ModelLayout/entities``.
    public let entity: Int
    /// The ``LeaseTable/Lease/epoch`` when the save was made.
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
