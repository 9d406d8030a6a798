internal import RowStore

/// Marks the objects that a list stands for, and deletes those in scope that it lacks.
///
/// The mark is a number in the object, not a stored attribute: rows that did not change are not written.
struct SyncSweep {
    private let entity: EntityLayout
    private let rules: SyncRules
    private let mark: Int32
    private let flagColumn: Int?
    private var report = SyncReport()
    private var met: [ManagedObject] = []
    private let linkEdits: Int

    init(_ type: ManagedObject.Type, _ rules: SyncRules, in context: PrivateContext) throws {
        let index = try context.entity(of: type)
        try context.checkMayChange(index)
        entity = context.bindings[index].layout
        self.rules = rules
        mark = context.nextSyncMark()
        linkEdits = context.linkEdits
        let layout = entity
        flagColumn = layout.column(named: "syncFlag").flatMap { layout.columns[$0].storage == .integer ? $0 : nil }
        if rules.options.contains(.reportsIDs) { report.ids = SyncReport.IDs() }
    }

    /// Takes the object that the hook returned for the next value.
    mutating func meet(_ object: ManagedObject?, in context: PrivateContext) throws {
        report.read += 1
        guard let object else {
            report.ignored += 1
            return
        }
        guard object.layout === entity || entity.concreteFamily.contains(object.layout.index) else {
            throw DataSourceError(
                .syncEntityMismatch,
                "A sync of \(entity.name) got a \(object.layout.name) from onAdd(_:in:). Sync each entity with a list of its own.",
                entityName: object.layout.name)
        }
        if object.syncMark == mark {
            report.duplicates += 1
            return
        }
        object.syncMark = mark
        met.append(object)
        if let flagColumn { object.setValue(.integer(1), flagColumn) }
    }

    /// Deletes what the list lacks, including the children of its objects, and counts.
    mutating func end(_ stored: [ManagedObject], in context: PrivateContext) throws -> SyncReport {
        let children = try context.endSweeps(met, rules)
        report.deletedChildren = children.deleted.count
        report.keptChildren = children.kept
        report.ids?.deletedChildren = children.deleted
        for object in met { count(object, in: context) }
        skipChildren(in: context)
        try deleteMissing(stored, in: context)
        countChildren(in: context)
        return report
    }

    /// Deletes the objects of the scope that the list lacks.
    private mutating func deleteMissing(_ stored: [ManagedObject], in context: PrivateContext) throws {
        let missing = stored.filter { $0.syncMark != mark && !$0.isDeleted }
        guard rules.deletes, !missing.isEmpty else {
            report.kept = missing.count
            return
        }
        if met.isEmpty && !rules.options.contains(.allowsEmpty) { throw emptyList(missing.count) }
        if report.ignored > 0 && !rules.options.contains(.allowsIgnoredValues) {
            report.kept = missing.count
            return
        }
        if rules.deletion.refuses(missing.count, of: stored.count) {
            throw rules.deletion.tooMuch(
                missing.count, of: stored.count, "\(entity.name) in scope", entity: entity.name)
        }
        for object in missing {
            report.ids?.deleted.append(object.objectID)
            context.delete(object)
        }
        report.deleted = missing.count
    }

    /// Takes back what the hooks have done beside the objects of the list, where the sync may not do it.
    private mutating func skipChildren(in context: PrivateContext) {
        if rules.operations.isSuperset(of: [.insert, .update]) { return }
        for object in context.changed where object.syncMark != mark {
            let isAllowed =
                switch object.state {
                case .inserted: rules.operations.contains(.insert)
                case .edited: rules.operations.contains(.update) || !object.hasEdits
                // Removing a link changes the objects at its ends.
                case .deleted: rules.operations.contains(.update) || object.layout.links == nil
                case .saved, .gone: true
                }
            if !isAllowed { skip(object, in: context) }
        }
    }

    /// Counts what the hooks have done beside the objects of the list. Links with rows of their own are no objects.
    private mutating func countChildren(in context: PrivateContext) {
        for object in context.changed where object.syncMark != mark && object.layout.links == nil {
            if object.state == .inserted {
                report.insertedChildren += 1
                report.ids?.insertedChildren.append(object.objectID)
            } else if object.state == .edited, object.hasEdits {
                report.updatedChildren += 1
                report.ids?.updatedChildren.append(object.objectID)
            }
        }
    }

    private mutating func count(_ object: ManagedObject, in context: PrivateContext) {
        if object.state == .inserted {
            guard rules.operations.contains(.insert) else { return skip(object, in: context) }
            report.inserted += 1
            report.ids?.inserted.append(object.objectID)
        } else if object.hasEdits {
            guard rules.operations.contains(.update) else { return skip(object, in: context) }
            report.updated += 1
            report.ids?.updated.append(object.objectID)
        } else {
            report.unchanged += 1
        }
    }

    private mutating func skip(_ object: ManagedObject, in context: PrivateContext) {
        if context.linkEdits != linkEdits {
            context.refuse(
                DataSourceError(
                    .invalidRequest,
                    "The hook of a sync of \(entity.name) linked or unlinked objects. A sync without all operations cannot take back single links. Sync with all operations, or link the objects in another call.",
                    entityName: entity.name))
        }
        context.undo(object)
        report.skipped += 1
    }

    private func emptyList(_ count: Int) -> DataSourceError {
        DataSourceError(
            .emptySync,
            "A sync got a list without any \(entity.name), which would delete all \(count) objects in scope. Pass options: .allowsEmpty if that is intended.",
            entityName: entity.name)
    }
}

extension PrivateContext {
    /// Takes back what the batch has done to one object.
    fileprivate func undo(_ object: ManagedObject) {
        if object.state == .inserted { return delete(object) }
        object.restoreSavedRow()
        let binding = bindings[object.layout.index]
        for constraint in binding.layout.constraints.indices { binding.index(object, constraint) }
        if hasValueIndexes { binding.noteValues(of: object) }
    }
}
