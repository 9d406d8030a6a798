internal import ManagedModel
package import ModelMigration

/// Encodes the changes of saves for the kept history, in parts.
///
/// The encoded words have the same form as in the feed of a shared store. They contain numbers instead of names. So for each
/// layout of its records, a store also keeps the names: ``HistoryNames``. For an update, the words contain the old row and
/// the changed new values. Large values that the update has not changed are left out: the old row has only their lengths.
package struct HistoryEncoding: Sendable {
    private let layout: ModelLayout
    private let encoding: ChangeEncoding

    /// A part ends with the row that reaches one of these limits. So a part may have more bytes than the limit.
    package static let rowLimit = 512
    package static let byteLimit = 256 << 10

    package init(_ layout: ModelLayout) {
        self.layout = layout
        encoding = ChangeEncoding(layout)
    }

    /// Identifies the names and the order of all entities and columns.
    package var signature: UInt64 { encoding.signature }
    package var names: HistoryNames { HistoryNames(layout) }

    /// The key with which a store keeps the names of the layout that has a signature.
    package static func namesKey(_ signature: UInt64) -> String { "names \(String(signature, radix: 16))" }

    /// Returns the names of all layouts after a migration to this layout. The parts of the other layouts get the names that they
    /// have in this layout. This layout's own names get no later names. If no record uses a layout any more, the value for the
    /// layout is nil: the store must drop the names.
    ///
    /// - Parameters:
    ///   - layouts: The names before the migration, by their ``namesKey(_:)``.
    ///   - records: The numbers of the kept records; nil if there are none.
    package func followed(
        _ layouts: [String: HistoryNames], through names: MigratedNames, records: ClosedRange<Int64>?
    ) -> [String: HistoryNames?] {
        var followed = layouts.mapValues { $0.followed(through: names, to: layout, records: records) }
        let own = HistoryEncoding.namesKey(signature)
        if layouts[own] != nil { followed[own] = .some(self.names) }
        return followed
    }

    /// Returns the names of the entities that a save changes. For links, the name of the relationship.
    package func entityNames(_ changes: ChangeSet) -> [String] {
        changes.entities.map { layout.entities[$0.entity].historyName }
    }

    /// The approximate size of a record of the changes, in bytes: the size of the rows without the values that are left out.
    package func byteCount(_ changes: ChangeSet) -> Int {
        changes.entities.reduce(changes.byteCount) { bytes, entity in
            let layout = layout.entities[entity.entity]
            if layout.deferredColumns.isEmpty { return bytes }
            return entity.updated.reduce(bytes) { bytes, update in
                // Subtract each value twice: both the old and the new row have it.
                update.unchangedLargeColumns(layout).reduce(bytes) { $0 - 2 * update.previous.blobByteCount($1) }
            }
        }
    }

    /// The size in bytes of the rows with which a store records the changes. The byte limit of a history bounds the sum of these sizes
    /// and of the sizes of the records' texts.
    func recordedByteCount(_ changes: ChangeSet) -> Int {
        var bytes = 0
        forEachPart(of: changes) { words, _ in bytes += words.count * 8 + StoredRecord.rowOverhead }
        return bytes
    }

    /// Passes the parts of the changes to a closure, in their order.
    ///
    /// - Parameter body: Gets the words of a part, and whether it is the last one.
    package func forEachPart<Failure: Error>(
        of changes: ChangeSet, _ body: (_ words: ContiguousArray<UInt64>, _ isLast: Bool) throws(Failure) -> Void
    ) throws(Failure) {
        var part = PartBuilder(layout)
        for entity in changes.entities {
            for row in entity.inserted {
                if part.isFull { try body(encoding.allWords(part.take()), false) }
                part.add(inserted: row, entity.entity)
            }
            for row in entity.updated {
                if part.isFull { try body(encoding.allWords(part.take()), false) }
                part.add(updated: row, entity.entity)
            }
            for row in entity.deleted {
                if part.isFull { try body(encoding.allWords(part.take()), false) }
                part.add(deleted: row, entity.entity)
            }
        }
        try body(encoding.allWords(part.take()), true)
    }

    /// Decodes a part of a record.
    ///
    /// - Parameter names: Takes a signature, and returns the names of the layout that has this signature.
    /// - Returns: The changes in the layout of this model; nil if the words are damaged.
    package func changes(
        _ words: ContiguousArray<UInt64>, _ names: (UInt64) throws(DataSourceError) -> HistoryNames?
    ) throws(DataSourceError) -> ChangeSet? {
        guard let first = words.first else { return nil }
        if first == signature {
            return words.withUnsafeBufferPointer(encoding.changesWithOmittedValues)?.withCompleteUpdates(layout)
        }
        guard let names = try names(first) else { return nil }
        return words.withUnsafeBufferPointer { words in
            ChangeEncoding.changes(words, names.shapes, allowsOmittedValues: true)
        }
        .map { names.translate($0, to: layout).withCompleteUpdates(layout) }
    }
}

/// Collects the rows of one part.
private struct PartBuilder {
    private let layout: ModelLayout
    private var entities: [EntityChanges] = []
    private var rowCount = 0
    private var byteCount = 0

    init(_ layout: ModelLayout) {
        self.layout = layout
    }

    var isFull: Bool { rowCount >= HistoryEncoding.rowLimit || byteCount >= HistoryEncoding.byteLimit }

    mutating func take() -> ChangeSet {
        defer { (entities, rowCount, byteCount) = ([], 0, 0) }
        return ChangeSet(entities: entities)
    }

