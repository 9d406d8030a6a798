internal import Foundation
internal import ManagedModel

/// The names of the entities and columns of a layout. With the names, records can be read after the model has changed.
///
/// Each migration of the store adds the names that the parts have after the migration: ``followed(through:to:)``.
package struct HistoryNames: Sendable, Codable, Equatable {
    struct Entity: Sendable, Codable, Equatable {
        var name: String
        var columns: [Column]
        /// The name after the newest migration of the store. Empty if a migration has removed the entity; nil if the store has not
        /// been migrated since it had this layout.
        var newName: String?
    }

    struct Column: Sendable, Codable, Equatable {
        var name: String
        var storage: UInt8
        /// See ``Entity/newName``.
        var newName: String?
    }

    var entities: [Entity]
    /// The number of the newest record when a migration replaced the layout. No later record uses the layout. Nil for the layout of
    /// the store.
    private(set) var lastRecord: Int64?

    package init(_ layout: ModelLayout) {
        entities = layout.entities.map { entity in
            Entity(
                name: entity.historyName,
                columns: entity.columns.map { Column(name: $0.name, storage: $0.storage.rawValue) })
        }
    }

    /// Decodes ``text``. Returns nil if the text is damaged.
    package init?(text: String) {
        guard let names = try? JSONDecoder().decode(HistoryNames.self, from: Data(text.utf8)),
            names.entities.allSatisfy({ $0.columns.allSatisfy { ColumnStorage(rawValue: $0.storage) != nil } })
        else { return nil }
        self = names
    }

    /// The names as JSON.
    package var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Returns the names, with the number of the last record that can use the layout. Returns nil if the store has dropped all
    /// records of the layout, so that the names are no longer needed.
    ///
    /// - Parameter records: The numbers of the kept records; nil if there are none.
    func used(by records: ClosedRange<Int64>?) -> HistoryNames? {
        guard let records else { return nil }
        var names = self
        names.lastRecord = min(lastRecord ?? .max, records.upperBound)
        return names.lastRecord.map { $0 < records.lowerBound } == true ? nil : names
    }

    /// The shapes of the rows.
    var shapes: [RowShape] {
        entities.map { entity in
            RowShape(storages: ContiguousArray(entity.columns.map { ColumnStorage(rawValue: $0.storage) ?? .blob }))
        }
    }

    /// Translates a change set to another layout. The change set uses the layout that has these names. The result leaves out
    /// entities and columns that the other layout does not have, and columns whose storage differs. Renamed entities,
    /// attributes and relationships are found by their names after the migrations of the store. If the store has not been
    /// migrated, they are found by their renaming identifiers.
    func translate(_ changes: ChangeSet, to layout: ModelLayout) -> ChangeSet {
        let targets = targets(in: layout)
        var translated = ChangeSet(entities: [])
        for old in changes.entities {
            guard let target = targets[old.entity] else { continue }
            let map = ColumnMap(from: entities[old.entity], to: target) { number in
                guard number >= 0, number < Int64(entities.count) else { return nil }
                return targets[Int(number)].map { Int64($0.index) }
            }
            var new = EntityChanges(entity: target.index)
            new.inserted = old.inserted.map { StoredRow(key: $0.key, row: map.row($0.row)) }
            new.deleted = old.deleted.map { StoredRow(key: $0.key, row: map.row($0.row)) }
            new.updated = old.updated.compactMap(map.update)
            if !new.isEmpty { translated.add(part: ChangeSet(entities: [new])) }
        }
        return translated
    }

    /// The entities of another layout, in the order of ``entities``; nil for an entity that the other layout does not have.
    private func targets(in layout: ModelLayout) -> [EntityLayout?] {
        let known = Dictionary(layout.entities.map { ($0.historyName, $0) }) { first, _ in first }
        if entities.contains(where: { $0.newName != nil }) {
            return entities.map { entity in entity.newName.flatMap { known[$0] } }
        }
        let renamed = RenamedNames(
            layout.entities.map { ($0.historyName, layout.formerHistoryName($0)) }, Set(entities.map(\.name)))
        let targets = Dictionary(
            layout.entities.compactMap { entity in renamed.oldName(of: entity.historyName).map { ($0, entity) } }
        ) { first, _ in first }
        return entities.map { targets[$0.name] }
    }
}

/// Translates the rows of an entity from an old layout to another layout.
private struct ColumnMap {
    /// The old and the new index of each column that both layouts have, and its storage.
    private var pairs: [(old: Int, new: Int, storage: ColumnStorage)] = []
    /// The new columns whose values are indexes of entities.
    private let entityColumns: Set<Int>
    /// A row with the default values of the attributes that the old layout does not have. As in a migration, all rows get these
    /// values.
    private var blank: RowSnapshot
    private let entityNumber: (Int64) -> Int64?

