internal import RowStore
internal import Synchronization

/// What a read of the store may lack: the rows of saves that are not committed yet, or were not when the read began.
///
/// Looking up one row, by its key or by unique values, costs the same no matter how many saves are pending. The same holds for
/// the rows that lead to a row.
struct PendingRows {
    private let layout: ModelLayout
    /// The rows of small saves, by entity.
    private var tables: [PendingTable?]
    /// Large saves, the oldest first.
    private var blocks: [PendingBlock] = []
    /// How many pending rows have been looked at so far.
    let examined = PendingCounter()

    init(_ layout: ModelLayout) {
        self.layout = layout
        tables = Array(repeating: nil, count: layout.entities.count)
    }

    /// The block of a save that will be added, if it is large. Making it takes a while, and needs no lock.
    static func block(_ changes: ChangeSet, _ layout: ModelLayout) -> PendingBlock? {
        changes.rowCount < PendingBlock.smallestCount ? nil : PendingBlock(changes, number: 0, layout)
    }

    // MARK: Changing

    mutating func add(_ changes: ChangeSet, _ block: PendingBlock?) {
        if let block { return blocks.append(block.numbered(changes.number)) }
        for entity in changes.entities { add(entity, changes.number) }
    }

    private mutating func add(_ changes: EntityChanges, _ number: Int64) {
        let entity = changes.entity
        var table = tables[entity] ?? PendingTable(layout.entities[entity])
        tables[entity] = nil
        changes.forEachRow { table.put($0, PendingRow(number: number, row: $1)) }
        tables[entity] = table
    }

    /// Forgets the rows of a save, except those that a newer save has changed.
    mutating func remove(_ changes: ChangeSet) {
        if let block = blocks.firstIndex(where: { $0.number == changes.number }) {
            blocks.remove(at: block)
            return
        }
        for entity in changes.entities {
            guard var table = tables[entity.entity] else { continue }
            tables[entity.entity] = nil
            entity.forEachRow { key, _ in table.remove(key, leftBy: changes.number) }
            // The next save of the entity can have a small one.
            tables[entity.entity] = table.rows.isEmpty && !table.rows.isSmall ? nil : table
        }
    }

    /// Adds the rows of a save again, where those of newer saves have been removed.
    mutating func restore(_ changes: ChangeSet) {
        if blocks.contains(where: { $0.number == changes.number }) { return }
        for entity in changes.entities { add(entity, changes.number) }
    }

    mutating func removeAll() {
        blocks = []
        for entity in tables.indices { tables[entity] = nil }
    }

    // MARK: Looking

