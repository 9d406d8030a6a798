internal import RowStore

/// Finds the objects whose to-many relationships a save changes. The links are not in the rows of these objects.
///
/// Such an object counts as changed only for lists. The object is not edited, so links to it cause no conflicts.
package struct ChangedLinks: Sendable {
    /// The columns that store links of a list's objects, by layout.
    private let sources: [Int: [LinkSource]]

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

    /// Whether a save changes links of any object.
    func isAny(in save: ChangeSet) -> Bool {
        save.entities.contains { changes in
            (sources[changes.entity] ?? []).contains { source in
                changes.inserted.contains { !$0.row.isNull(source.owner) }
                    || changes.deleted.contains { !$0.row.isNull(source.owner) }
                    || changes.updated.contains(where: source.isChanged)
            }
        }
    }

    /// The keys of the objects whose links the saves change.
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

    /// The changed entities that store links, with the link columns that were updated. Join tables are left out, because they
    /// have no entity.
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

/// Rows of a list that count as changed, even if a read finds equal values. A later save may have undone a change that the list
/// has shown, or a changed link is stored in another row.
package struct TouchedRows: Sendable, Equatable {
    /// The keys of rows of the list.
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

    /// The part that concerns the given rows of a list. If more related rows have changed than the list has rows, all rows of
    /// the list count as changed, and the related rows are left out.
    func limited(to rows: RowStorage) -> TouchedRows {
        var limited = TouchedRows()
        let countsAll = related.count > rows.count
        if !countsAll { limited.related = related }
        rows.forEach { if countsAll || keys.contains($0.key) { limited.keys.insert($0.key) } }
        return limited
    }
}

extension ListQuery {
    /// The rows that count as changed after the saves.
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

    /// The rows that several of the saves change, so that the last save may have undone the earlier changes.
    func rowsChangedAgain(in saves: [ChangeSet]) -> TouchedRows {
        if saves.count < 2 { return TouchedRows() }
        var (touched, changed) = (TouchedRows(), Set<Int64>())
        for changes in saves.lazy.flatMap(\.entities) where family.contains(changes.entity) {
            let keys = [changes.updated.map(\.key), changes.deleted.map(\.key), changes.inserted.map(\.key)]
            for key in keys.joined() where !changed.insert(key).inserted { touched.keys.insert(key) }
        }
        // A row may show a value that is made of several related rows.
        touched.related = RelatedKeys(saves, relatedColumns)
        return touched
    }

    /// The keys of the rows of the list that saves change.
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
    /// Whether an update changes the end of a link, or its position.
    fileprivate func isChanged(_ row: UpdatedRow) -> Bool { columns.contains(where: row.columns.contains) }

    fileprivate func add(_ row: RowSnapshot, to owners: inout Set<Int64>) {
        if !row.isNull(owner) { owners.insert(row.integer(owner)) }
    }
}