    mutating func add(inserted row: StoredRow, _ entity: Int) {
        let index = count(row.row.byteCount, entity)
        entities[index].inserted.append(row)
    }

    mutating func add(deleted row: StoredRow, _ entity: Int) {
        let index = count(row.row.byteCount, entity)
        entities[index].deleted.append(row)
    }

    mutating func add(updated row: UpdatedRow, _ entity: Int) {
        let layout = layout.entities[entity]
        let changed = layout.storedColumns.filter(row.columns.contains)
        // The update changes only transient attributes, which are not in the store.
        if changed.isEmpty { return }
        let previous = row.omittingUnchangedLargeValues(layout)
        let new = row.row.keeping(changed, layout)
        let index = count(new.byteCount + previous.byteCount, entity)
        entities[index].updated.append(
            UpdatedRow(key: row.key, row: new, previous: previous, columns: row.columns))
    }

    /// Counts a row and its bytes, and adds an element to `entities` if the last one is of another entity.
    ///
    /// - Returns: The index of the row's entity in `entities`.
    private mutating func count(_ bytes: Int, _ entity: Int) -> Int {
        rowCount += 1
        byteCount += bytes
        if entities.last?.entity != entity { entities.append(EntityChanges(entity: entity)) }
        return entities.count - 1
    }
}

extension UpdatedRow {
    /// The columns with large values that the update has not changed.
    fileprivate func unchangedLargeColumns(_ layout: EntityLayout) -> [Int] {
        layout.deferredColumns.filter { column in
            !columns.contains(column) && !previous.isDeferred(column)
                && previous.blobByteCount(column) > RowSnapshot.longestInlineValue
        }
    }

    /// Returns the old row. The large values that the update has not changed are deferred: only their sizes stay in the row.
    fileprivate func omittingUnchangedLargeValues(_ layout: EntityLayout) -> RowSnapshot {
        let omitted = unchangedLargeColumns(layout)
        if omitted.isEmpty { return previous }
        // If a value is set to null, the row still has its bytes. So make a new row from the other values.
        var row = previous.keeping(layout.storedColumns.filter { !omitted.contains($0) }, layout)
        for column in omitted { row.setDeferred(byteCount: previous.blobByteCount(column), column) }
        return row
    }
}

extension ChangeSet {
    /// Returns the changes with complete new rows: the recorded new rows have only the changed values.
    fileprivate func withCompleteUpdates(_ layout: ModelLayout) -> ChangeSet {
        var changes = self
        for index in entities.indices where !entities[index].updated.isEmpty {
            let entity = layout.entities[entities[index].entity]
            let columns = entity.storages
            changes.entities[index].updated = entities[index].updated.map { update in
                var previous = update.previous
                // Only the values of deferred columns can be left out. If another value is left out, the record is damaged, and
                // the value becomes null.
                for column in columns.indices where columns[column] == .blob && previous.isDeferred(column) {
                    if !entity.deferredColumns.contains(column) { previous.setNull(column) }
                }
                var row = previous
                for column in columns.indices where update.columns.contains(column) {
                    row.setValue(update.row.value(column, columns[column]), column)
                }
                return UpdatedRow(key: update.key, row: row, previous: previous, columns: update.columns)
            }
        }
        return changes
    }

    /// Adds the changes of the next part of the same record.
    package mutating func add(part: ChangeSet) {
        for changes in part.entities {
            guard entities.last?.entity == changes.entity else {
                entities.append(changes)
                continue
            }
            entities[entities.count - 1].append(changes)
        }
    }
}

extension ModelLayout {
    /// The ``EntityLayout/historyName`` of the entity in an older version of the model; nil if the name has not changed.
    func formerHistoryName(_ entity: EntityLayout) -> String? {
        guard let links = entity.links else { return entity.formerName }
        guard let (owner, relationship) = relationship(ofLinks: entity) else { return nil }
        let former = relationship.description.renamingIdentifier
        if owner.formerName == nil, former == nil { return nil }
        return "\(owner.formerName ?? links.entity).\(former ?? links.name)"
    }
}

extension HistoryFilter {
    /// Returns the filter with all names under which stored records may name its entities. For an entity, adds the names and
    /// the former names of the entity and its sub-entities. For a relationship, adds the name under which the links are
    /// recorded, and its former name.
    package func resolved(_ layout: ModelLayout) -> HistoryFilter {
        guard let names = entityNames else { return self }
        var filter = self
        for name in names {
            for index in layout.recordedEntities(named: name) {
                let entity = layout.entities[index]
                filter.entityNames?.insert(entity.historyName)
                if let former = layout.formerHistoryName(entity) { filter.entityNames?.insert(former) }
            }
        }
        return filter
    }
}

extension ModelLayout {
    /// The indexes of the layouts whose rows a name means: an entity with its sub-entities, or the links of a relationship.
    fileprivate func recordedEntities(named name: String) -> [Int] {
        if let entity = entity(named: name) { return entity.concreteFamily }
        guard let point = name.firstIndex(of: "."), let owner = entity(named: String(name[..<point])),
            let index = owner.relationship(named: String(name[name.index(after: point)...])),
            case .pairs(let pairs) = owner.relationships[index].storage
        else { return [] }
        return [pairs.layout]
    }
}

extension EntityLayout {
    /// The name of the entity in records of the history. For links, the name of the relationship, such as
    /// `ContactEntity.groups`.
    package var historyName: String { links.map { "\($0.entity).\($0.name)" } ?? name }
}
