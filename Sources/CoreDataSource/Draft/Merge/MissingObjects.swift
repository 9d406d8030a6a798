internal import RowStore

/// Drops the parts that need an object which the merge does not insert.
extension DraftComparison {
    /// Drops the links to objects that are not inserted again. An inserted object is dropped, too, if it loses a required
    /// link, or so many objects of a to-many relationship that too few remain.
    mutating func dropWhatNeedsMissingObjects() {
        var dependents: [LinkEnd: [Int]] = [:]
        var missing: [LinkEnd] = []
        for index in parts.indices {
            for end in neededEnds(parts[index]) { dependents[end, default: []].append(index) }
            if let end = insertedEndWithout(parts[index]) { missing.append(end) }
        }
        var seen: Set<LinkEnd> = []
        while true {
            while let end = missing.popLast() {
                guard seen.insert(end).inserted else { continue }
                for index in dependents[end] ?? [] where !parts[index].isDropped {
                    drop(index)
                    if let end = insertedEndWithout(parts[index]) { missing.append(end) }
                }
            }
            missing = objectsWithTooFewLinks().filter { !seen.contains($0) }
            if missing.isEmpty { return }
        }
    }

    /// The inserted objects that a part needs.
    private func neededEnds(_ part: Part) -> [LinkEnd] {
        guard let row = row(part) else { return [] }
        var ends: [LinkEnd?] = []
        switch part.kind {
        case .insertion: ends = [row.end]
        case .link(let index): ends = [row.end, row.row.end(of: layout(row.end).relationships[index])]
        case .pair where row.state == .inserted: ends = LinkedPair(row, context.stack.layout)?.ends ?? []
        default: break
        }
        return ends.compactMap { $0 }.filter(inserted.contains)
    }

    /// The object that cannot be inserted because this part is dropped; nil if there is none.
    private func insertedEndWithout(_ part: Part) -> LinkEnd? {
        guard part.isDropped, let row = row(part), row.state == .inserted else { return nil }
        switch part.kind {
        case .insertion: return row.end
        case .link(let index):
            // A successor exists already, and has its own links.
            let isRequired = !layout(row.end).relationships[index].description.isOptional
            return isRequired && unique.successors[row.end] == nil ? row.end : nil
        default: return nil
        }
    }

    /// The inserted objects that lose links of a required relationship to dropped parts, and have too few links left. The
    /// links are in other rows.
    private func objectsWithTooFewLinks() -> [LinkEnd] {
        guard context.stack.graph.hasChecks else { return [] }
        struct Relationship: Hashable {
            let owner: LinkEnd
            let name: String
        }
        var counts: [Relationship: (kept: Int, dropped: Int)] = [:]
        func count(_ owner: LinkEnd?, _ name: String?, _ part: Part) {
            guard let owner, let name, inserted.contains(owner), unique.successors[owner] == nil else { return }
            let (kept, dropped) = counts[Relationship(owner: owner, name: name)] ?? (0, 0)
            counts[Relationship(owner: owner, name: name)] =
                part.isDropped ? (kept, dropped + 1) : (kept + 1, dropped)
        }
        for part in parts {
            guard let row = row(part) else { continue }
            switch part.kind {
            case .link(let index):
                let relationship = layout(row.end).relationships[index]
                count(row.row.end(of: relationship), relationship.inverse?.name, part)
            case .pair where row.state == .inserted:
                guard let pair = LinkedPair(row, context.stack.layout) else { continue }
                count(pair.source, pair.name, part)
                count(pair.destination, pair.inverseName, part)
            default: break
            }
        }
        return counts.compactMap { relationship, count in
            let layout = layout(relationship.owner)
            guard count.dropped > 0, let index = layout.relationship(named: relationship.name) else { return nil }
            let description = layout.relationships[index].description
            if description.isOptional { return nil }
            return count.kept < max(1, description.minimumCount) ? relationship.owner : nil
        }
    }
}