    init(
        from old: HistoryNames.Entity, to target: EntityLayout, _ entityNumber: @escaping (Int64) -> Int64?
    ) {
        self.entityNumber = entityNumber
        blank = RowSnapshot(columnCount: target.columns.count)
        let known = old.newName == nil ? ColumnMap.columns(of: old, namedAs: target) : ColumnMap.columns(of: old)
        for (index, column) in target.columns.enumerated() where column.isStored {
            let found = known[column.name]
            if found == nil, let value = column.attribute.flatMap({ RowValue(defaultOf: $0) }) {
                blank.setValue(value, index)
            }
            guard let found, old.columns[found].storage == column.storage.rawValue else {
                continue
            }
            pairs.append((found, index, column.storage))
        }
        entityColumns = target.entityNumberColumns
    }

    /// The old indexes of the columns, by the names of the columns after the migrations of the store.
    private static func columns(of old: HistoryNames.Entity) -> [String: Int] {
        let named = old.columns.enumerated().compactMap { index, column in column.newName.map { ($0, index) } }
        return Dictionary(named) { first, _ in first }
    }

    /// The old indexes of the columns, by the names in another layout. The columns are found by their names and renaming
    /// identifiers.
    private static func columns(of old: HistoryNames.Entity, namedAs target: EntityLayout) -> [String: Int] {
        let known = Dictionary(old.columns.enumerated().map { ($1.name, $0) }) { first, _ in first }
        let renamed = RenamedNames(target.columns.map { ($0.name, target.formerName(of: $0)) }, Set(known.keys))
        return target.columns.reduce(into: [:]) { columns, column in
            columns[column.name] = renamed.oldName(of: column.name).flatMap { known[$0] }
        }
    }

    func row(_ old: RowSnapshot) -> RowSnapshot {
        var row = blank
        for pair in pairs {
            if pair.storage == .blob, old.isDeferred(pair.old) {
                row.setDeferred(byteCount: old.blobByteCount(pair.old), pair.new)
                continue
            }
            var value = old.value(pair.old, pair.storage)
            if entityColumns.contains(pair.new), case .integer(let number) = value {
                value = entityNumber(number).map { .integer($0) } ?? .null
            }
            row.setValue(value, pair.new)
        }
        return row
    }

    /// Returns nil if the update changes no column that the new layout has.
    func update(_ old: UpdatedRow) -> UpdatedRow? {
        var columns = ColumnSet()
        for pair in pairs where old.columns.contains(pair.old) { columns.insert(pair.new) }
        if columns.isEmpty { return nil }
        return UpdatedRow(key: old.key, row: row(old.row), previous: row(old.previous), columns: columns)
    }
}

/// The old names of renamed parts of a model.
private struct RenamedNames {
    private var oldNames: [String: String] = [:]

    /// - Parameters:
    ///   - names: The new names, each with the name in an older version of the model; nil if the name has not changed.
    ///   - known: The names in the old layout.
    init(_ names: [(name: String, former: String?)], _ known: Set<String>) {
        var taken: Set<String> = []
        for (name, former) in names {
            // If the old layout already has the new name, the part was renamed before the layout was stored.
            guard !known.contains(name), let former, known.contains(former) else { continue }
            oldNames[name] = former
            taken.insert(former)
        }
        for (name, _) in names where oldNames[name] == nil && known.contains(name) && !taken.contains(name) {
            oldNames[name] = name
        }
    }

    /// The old name of a part; nil if the old layout does not have the part.
    func oldName(of name: String) -> String? { oldNames[name] }
}

extension EntityLayout {
    /// The name of a column in an older version of the model; nil if the name has not changed. Always nil for a part of a
    /// composite.
    fileprivate func formerName(of column: ColumnLayout) -> String? {
        if let attribute = column.attribute {
            return column.name == attribute.name ? attribute.renamingIdentifier : nil
        }
        // The columns of a relationship are named after the relationship, for example `group.position`.
        let parts = column.name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let index = relationship(named: String(parts[0])),
            let former = relationships[index].description.renamingIdentifier
        else { return nil }
        return ([former] + parts.dropFirst().map(String.init)).joined(separator: ".")
    }

    /// The columns whose values are indexes of entities.
    fileprivate var entityNumberColumns: Set<Int> {
        if links != nil {
            let pairs = pairColumns(isReversed: false)
            return Set([pairs.own.entity, pairs.other.entity].compactMap(\.self))
        }
        return Set(
            relationships.compactMap { relationship in
                if case .column(let link) = relationship.storage { link.entity } else { nil }
            })
    }
}
