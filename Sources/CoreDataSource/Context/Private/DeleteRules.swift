internal import RowStore

/// Applies the delete rules of the model to the objects that a batch or a draft has deleted.
///
/// All deletions of one entity are handled together. Then the deletions that they cause are handled, and so on, until no
/// deletion is left. The rule Deny is checked last, because an object that is deleted too, or that was moved to another owner,
/// denies nothing.
///
/// Cascades can also be applied earlier, without the other rules. Applying cascades again is safe, because objects that
/// are already deleted are skipped.
struct DeleteRules {
    private let contexts: [EditingContext]
    /// Whether to apply only the rule Cascade.
    private let onlyCascades: Bool
    /// Whether the contexts are drafts in which objects were just deleted.
    private let isOfDraft: Bool
    /// The entities whose leases the batch has; nil in a store that is not shared.
    private let leasedEntities: Set<Int>?
    /// Whether rows may be deleted without being made into objects. A hook would not see such deletions.
    private let deletesRows: Bool
    /// Whether the objects to which rules are being applied were deleted in a draft and never saved. If true, their deletion
    /// does not cascade to saved objects.
    private var keepsSavedObjects = false
    private var denials: [Denial] = []
    /// The entities whose rows are deleted without making objects.
    private var entitiesDeletedAsRows: Set<Int> = []

    private struct Denial {
        let object: ManagedObject
        let relationship: RelationshipLayout
        let ends: [LinkEnd]
    }

    /// The largest number of objects whose links are read at once.
    private static let objectsPerRead = 500

    /// - Parameters:
    ///   - contexts: The contexts whose edits are saved together.
    ///   - leasedEntities: The entities whose leases the batch has; nil in a store that is not shared.
    ///   - onlyCascades: Whether to apply only the rule Cascade.
    ///   - deletesRows: Whether rows may be deleted without being made into objects.
    init(
        _ contexts: [EditingContext], leasedEntities: Set<Int>? = nil, onlyCascades: Bool = false,
        deletesRows: Bool = true
    ) {
        self.deletesRows = deletesRows
        self.contexts = contexts
        self.onlyCascades = onlyCascades
        isOfDraft = onlyCascades && contexts.allSatisfy { $0.editing == .inDraft }
        self.leasedEntities = leasedEntities
    }

    mutating func apply() throws {
        guard let graph = contexts.first(where: { !$0.deletions.isEmpty })?.stack.graph else { return }
        // Delete rows without making objects only if all changes of the batch are deletions: the search for these rows reads
        // the store, and does not see changes of the batch.
        if !onlyCascades, deletesRows,
            contexts.allSatisfy({ $0.bulkChanges.isEmpty && $0.changed.allSatisfy(\.isDeleted) })
        {
            let deleted = Set(contexts.lazy.flatMap(\.changed).map(\.layout.index))
            entitiesDeletedAsRows = graph.entitiesDeletedAsRows(byDeleting: deleted)
        }
        while true {
            var wave: [(context: EditingContext, objects: [ManagedObject])] = []
            for context in contexts {
                for objects in Dictionary(grouping: context.deletions, by: \.layout.index).sorted(by: {
                    $0.key < $1.key
                }) {
                    wave.append((context, objects.value))
                }
                context.deletions.removeAll()
            }
            if wave.isEmpty { break }
            for (context, objects) in isOfDraft ? wave.flatMap(DeleteRules.bySaved) : wave {
                keepsSavedObjects = isOfDraft && objects[0].state == .gone
                for part in objects.chunks(ofSize: DeleteRules.objectsPerRead) {
                    try apply(to: Array(part), in: context)
                }
            }
        }
        for denial in denials { try check(denial) }
    }

    /// Splits the objects into two groups: objects that were never saved, and saved objects.
    private static func bySaved(
        _ context: EditingContext, _ objects: [ManagedObject]
    ) -> [(context: EditingContext, objects: [ManagedObject])] {
        [objects.filter { $0.state == .gone }, objects.filter { $0.state != .gone }].filter { !$0.isEmpty }
            .map { (context, $0) }
    }

    private mutating func apply(to objects: [ManagedObject], in context: EditingContext) throws {
        guard let layout = objects.first?.layout else { return }
        // Check even if no rows of the entity exist now, because another batch may be inserting such rows.
        for entity in context.stack.graph.reach(of: [layout.index]).sorted() {
            if let leasedEntities, !leasedEntities.contains(entity), !context.bindings[entity].layout.isAbstract {
                throw notOwnedError(context, layout.name, entity)
            }
            if context.isOwnedByAny(entity), !contexts.contains(where: { $0.bindings[entity].isOwned }) {
                throw notOwnedError(context, layout.name, entity)
            }
        }
        for relationship in layout.relationships { try apply(relationship, to: objects, in: context) }
        if onlyCascades { return }
        let keys = ValueList(objects.map { .integer($0.key) }, .natural)
        for incoming in context.stack.graph.incoming[layout.index] {
            let rows = try self.objects(of: incoming.layout, incoming.column.leads(to: layout.index, keys), context)
            for row in rows {
                if incoming.isPair {
                    try delete(row, for: layout.name)
                } else {
                    try unlink(row, incoming.column, for: layout.name)
                }
            }
        }
    }

