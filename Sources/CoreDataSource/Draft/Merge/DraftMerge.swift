internal import RowStore

/// Applies the changes of a draft to the objects of a batch. Dropped changes are not applied.
struct DraftMerge {
    /// The outcome of a merge.
    struct Outcome: Sendable {
        let merged: [DraftChange]
        let conflicts: [DraftChange]
        /// The new keys of objects that were saved with a different key.
        let newKeys: [LinkEnd: Int64]
    }

    private let context: PrivateContext
    private let comparison: DraftComparison
    /// The objects that the merge has inserted.
    private var made: [LinkEnd: ManagedObject] = [:]
    /// The new keys of objects whose keys in the draft might have been used by another program.
    private var newKeys: [LinkEnd: Int64] = [:]

    private init(_ context: PrivateContext, _ comparison: DraftComparison) {
        self.context = context
        self.comparison = comparison
    }

    /// Compares the draft with the newest rows, decides the conflicts, and applies the edits.
    ///
    /// - Parameter contexts: The contexts whose edits are written in one save. The contexts have the newest rows, and
    ///   no other save can change the rows during the merge.
    static func run(
        _ difference: DraftDifference, _ resolution: DraftResolution, in contexts: [PrivateContext]
    ) throws -> Outcome {
        var comparison = try DraftComparison(difference, in: contexts[0])
        if case .record = difference.origin {
            for context in contexts + contexts[0].otherBatchContexts { context.isReverting = true }
        }
        if let choose = resolution.choose {
            try comparison.decide(choose)
        } else {
            try fail(comparison.conflicts, difference.origin)
        }
        var merge = DraftMerge(contexts[0], comparison)
        try merge.apply()
        return Outcome(merged: comparison.merged, conflicts: comparison.conflicts, newKeys: merge.newKeys)
    }

    private static func fail(
        _ conflicts: [DraftChange], _ origin: DraftDifference.Origin
    ) throws(DataSourceError) {
        guard let first = conflicts.first else { return }
        var error = first.failure(origin)
        if conflicts.count > 1 {
            error.failures = conflicts.map { $0.failure(origin) }
            error.message =
                "\(conflicts.count) parts of \(origin.name) are in conflict with other saves. The first conflict: \(error.message)"
        }
        throw error
    }

    // MARK: Applying

    private mutating func apply() throws {
        let parts = comparison.parts.filter { !$0.isDropped }
        let rows = parts.compactMap { part in comparison.row(part).map { (kind: part.kind, row: $0) } }
        for (kind, row) in rows {
            switch kind {
            case .insertion, .revival: try insert(row)
            default: break
            }
        }
        for (kind, row) in rows {
            switch kind {
            case .attribute(let column): setAttribute(column, of: try object(row.end), row)
            case .link(let index): try setLink(index, of: try object(row.end), row)
            case .revival: try setLinks(of: try object(row.end), row)
            default: break
            }
        }
        try setPairs(rows.compactMap { kind, row in if case .pair = kind { row } else { nil } })
        for part in comparison.parts {
            if case .order(let orderIndex) = part.kind { try arrange(orderIndex, isMine: !part.isDropped) }
        }
        let reached = comparison.reachOfRemainingDeletions
        for (kind, row) in rows {
            guard case .deletion = kind, let object = comparison.current(row.end) else { continue }
            // The delete rules delete this object, even if no data source owns its entity.
            if !comparison.deletionRoots.contains(row.end), reached.contains(row.end) { continue }
            try editor(row.end.entity).delete(owned: object)
        }
    }

    private func editor(_ entity: Int) -> EditingContext {
        context.editor(ofEntity: entity) as? EditingContext ?? context
    }

    private func known(_ end: LinkEnd) -> ManagedObject? { made[end] ?? comparison.current(end) }

    private func object(_ end: LinkEnd) throws(DataSourceError) -> ManagedObject {
        if let object = known(end) { return object }
        let id = comparison.id(end)
        let advice =
            switch comparison.difference.origin {
            case .draft: "Save with resolving: .takeTheirs, or link another object in the draft."
            case .record: "Revert with resolving: .takeTheirs, or revert the deletion of that object first."
            }
        throw DataSourceError(
            .objectGone,
            "A link of \(comparison.difference.origin.name) needs \(id), but another save has deleted that object. \(advice)",
            entityName: id.entityName)
    }

