internal import RowStore

/// Finds the links that other saves have made to the objects that a revert deletes.
extension DraftComparison {
    /// The largest number of objects whose links are read at once.
    private static let objectsPerRead = 500

    /// Makes the deletion of an object a conflict if another save has linked another object to it since the record. The deletion
    /// would remove this link. Links in the object's own row are compared with the row.
    ///
    /// Not for drafts: whoever deletes an object in a draft sees its links.
    mutating func compareLinksToDeletedObjects() throws {
        var deletions: [LinkEnd: Int] = [:]
        for (index, part) in parts.enumerated() where part.conflict == nil {
            if case .deletion = part.kind, let end = row(part)?.end { deletions[end] = index }
        }
        for (entity, ends) in Dictionary(grouping: deletions.keys, by: \.entity).sorted(by: { $0.key < $1.key }) {
            let keys = ends.map(\.key).sorted()
            for links in incomingLinks(entity) {
                for part in keys.chunks(ofSize: Self.objectsPerRead) {
                    try compareLinks(links, to: entity, part, deletions)
                }
            }
        }
    }

    /// Compares the links to some objects of an entity.
    private mutating func compareLinks(
        _ links: IncomingLinks, to entity: Int, _ keys: ArraySlice<Int64>, _ deletions: [LinkEnd: Int]
    ) throws {
        // Each row of the record has made at most one of these links. So more than half of the links in a full read are links of
        // others. A cascade may also reach objects of others, which do not count here, so all links of a cascade are read.
        var limit = links.isCascade ? nil : 2 * difference.rows.count + Self.objectsPerRead
        var waiting = keys
        while true {
            let undecided = waiting.filter { key in
                deletions[LinkEnd(entity: entity, key: key)].map { parts[$0].conflict == nil } ?? false
            }
            waiting = undecided[...]
            if waiting.isEmpty { return }
            let found = try read(links, to: entity, waiting, limit: limit)
            var isConflictFound = false
            for link in found {
                guard let end = link.row.end(links.column, [entity]), let index = deletions[end],
                    parts[index].conflict == nil, isOfOthers(link, links, to: end)
                else { continue }
                parts[index].conflict = DraftChange(id(end), nil, .deletedHere)
                isConflictFound = true
            }
            guard let most = limit, found.count >= most else { return }
            // One link of others is enough for a conflict. If none was found, read all links.
            if !isConflictFound { limit = nil }
        }
    }

    /// If the deletion of an object that the record has inserted is dropped, drops the deletions of the objects to which this
    /// object is linked, too. Otherwise the object would lose these links, which it may require. The conflict of an object was
    /// decided separately.
    ///
    /// - Returns: The objects whose deletions are dropped.
    mutating func keepObjectsOfKeptLinks() -> Set<LinkEnd> {
        var kept = Set(
            parts.compactMap { part in
                if case .deletion = part.kind, part.isDropped { row(part)?.end } else { nil }
            })
        if kept.isEmpty { return [] }
        var deletions: [LinkEnd: Int] = [:]
        var linked: [LinkEnd: [LinkEnd]] = [:]
        for (index, part) in parts.enumerated() where part.conflict == nil && !part.isDropped {
            guard let row = row(part) else { continue }
            switch part.kind {
            case .deletion: deletions[row.end] = index
            case .pair where row.state == .deleted && current(row.end) != nil:
                guard let pair = LinkedPair(row, context.stack.layout) else { continue }
                linked[pair.source, default: []].append(pair.destination)
                linked[pair.destination, default: []].append(pair.source)
            default: break
            }
        }
        var waiting = Array(kept)
        while let end = waiting.popLast() {
            let object = current(end)
            let destinations = object?.layout.relationships.compactMap { object?.row.end(of: $0) } ?? []
            for other in destinations + (linked[end] ?? []) {
                guard let index = deletions[other], kept.insert(other).inserted else { continue }
                drop(index)
                waiting.append(other)
            }
        }
        return kept
    }

    /// Rows with links to objects of an entity.
    private struct IncomingLinks {
        let layout: Int
        /// The column that leads to the objects of the entity.
        let column: LinkColumns
        /// Whether the objects at the other ends of the links are deleted, too.
        var isCascade = false
    }

    /// The links that disappear when an object of the entity is deleted.
    private func incomingLinks(_ entity: Int) -> [IncomingLinks] {
        let own = context.stack.layout.entities[entity].relationships.flatMap { relationship -> [IncomingLinks] in
            let rule = relationship.description.deleteRule
            switch relationship.storage {
            case .inverseColumn(let column) where rule != .noAction:
                return relationship.destinationFamily.map {
                    IncomingLinks(layout: $0, column: column, isCascade: rule == .cascade)
                }
            case .pairs(let pairs):
                return [IncomingLinks(layout: pairs.layout, column: pairs.own, isCascade: rule == .cascade)]
            case .column, .inverseColumn, .none: return []
            }
        }
        return own + context.stack.graph.incoming[entity].map { IncomingLinks(layout: $0.layout, column: $0.column) }
    }

    private func read(
        _ links: IncomingLinks, to entity: Int, _ keys: ArraySlice<Int64>, limit: Int?
    ) throws -> [StoredRow] {
        let layout = context.stack.layout.entities[links.layout]
        let keys = ValueList(keys.map { .integer($0) }, .natural)
        var query = RowQuery(entity: links.layout, predicate: links.column.leads(to: entity, keys))
        (query.isOrdered, query.limit) = (false, limit)
        let columns =
            layout.links == nil
            ? [links.column.key, links.column.entity].compactMap(\.self) : Array(layout.columns.indices)
        let editor = context.editor(ofEntity: links.layout)
        return try editor.reading { () throws(DataSourceError) in
            try editor.linkRows(query, columns: columns, isStoreRead: true)
        }
    }

    /// Whether the record has not made a link that leads to an object now.
    private func isOfOthers(_ link: StoredRow, _ links: IncomingLinks, to end: LinkEnd) -> Bool {
        let layout = context.stack.layout.entities[links.layout]
        if layout.links != nil {
            guard let pair = LinkedPair(link.row, layout, context.stack.layout) else { return false }
            let other = pair.source == end ? pair.destination : pair.source
            if links.isCascade, !isDeletedHere(other) { return false }
            return !(deletedLinks[layout.index]?.contains([pair.source, pair.destination]) ?? false)
        }
        let source = LinkEnd(entity: links.layout, key: link.key)
        // A cascade that reaches an object of others is a conflict of its own: see `compareReached`.
        if links.isCascade, !isDeletedHere(source) { return false }
        guard let index = rowIndexes[source] else { return true }
        let row = difference.rows[index]
        let wasMade = row.base.end(links.column, [end.entity]) == end
        // For an object that the record has edited, `base` also has links that the record has not changed.
        return !wasMade || row.state == .edited && row.row.end(links.column, [end.entity]) == end
    }
}
