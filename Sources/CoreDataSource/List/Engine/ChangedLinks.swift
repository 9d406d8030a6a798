internal import RowStore

/// Finds the objects whose to-many relationships a save changes. The rows of these objects do not contain the links.
///
/// Such an object counts as changed only for lists. The object itself is not edited, so a change of its links causes no
/// conflict.
package struct ChangedLinks: Sendable {
    /// The columns that store links of the list's objects, by entity or join table.
    private let sources: [Int: [LinkSource]]

    /// The entities and the join tables whose rows store links of the list's objects.
    var entities: Dictionary<Int, [LinkSource]>.Keys { sources.keys }

    package static let none = ChangedLinks(sources: [:])

    private init(sources: [Int: [LinkSource]]) { self.sources = sources }

    /// - Parameter family: The entities of the objects.
    package init(of family: [Int], _ layout: ModelLayout) {
        var sources: [Int: [LinkSource]] = [:]
        for source in family.flatMap({ layout.entities[$0].relationships.flatMap(\.linkSources) }) {
            let known = sources[source.layout, default: []]
            if !known.contains(where: { $0.owner == source.owner }) { sources[source.layout] = known + [source] }
        }
        self.sources = sources
    }

    init(ofRelationship links: GroupLinks) { sources = Dictionary(grouping: links.sources, by: \.layout) }

    /// Whether a save changes the links of any object of the list's entities.
    func isAny(in save: ChangeSet) -> Bool {
        save.entities.contains { changes in
            (sources[changes.entity] ?? []).contains { source in
                changes.inserted.contains { !$0.row.isNull(source.owner) }
                    || changes.deleted.contains { !$0.row.isNull(source.owner) }
                    || changes.updated.contains(where: source.isChanged)
            }
        }
    }

    /// Returns the keys of the objects whose links the saves change.
    func owners(in saves: [ChangeSet]) -> Set<Int64> {
        if sources.isEmpty { return [] }
        var owners: Set<Int64> = []
        for changes in saves.lazy.flatMap(\.entities) {
            for source in sources[changes.entity] ?? [] {
                for row in changes.inserted { source.add(row.row, to: &owners) }
                for row in changes.deleted { source.add(row.row, to: &owners) }
                for row in changes.updated where source.isChanged(row) {
                    source.add(row.previous, to: &owners)
                    source.add(row.row, to: &owners)
                }
            }
        }
        return owners
    }

    /// Returns the entities that store changed links, with the link columns that were updated. Join tables are left out,
    /// because a join table has no entity.
    func columns(in saves: [ChangeSet]) -> [Int: ColumnSet] {
        var columns: [Int: ColumnSet] = [:]
        for changes in saves.lazy.flatMap(\.entities) {
            for source in sources[changes.entity] ?? [] where source.other == nil {
                let isUpdated = changes.updated.contains(where: source.isChanged)
                var changed = columns[changes.entity] ?? ColumnSet()
                if isUpdated { changed.insert(source.owner) }
                columns[changes.entity] = changed
            }
        }
        return columns
    }
}

/// Rows of a list that count as changed even if a read finds equal values. Either a later save undid a change that the list has
/// shown, or a changed link is stored in another row.
package struct TouchedRows: Sendable, Equatable {
    /// The keys of the list's own rows.
    package var keys: Set<Int64> = []
    /// The changed related rows.
    var related = RelatedKeys()

    package init() {}

    package var isEmpty: Bool { keys.isEmpty && related.isEmpty }

    var count: Int { keys.count + related.count }

    mutating func formUnion(_ other: TouchedRows) {
        keys.formUnion(other.keys)
        related.formUnion(other.related)
    }

    /// Leaves out the keys of rows that the list does not have. If more related rows have changed than the list has rows, all
    /// rows of the list count as changed, and the related rows are left out.
    ///
    /// - Parameter rows: The rows of the list.
    func limited(to rows: RowStorage) -> TouchedRows {
        var limited = TouchedRows()
        let countsAll = related.count > rows.count
        if !countsAll { limited.related = related }
        rows.forEach { if countsAll || keys.contains($0.key) { limited.keys.insert($0.key) } }
        return limited
    }
}

extension ListQuery {
    /// Returns the rows that count as changed after the saves.
    func touchedRows(in saves: [ChangeSet]) -> TouchedRows {
        var touched = TouchedRows()
        touched.keys = links.owners(in: saves)
        for changes in saves.lazy.flatMap(\.entities) where family.contains(changes.entity) {
            for row in changes.updated { touched.keys.insert(row.key) }
            for row in changes.deleted { touched.keys.insert(row.key) }
        }
        touched.related = RelatedKeys(saves, relatedColumns)
        return touched
    }

    /// Returns the rows that several of the saves change. The last of these saves may have undone the earlier changes.
    func rowsChangedAgain(in saves: [ChangeSet]) -> TouchedRows {
        if saves.count < 2 { return TouchedRows() }
        var (touched, changed) = (TouchedRows(), Set<Int64>())
        for changes in saves.lazy.flatMap(\.entities) where family.contains(changes.entity) {
            let keys = [changes.updated.map(\.key), changes.deleted.map(\.key), changes.inserted.map(\.key)]
            for key in keys.joined() where !changed.insert(key).inserted { touched.keys.insert(key) }
        }
        // Add all related rows, because a value in a row may be made from several related rows.
        touched.related = RelatedKeys(saves, relatedColumns)
        return touched
    }

    /// Returns the keys of the list's rows that the saves change.
    func changedKeys(in saves: [ChangeSet]) -> Set<Int64> {
        var keys: Set<Int64> = []
        for changes in saves.lazy.flatMap(\.entities) where family.contains(changes.entity) {
            for row in changes.inserted { keys.insert(row.key) }
            for row in changes.updated { keys.insert(row.key) }
            for row in changes.deleted { keys.insert(row.key) }
        }
        return keys
    }
}

extension LinkSource {
    /// Whether an update changes the owner of a link or the position of the link.
    fileprivate func isChanged(_ row: UpdatedRow) -> Bool { columns.contains(where: row.columns.contains) }

    fileprivate func add(_ row: RowSnapshot, to owners: inout Set<Int64>) {
        if !row.isNull(owner) { owners.insert(row.integer(owner)) }
    }
}