    // MARK: Rows

    /// Returns the key under which a new row is saved.
    private mutating func key(of row: DraftDifference.Row) throws -> Int64 {
        // An object of the history is inserted with its own key.
        guard row.state == .inserted, case .draft = comparison.difference.origin,
            context.stack.keys.mayBeUsedElsewhere(row.end.key)
        else { return row.end.key }
        let key = try context.stack.keys.next()
        newKeys[row.end] = key
        return key
    }

    /// Inserts an object with the draft's attributes. The object keeps its key, unless another program might have used the
    /// key. If another object has taken the unique values of the object, and the conflict was decided for the revert, the
    /// other object gets the attributes instead.
    private mutating func insert(_ row: DraftDifference.Row) throws {
        let successor = successor(of: row)
        let object: ManagedObject
        if let successor {
            object = successor
        } else {
            object = try editor(row.end.entity).insert(entity: row.end.entity, key: key(of: row))
        }
        for (column, description) in object.layout.columns.enumerated() {
            guard let attribute = description.attribute, attribute.derivationExpression == nil else { continue }
            // A record of an earlier model may lack the value. If so, the successor keeps its own value.
            if successor != nil, !attribute.isOptional, row.row.isNull(column) { continue }
            setAttribute(column, of: object, row)
        }
        if case .record = comparison.difference.origin { setMissingValues(of: object) }
        made[row.end] = object
    }

    /// Sets the required attributes for which the record has no value, because an earlier model did not have these attributes.
    /// Each attribute gets the value of a new object, as in a migration. The same is true for the required parts of composites
    /// that are not nil.
    private func setMissingValues(of object: ManagedObject) {
        let layout = object.layout
        let parts = MissingParts(in: object.row, layout, of: context.stack.layout.model).defaults
        for (column, value) in parts where value != .null { object.setValue(value, column) }
        let missing = layout.storedColumns.filter { column in
            guard let attribute = layout.columns[column].attribute, object.row.isNull(column) else { return false }
            return !attribute.isOptional || parts[column] != nil
        }
        if missing.isEmpty { return }
        let initialRow = type(of: object).initialRow(layout)
        for column in missing where !initialRow.isNull(column) {
            object.setValue(initialRow.value(column, layout.columns[column].storage), column)
        }
    }

    /// Returns the object that has the unique values of a deleted object now; nil if there is none. The result gets the values
    /// and the links of the deleted object, which is not inserted again.
    private mutating func successor(of row: DraftDifference.Row) -> ManagedObject? {
        guard let successor = comparison.unique.successors[row.end].flatMap({ comparison.current($0) }) else {
            return nil
        }
        newKeys[row.end] = successor.key
        return successor
    }

    private func setAttribute(_ column: Int, of object: ManagedObject, _ row: DraftDifference.Row) {
        object.setValue(row.row.value(column, object.layout.columns[column].storage), column)
    }

    // MARK: Links

    private func setLink(_ index: Int, of object: ManagedObject, _ row: DraftDifference.Row) throws {
        let end = row.row.end(of: object.layout.relationships[index])
        object.linkEditor(index)?.set(try end.map(self.object))
    }

    /// Restores the links of a revived object if the linked objects still exist.
    private func setLinks(of object: ManagedObject, _ row: DraftDifference.Row) throws {
        for (index, relationship) in object.layout.relationships.enumerated() {
            guard let end = row.row.end(of: relationship), known(end) != nil else { continue }
            try setLink(index, of: object, row)
        }
    }

