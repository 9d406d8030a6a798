extension ListSnapshot: CustomStringConvertible {
    /// The size of the snapshot: `ListSnapshot of ContactEntity (12 rows in 3 sections)`.
    public var description: String { "ListSnapshot of \(Object.entityName) (\(size))" }

    /// `12 rows in 3 sections`.
    var size: String {
        let rows = count == 1 ? "1 row" : "\(count) rows"
        return state.query.order.section == nil
            ? rows : rows + (sectionCount == 1 ? " in 1 section" : " in \(sectionCount) sections")
    }
}

extension ListRow: CustomStringConvertible {
    /// The id and the values, as in ``ManagedObject/description``.
    public var description: String { reader.layout.entities[row.entity].description(row.key, row.row) }
}

extension ListDifference: CustomStringConvertible {
    /// The number of changes of each kind: `2 insert, 1 move`.
    public var description: String {
        let kinds: [ListChangeType] = [.delete, .insert, .move, .update]
        let counts = kinds.map { kind in (kind, changes.count { $0.type == kind }) }.filter { $0.1 > 0 }
        return counts.isEmpty ? "no changes" : counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
    }
}

extension ListUpdate: CustomStringConvertible {
    /// The snapshot, the changes, and the reason.
    public var description: String { "\(snapshot): \(difference); \(reason)" }
}