    /// What the newest save after that number left of a row; nil if none changed it.
    func row(_ entity: Int, _ key: Int64, after number: Int64) -> PendingRow? {
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

    /// The row with those values in the columns of a uniqueness constraint, of the saves after that number.
    func row(_ entity: Int, constraint: Int, values: [RowValue], after number: Int64) -> StoredRow? {
        if isEmpty(entity) { return nil }
        var hash = UniqueHash()
        for value in values { hash.combine(value) }
        let columns = layout.entities[entity].constraints[constraint]
        var keys = tables[entity]?.keys(constraint, hash.value) ?? []
        keys += blocks.compactMap { $0.key(entity, constraint: constraint, hash: hash.value, values: values) }
        for key in keys {
            // For a row that was saved more than once, only what the newest save left counts.
            if let row = row(entity, key, after: number)?.row, row.holds(values, columns) {
                return StoredRow(key: key, row: row)
            }
        }
        return nil
    }

    /// All rows of an entity that saves after that number left.
    func view(_ entity: Int, after number: Int64) -> PendingView {
        examined.add(count(entity))
        return PendingView(
            entity: entity, start: number, rows: tables[entity]?.rows ?? PartitionedRows(),
            blocks: blocks.filter { $0.number > number && !$0.isEmpty(entity) })
    }

    /// Rows of an entity that saves after that number left: those that replace stored rows that were found, and all that may
    /// lead to the requested ends.
    func view(_ entity: Int, _ lookup: LinkLookup?, under stored: [StoredRow], after number: Int64) -> PendingView {
        guard let lookup, stored.count < count(entity) else { return view(entity, after: number) }
        var keys = stored.map(\.key)
        for end in lookup.ends {
            if let table = tables[entity] { keys += table.sources(lookup.link, of: end) }
            for block in blocks { keys += block.sources(entity, lookup.link, of: end) }
        }
        var rows = PartitionedRows<Int64, PendingRow>()
        for key in keys {
            if let row = row(entity, key, after: number) { rows.updateValue(row, forKey: key) }
        }
        return PendingView(entity: entity, start: number, rows: rows, blocks: [])
    }

    /// Whether saves after that number left any row of an entity. It looks at rows until it finds one.
    func hasRow(_ entity: Int, after number: Int64) -> Bool {
        if let table = tables[entity] {
            for (key, row) in table.rows.all where row.row != nil {
                if self.row(entity, key, after: number)?.row != nil { return true }
            }
        }
        return blocks.contains { block in
            block.keys(entity).contains { row(entity, $0, after: number)?.row != nil }
        }
    }

    /// The most rows of an entity that a save copies for each row that it adds, after a snapshot was taken.
    func largestPartCount(_ entity: Int) -> Int { tables[entity]?.rows.largestPartCount ?? 0 }

    private func count(_ entity: Int) -> Int {
        blocks.reduce(tables[entity]?.rows.count ?? 0) { $0 + $1.count(entity) }
    }

    /// Whether there are rows of an entity that a read may lack.
    func isEmpty(_ entity: Int) -> Bool {
        (tables[entity]?.rows.isEmpty ?? true) && blocks.allSatisfy { $0.isEmpty(entity) }
    }
}

/// Counts the rows that are looked at, on any thread.
package final class PendingCounter: Sendable {
    private let count = Atomic(0)

    func add(_ count: Int) { self.count.wrappingAdd(count, ordering: .relaxed) }
    package var value: Int { count.load(ordering: .relaxed) }
}

/// The rows of one entity that a read of the store lacks.
struct PendingView: NewerRows {
    fileprivate let entity: Int
    fileprivate let start: Int64
    fileprivate let rows: PartitionedRows<Int64, PendingRow>
    /// The oldest first.
    fileprivate let blocks: [PendingBlock]

    var isEmpty: Bool { blocks.isEmpty && !rows.all.contains { $0.value.number > start } }

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

    /// Passes on the newest versions. Deleted rows are left out.
    private func forEachRow(_ body: (Int64, RowSnapshot) throws(DataSourceError) -> Void) throws(DataSourceError) {
        for (key, row) in rows.all where row.number > start && !isReplaced(key, after: row.number) {
            if let row = row.row { try body(key, row) }
        }
        for (place, block) in blocks.enumerated() {
            try block.forEachRow(entity) { (key, row) throws(DataSourceError) in
                if let newer = rows[key], newer.number > block.number { return }
                if blocks[(place + 1)...].contains(where: { $0.row(entity, key) != nil }) { return }
                if let row = row.row { try body(key, row) }
            }
        }
    }

    private func isReplaced(_ key: Int64, after number: Int64) -> Bool {
        blocks.contains { $0.number > number && $0.row(entity, key) != nil }
    }
}

/// The newest version of a row that some saves left.
struct PendingRow {
    /// The number of that save.
    let number: Int64
    /// Nil for a deleted row.
    let row: RowSnapshot?
}

extension EntityChanges {
    /// Passes on what the save left of each row that it changed: the new row, or nil for a deleted one.
    func forEachRow(_ body: (Int64, RowSnapshot?) -> Void) {
        for row in inserted { body(row.key, row.row) }
        for row in updated { body(row.key, row.row) }
        for row in deleted { body(row.key, nil) }
    }
}

extension RowSnapshot {
    /// The hash of the values in the columns of a uniqueness constraint; nil if one of them is null, because null never
    /// collides.
    func uniqueHash(_ columns: [Int], _ layout: EntityLayout) -> UInt64? {
        var hash = UniqueHash()
        for column in columns {
            if isNull(column) { return nil }
            hash.combine(self, column: column, storage: layout.columns[column].storage)
        }
        return hash.value
    }

    /// Whether the columns hold those values.
    func holds(_ values: [RowValue], _ columns: [Int]) -> Bool {
        columns.indices.allSatisfy { holds(values[$0], column: columns[$0]) }
    }
}