    /// Removes and makes the links that are stored in rows of their own.
    private mutating func setPairs(_ rows: [DraftDifference.Row]) throws {
        let layout = context.stack.layout
        let pairs = rows.compactMap { row in LinkedPair(row, layout).map { (row: row, pair: $0) } }
        let wanted = pairs.compactMap { _, pair -> (layout: Int, keys: ExistingLinks.Keys)? in
            guard let source = known(pair.source), let destination = known(pair.destination) else { return nil }
            return (pair.pairs.layout, ExistingLinks.Keys(source.key, destination.key))
        }
        var existing = try ExistingLinks(
            Dictionary(grouping: wanted, by: \.layout).mapValues { $0.map(\.keys) }, in: context)
        for state in [ObjectState.deleted, .inserted] {
            for (row, pair) in pairs where row.state == state { try setPair(row, pair, &existing) }
        }
    }

    private mutating func setPair(
        _ row: DraftDifference.Row, _ pair: LinkedPair, _ existing: inout ExistingLinks
    ) throws {
        let (pairs, isDeleted) = (pair.pairs, row.state == .deleted)
        if isDeleted, known(pair.source) == nil || known(pair.destination) == nil { return }
        let (source, destination) = (try object(pair.source), try object(pair.destination))
        let keys = ExistingLinks.Keys(source.key, destination.key)
        let link: ManagedObject? =
            switch existing.row(keys, pairs.layout) {
            case .some(nil): nil
            case .some(let row?) where !row.isDeleted && row.links(source, destination, pairs): row
            default:
                try isDeleted
                    ? context.link(source, destination, pairs) : context.linkToInsert(source, destination, pairs)
            }
        existing.recordChange(of: keys, pairs.layout)
        if isDeleted {
            if let link { try (link.context as? EditingContext)?.delete(link: link) }
            return
        }
        if link != nil { return }
        func position(_ column: Int?) -> Int64? { column.flatMap { row.row.isNull($0) ? nil : row.row.integer($0) } }
        // Use the link's key in the draft, or a new key if another program might have used that key.
        try context.insertLink(
            pairs, (source, position(pairs.own.position)), (destination, position(pairs.other.position)),
            key: key(of: row))
    }

    // MARK: Orders

    private func arrange(_ index: Int, isMine: Bool) throws {
        let order = comparison.difference.orders[index]
        guard let owner = known(order.owner), !owner.isDeleted, let context = owner.context else { return }
        let present = try context.relatedObjects(of: owner, at: order.index)
        let ends = present.map { LinkEnd($0) }
        let merged = OrderMerge.merge(
            base: order.base, mine: order.mine.map { $0.renamed(newKeys) }, theirs: comparison.theirOrders[index],
            present: ends, isMine: isMine)
        guard merged != ends || isMine && !order.positions.isEmpty else { return }
        let objects = Dictionary(zip(ends, present)) { first, _ in first }
        owner.linkEditor(order.index)?.set(
            merged.compactMap { objects[$0] }, preferring: isMine ? order.positions : [:])
    }
}

/// How a draft's save resolves conflicts.
///
/// ```swift
/// try await draft.save(
///     resolving: .each { $0.propertyName == "note" ? .mine : .theirs })
/// ```
public struct DraftResolution: Sendable {
    /// Decides a conflict. Nil if every conflict is an error.
    let choose: (@Sendable (DraftChange) throws -> DraftChange.Choice)?

    /// Saves the draft's values.
    public static let keepMine = DraftResolution { _ in .mine }
    /// Keeps the values of the other saves, and saves all other edits of the draft.
    public static let takeTheirs = DraftResolution { _ in .theirs }
    /// Throws `draftConflict`, and leaves the draft unchanged.
    public static let fail = DraftResolution(choose: nil)

    /// Decides each conflict with a closure.
    ///
    /// ```swift
    /// try await draft.save(
    ///     resolving: .each { $0.propertyName == "note" ? .mine : .theirs })
    /// ```
    ///
    /// **Isolation**: the queue of the private context, during the save. If the closure throws, the save throws the same error
    /// and changes nothing.
    public static func each(
        _ choose: @escaping @Sendable (DraftChange) throws -> DraftChange.Choice
    ) -> DraftResolution {
        DraftResolution(choose: choose)
    }

    private init(choose: (@Sendable (DraftChange) throws -> DraftChange.Choice)?) {
        self.choose = choose
    }
}
