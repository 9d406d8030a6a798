internal import RowStore
internal import Synchronization

/// The rows of saves that were not committed when a read of the store began. So the read might not find these rows there.
///
/// The number of small pending saves does not affect the time of a look-up by key, by unique values, or by the
/// destination of a link. Each large pending save adds a search in the block of the save.
struct PendingRows {
    private let layout: ModelLayout
    /// The rows of small saves, by entity.
    private var tables: [PendingTable?]
    /// The blocks of large saves, the oldest first.
    private var blocks: [PendingBlock] = []
    /// The number of pending rows that were examined so far.
    let examined = PendingCounter()

    init(_ layout: ModelLayout) {
        self.layout = layout
        tables = Array(repeating: nil, count: layout.entities.count)
    }

    /// Returns the block of a large save; nil for a small save. Making a block takes long. So make the block before the save is
    /// added, without locking the log.
    static func block(_ changes: ChangeSet, _ layout: ModelLayout) -> PendingBlock? {
        changes.rowCount < PendingBlock.smallestCount ? nil : PendingBlock(changes, number: .beforeFirst, layout)
    }

    // MARK: Changing

    mutating func add(_ changes: ChangeSet, _ block: PendingBlock?) {
        if let block { return blocks.append(block.numbered(changes.saveNumber)) }
        for entity in changes.entities { add(entity, changes.saveNumber) }
    }

    private mutating func add(_ changes: EntityChanges, _ number: SaveNumber) {
        let entity = changes.entity
        var table = tables[entity] ?? PendingTable(layout.entities[entity])
        tables[entity] = nil
        changes.forEachRow { table.put($0, PendingRow(number: number, row: $1)) }
        tables[entity] = table
    }

    /// Removes the rows of a save, except rows that a newer save has changed.
    mutating func remove(_ changes: ChangeSet) {
        if let block = blocks.firstIndex(where: { $0.number == changes.saveNumber }) {
            blocks.remove(at: block)
            return
        }
        for entity in changes.entities {
            guard var table = tables[entity.entity] else { continue }
            tables[entity.entity] = nil
            entity.forEachRow { key, _ in table.remove(key, lastChangedBy: changes.saveNumber) }
            // Drop an empty large table, so that the next save of the entity begins with a small table.
            tables[entity.entity] = table.rows.isEmpty && !table.rows.isSmall ? nil : table
        }
    }

    /// Adds the rows of a save again, after rows of newer saves were removed.
    mutating func restore(_ changes: ChangeSet) {
        if blocks.contains(where: { $0.number == changes.saveNumber }) { return }
        for entity in changes.entities { add(entity, changes.saveNumber) }
    }

    mutating func removeAll() {
        blocks = []
        for entity in tables.indices { tables[entity] = nil }
    }

    // MARK: Looking

    /// Returns the newest version of a row, if its save came after `number`; otherwise nil.
    func row(_ entity: Int, _ key: Int64, after number: SaveNumber) -> PendingRow? {
        var newest = tables[entity]?.rows[key]
        examined.add(1 + blocks.count)
        for block in blocks.reversed() {
            if let newest, newest.number > block.number { break }
            if let row = block.row(entity, key) {
                newest = row
                break
            }
        }
        return newest.flatMap { $0.number > number ? $0 : nil }
    }

    /// Returns the row with the given values in the columns of a uniqueness constraint, among the rows of saves after `number`.
    func row(_ entity: Int, constraint: Int, values: [RowValue], after number: SaveNumber) -> StoredRow? {
        if isEmpty(entity) { return nil }
        var hash = UniqueHash()
        for value in values { hash.combine(value) }
        let columns = layout.entities[entity].constraints[constraint]
        var keys = tables[entity]?.keys(constraint, hash.value) ?? []
        keys += blocks.compactMap { $0.key(entity, constraint: constraint, hash: hash.value, values: values) }
        for key in keys {
            // If a row was saved more than once, only its newest version counts.
            if let row = row(entity, key, after: number)?.row, row.holds(values, columns) {
                return StoredRow(key: key, row: row)
            }
        }
        return nil
    }

    /// Returns all rows of an entity from saves after `number`.
    func view(_ entity: Int, after number: SaveNumber) -> PendingView {
        examined.add(count(entity))
        return PendingView(
            entity: entity, start: number, rows: tables[entity]?.rows ?? PartitionedRows(),
            blocks: blocks.filter { $0.number > number && !$0.isEmpty(entity) })
    }

    /// Returns rows of an entity from saves after `number`: the rows that replace the given stored rows, and all rows that may
    /// link to the destinations of the look-up.
    func view(_ entity: Int, _ lookup: LinkLookup?, under stored: [StoredRow], after number: SaveNumber) -> PendingView
    {
        guard let lookup, stored.count < count(entity) else { return view(entity, after: number) }
        var keys = stored.map(\.key)
        for end in lookup.ends {
            if let table = tables[entity] { keys += table.sources(lookup.link, of: end) }
            for block in blocks { keys += block.sources(entity, link: lookup.link, of: end) }
        }
        var rows = PartitionedRows<Int64, PendingRow>()
        for key in keys {
            if let row = row(entity, key, after: number) { rows.updateValue(row, forKey: key) }
        }
        return PendingView(entity: entity, start: number, rows: rows, blocks: [])
    }