    private mutating func apply(
        _ relationship: RelationshipLayout, to objects: [ManagedObject], in context: EditingContext
    ) throws {
        let rule = relationship.description.deleteRule
        let entity = objects[0].layout.index
        let keys = ValueList(objects.map { .integer($0.key) }, .natural)
        if rule == .cascade, case .inverseColumn(let column) = relationship.storage {
            let predicate = column.leads(to: entity, keys)
            for end in relationship.destinationFamily {
                if entitiesDeletedAsRows.contains(end), try deleteRows(end, predicate, context) { continue }
                let rows = try self.objects(of: end, predicate, context)
                for row in rows { try delete(row, for: relationship.path.entity) }
            }
        } else if rule == .cascade || rule == .deny && !onlyCascades {
            let ends = try context.ends(of: relationship, from: objects, keys: keys)
            if rule == .deny {
                for object in objects {
                    denials.append(
                        Denial(object: object, relationship: relationship, ends: ends[LinkEnd(object)] ?? []))
                }
            } else {
                try context.reading { () throws(DataSourceError) in try context.readObjects(ends.values.joined()) }
                for end in ends.values.joined() {
                    if let other = context.registeredObject(end) { try delete(other, for: relationship.path.entity) }
                }
            }
        }
        if !onlyCascades { try removeLinks(relationship, of: objects, keys, context) }
    }

    /// Deletes pair rows, and clears link columns that refer to deleted objects.
    private func removeLinks(
        _ relationship: RelationshipLayout, of objects: [ManagedObject], _ keys: ValueList, _ context: EditingContext
    ) throws {
        let (rule, entity) = (relationship.description.deleteRule, objects[0].layout.index)
        switch relationship.storage {
        case .pairs(let pairs):
            for end in relationship.isSymmetric ? [pairs.own, pairs.other] : [pairs.own] {
                let links = try self.objects(of: pairs.layout, end.leads(to: entity, keys), context)
                for link in links { try delete(link, for: relationship.path.entity) }
            }
        case .inverseColumn(let column) where rule == .nullify:
            for end in relationship.destinationFamily {
                let rows = try self.objects(of: end, column.leads(to: entity, keys), context)
                for row in rows { try unlink(row, column, for: relationship.path.entity) }
            }
        case .column(let column) where relationship.isSymmetric && rule == .nullify:
            for object in objects {
                guard let end = object.row.end(of: relationship) else { continue }
                try context.reading { () throws(DataSourceError) in try context.readObjects([end]) }
                if let partner = context.registeredObject(end), partner.row.end(of: relationship) == LinkEnd(object) {
                    try unlink(partner, column, for: relationship.path.entity)
                }
            }
        case .column, .inverseColumn, .none: break
        }
    }

    /// Returns the matching objects of a layout, from the context that may change the objects.
    private func objects(
        of layout: Int, _ predicate: RowPredicate, _ context: EditingContext
    ) throws -> [ManagedObject] {
        let editor = context.editor(ofEntity: layout)
        return try editor.reading { () throws(DataSourceError) in
            try editor.unsortedObjects(FetchPlan(RowQuery(entity: layout, predicate: predicate)))
        }
    }

    private func check(_ denial: Denial) throws {
        guard let context = denial.object.context as? EditingContext else { return }
        try context.reading { () throws(DataSourceError) in try context.readObjects(denial.ends) }
        let left = denial.ends.compactMap { context.registeredObject($0) }
        guard let first = left.first else { return }
        let (name, relationship) = (denial.object.layout.name, denial.relationship.name)
        let linked = left.count == 1 ? "\(first.objectID) is" : "\(left.count) objects are"
        let example = left.count == 1 ? "" : ", such as \(first.objectID)"
        throw DataSourceError(
            .deletionDenied,
            "\(denial.object.objectID) cannot be deleted, because the delete rule of \(name).\(relationship) is Deny and \(linked) linked\(example). Delete the linked objects first, or link them to another object.",
            entityName: name, attributeName: relationship)
    }

    // MARK: Changing

    private func delete(_ object: ManagedObject, for entity: String) throws {
        if keepsSavedObjects, !object.isInserted { return }
        guard !object.isDeleted, let context = try editor(of: object, for: entity) else { return }
        try context.delete(owned: object)
    }

    /// - Returns: False if the rows must become objects before they are deleted.
    private func deleteRows(_ entity: Int, _ predicate: RowPredicate, _ context: EditingContext) throws -> Bool {
        guard let editor = context.editor(ofEntity: entity) as? PrivateContext, editor.bindings[entity].isOwned,
            !editor.bindings[entity].hasEdits
        else { return false }
        try editor.deleteRows(ofEntity: entity, predicate)
        return true
    }

    private func unlink(_ object: ManagedObject, _ column: LinkColumns, for entity: String) throws {
        guard !object.isDeleted, try editor(of: object, for: entity) != nil else { return }
        object.setLink(column, nil)
    }

    /// - Throws: `entityNotOwned` if another data source owns the object and does not take part in the batch.
    private func editor(of object: ManagedObject, for entity: String) throws -> EditingContext? {
        guard let context = object.context as? EditingContext else { return nil }
        if context.mayEdit(object.layout.index) { return context }
        throw notOwnedError(context, entity, object.layout.index)
    }

    private func notOwnedError(_ context: EditingContext, _ entity: String, _ reached: Int) -> DataSourceError {
        let name = context.stack.layout.entities[reached].name
        let owner = context.stack.owner(ofEntity: reached) ?? "another data source or process"
        let message =
            context.batchReach?.holdsQueues == true
            ? "An object of \(entity) was deleted, and its delete rules reach \(name), which \(owner) may be writing. The call could not wait for \(owner), because a data source was made after the call had begun. Call again."
            : "An object of \(entity) was deleted in onAdd(_:in:), but its delete rules reach \(name), which \(owner) may be writing. Delete the object with delete, sync or perform, or with container.perform(in:)."
        return DataSourceError(.entityNotOwned, message, entityName: name)
    }
}
