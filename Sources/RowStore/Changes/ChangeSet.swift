/// The changes of one save: rows before and after, by entity.
///
/// Rows are immutable and shared, so keeping and copying a change set costs nothing.
public struct ChangeSet: Sendable {
    /// At most one element for each entity, in the order of the model.
    public var entities: [EntityChanges]
    /// The number of the save in its container, counted from 1 in the order in which saves were made; 0 until it has one.
    public var number: Int64 = 0
    /// Identifies the saves that this one may depend on: earlier ones with the same origin. Data sources that share a
    /// constraint have one origin. A store that refuses a save refuses every later one with the same origin with
    /// `saveTakenBack`.
    public var origin = 0
    /// Whether it undoes saves that were refused, so that no store has to write its rows.
    package var isTakeBack = false
    /// The leases that it was made under; empty in a store that is not shared. A shared store refuses it with `leaseLost` if
    /// one of them is no longer valid.
    public var leases: [LeaseEpoch] = []
    /// The container that made it, if it was another one, in a shared store.
    public var maker: StoreMember?

    /// What may be written of it already.
    package var earlyWrite: EarlyWrite?

    /// Makes a change set, as the feed of a shared store does.
    public init(entities: [EntityChanges]) {
        self.entities = entities
    }

    package var isEmpty: Bool { entities.isEmpty }

    /// Adds changes of rows that it does not have yet. Those of other rows are left out, so it has each entity and each row once.
    package mutating func add(_ changes: EntityChanges) {
        let place = entities.firstIndex { $0.entity >= changes.entity } ?? entities.endIndex
        guard place < entities.endIndex, entities[place].entity == changes.entity else {
            return entities.insert(changes, at: place)
        }
        var keys = Set(entities[place].keys)
        entities[place].sharedColumns = nil
        entities[place].inserted += changes.inserted.filter { keys.insert($0.key).inserted }
        entities[place].updated += changes.updated.filter { keys.insert($0.key).inserted }
        entities[place].deleted += changes.deleted.filter { keys.insert($0.key).inserted }
    }

    /// Whether it has no entity and no row twice.
    package var holdsEachRowOnce: Bool {
        Set(entities.map(\.entity)).count == entities.count
            && entities.allSatisfy { Set($0.keys).count == $0.rowCount }
    }

    /// The highest key among the inserted rows; 0 if there are none.
    package var highestInsertedKey: Int64 {
        entities.reduce(0) { highest, changes in
            changes.inserted.reduce(highest) { max($0, $1.key) }
        }
    }

    package var rowCount: Int { entities.reduce(0) { $0 + $1.rowCount } }

    /// An estimate of the memory of the rows that it keeps alive, in bytes.
    package var byteCount: Int {
        entities.reduce(0) { total, changes in
            var bytes = changes.rowCount * ChangeSet.bytesPerRow
            for row in changes.inserted { bytes += row.row.byteCount }
            for row in changes.updated { bytes += row.row.byteCount + row.previous.byteCount }
            for row in changes.deleted { bytes += row.row.byteCount }
            return total + bytes
        }
    }

    /// The cost of a row beside its values: its entries in the change set and in the index of pending rows.
    private static let bytesPerRow = 96
}

/// The changes of one save in the rows of one entity. A key is in at most one of the three lists.
///
/// Rows may take over and exchange unique values, so remove all old rows before you add the new ones.
public struct EntityChanges: Sendable {
    /// The entity's place in ``ModelLayout/entities``. It is never an abstract one.
    public let entity: Int
    /// New rows. Their keys have never been used.
    public var inserted: [StoredRow] = []
    /// Rows with changed values.
    public var updated: [UpdatedRow] = []
    /// Columns that have the same new values in all updated rows, if no other columns differ. A store can write them with one
    /// statement.
    package var sharedColumns: ColumnSet?
    /// Deleted rows, as they were. Deleting a row that the store does not have is no error.
    public var deleted: [StoredRow] = []

    /// Makes one without changes.
    ///
    /// - Parameter entity: The entity's place in ``ModelLayout/entities``.
    public init(entity: Int) {
        self.entity = entity
    }

    /// Whether nothing changes.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    package var rowCount: Int { inserted.count + updated.count + deleted.count }
    fileprivate var keys: [Int64] { inserted.map(\.key) + updated.map(\.key) + deleted.map(\.key) }
}

/// A row with its key.
public struct StoredRow: Sendable {
    /// The key. A container never gives a key twice, for any entity.
    public let key: Int64
    /// The values.
    public package(set) var row: RowSnapshot
    /// The joined columns of the query that found the row; nil if there are none.
    package var joined: RowSnapshot?

    /// Makes a row with its key.
    public init(key: Int64, row: RowSnapshot) {
        self.key = key
        self.row = row
    }
}

/// A row that a save changed, before and after.
public struct UpdatedRow: Sendable {
    /// The key.
    public let key: Int64
    /// The values as they are now.
    public let row: RowSnapshot
    /// The values as they were.
    public let previous: RowSnapshot
    /// The columns that differ; never empty. A shared store sets only these.
    public let columns: ColumnSet

    /// Makes an update, for the feed of a shared store.
    public init(key: Int64, row: RowSnapshot, previous: RowSnapshot, columns: ColumnSet) {
        self.key = key
        self.row = row
        self.previous = previous
        self.columns = columns
    }
}

/// A container that shares a store.
public struct StoreMember: Sendable, Hashable {
    /// It grows from one member to the next.
    public let number: Int64
    /// The number of its process, on its machine.
    public let processID: Int32
    /// The name of its program.
    public let name: String

    /// Describes a member.
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

/// A lease at the moment when a save was made.
public struct LeaseEpoch: Sendable, Hashable {
    /// The entity's place in ``ModelLayout/entities``.
    public let entity: Int
    /// ``LeaseTable/Lease/epoch`` when the save was made.
    public let epoch: Int64

    /// Makes an epoch.
    public init(entity: Int, epoch: Int64) {
        self.entity = entity
        self.epoch = epoch
    }
}