    /// Whether an entity has an undeleted row from a save after `number`.
    ///
    /// **Complexity**: visits rows until it finds an undeleted row.
    func hasRow(_ entity: Int, after number: SaveNumber) -> Bool {
        if let table = tables[entity] {
            for (key, row) in table.rows.all where row.row != nil {
                if self.row(entity, key, after: number)?.row != nil { return true }
            }
        }
        return blocks.contains { block in
            block.keys(entity).contains { row(entity, $0, after: number)?.row != nil }
        }
    }

    /// The number of rows in the largest part of an entity's rows. After a snapshot was taken, adding a row to the entity
    /// copies one part.
    func largestPartCount(_ entity: Int) -> Int { tables[entity]?.rows.largestPartCount ?? 0 }

    private func count(_ entity: Int) -> Int {
        blocks.reduce(tables[entity]?.rows.count ?? 0) { $0 + $1.count(entity) }
    }

    /// Whether no rows of an entity are pending.
    func isEmpty(_ entity: Int) -> Bool {
        (tables[entity]?.rows.isEmpty ?? true) && blocks.allSatisfy { $0.isEmpty(entity) }
    }
}

/// The number of examined rows. The counter can be used on any thread.
package final class PendingCounter: Sendable {
    private let count = Atomic(0)

    func add(_ count: Int) { self.count.wrappingAdd(count, ordering: .relaxed) }
    package var value: Int { count.load(ordering: .relaxed) }
}

/// The rows of one entity that a read of the store might have missed.
struct PendingView: NewerRows {
    fileprivate let entity: Int
    fileprivate let start: SaveNumber
    fileprivate let rows: PartitionedRows<Int64, PendingRow>
    /// The blocks, the oldest first.
    fileprivate let blocks: [PendingBlock]

    var isEmpty: Bool { blocks.isEmpty && !rows.all.contains { $0.value.number > start } }

    /// An upper bound of the number of rows that replace or delete older rows.
    var greatestCount: Int { blocks.reduce(rows.count) { $0 + $1.count(entity) } }

    func replaces(_ key: Int64) -> Bool {
        if let row = rows[key], row.number > start { return true }
        return blocks.contains { $0.row(entity, key) != nil }
    }

    func rows(_ query: RowQuery, _ layout: EntityLayout) throws(DataSourceError) -> [StoredRow] {
        var matching: [StoredRow] = []
        try forEachRow { (key, row) throws(DataSourceError) in
            if try query.predicate.evaluate(row, key: key, layout, query.budget) {
                matching.append(StoredRow(key: key, row: row))
            }
        }
        return matching
    }

    /// Calls the body for the newest version of each row. Deleted rows are left out.
    private func forEachRow(_ body: (Int64, RowSnapshot) throws(DataSourceError) -> Void) throws(DataSourceError) {
        for (key, row) in rows.all where row.number > start && !isReplaced(key, after: row.number) {
            if let row = row.row { try body(key, row) }
        }
        for (index, block) in blocks.enumerated() {
            try block.forEachRow(entity) { (key, row) throws(DataSourceError) in
                if let newer = rows[key], newer.number > block.number { return }
                if blocks[(index + 1)...].contains(where: { $0.row(entity, key) != nil }) { return }
                if let row = row.row { try body(key, row) }
            }
        }
    }

    private func isReplaced(_ key: Int64, after number: SaveNumber) -> Bool {
        blocks.contains { $0.number > number && $0.row(entity, key) != nil }
    }
}

/// The state of a row after a save.
struct PendingRow {
    /// The number of the save.
    let number: SaveNumber
    /// Nil for a deleted row.
    let row: RowSnapshot?
}

extension EntityChanges {
    /// Calls the body for each row that the save changed: with the new row, or with nil for a deleted row.
    func forEachRow(_ body: (Int64, RowSnapshot?) -> Void) {
        for row in inserted { body(row.key, row.row) }
        for row in updated { body(row.key, row.row) }
        for row in deleted { body(row.key, nil) }
    }
}

extension RowSnapshot {
    /// Returns the hash of the values in the columns of a uniqueness constraint. Returns nil if one of the values is null,
    /// because null is never a duplicate.
    func uniqueHash(_ columns: [Int], _ layout: EntityLayout) -> UInt64? {
        var hash = UniqueHash()
        for column in columns {
            if isNull(column) { return nil }
            hash.combine(self, column: column, storage: layout.columns[column].storage)
        }
        return hash.value
    }

    /// Whether the columns have the given values.
    func holds(_ values: [RowValue], _ columns: [Int]) -> Bool {
        columns.indices.allSatisfy { holds(values[$0], column: columns[$0]) }
    }
}
