internal import RowStore

/// Marks the objects that a list stands for, and deletes those in scope that it lacks.
///
/// The mark is a number of the sync in the object, not a stored attribute: rows that did not change are not touched.
struct SyncSweep {
    private let entity: Int
    private let mark: Int32
    private let flagColumn: Int?
    private var report = SyncReport()
    private var met: [ManagedObject] = []

    init(_ type: ManagedObject.Type, in context: isolated PrivateContext) throws {
        entity = try context.objects.entity(of: type)
        try context.objects.checkOwned(entity)
        mark = context.objects.nextSyncMark()
        let layout = context.objects.bindings[entity].layout
        flagColumn = layout.column(named: "syncFlag").flatMap { layout.columns[$0].storage == .integer ? $0 : nil }
    }

    /// Whether no value of the list has given an object so far.
    var isEmpty: Bool { met.isEmpty }

    /// Takes what the hook made of the next value.
    mutating func meet(_ object: ManagedObject?, in context: isolated PrivateContext) throws {
        report.read += 1
        guard let object else {
            report.ignored += 1
            return
        }
        guard context.objects.bindings[entity].layout.concreteFamily.contains(object.layout.index) else {
            throw DataSourceError(
                .syncEntityMismatch,
                "A sync of \(context.objects.bindings[entity].layout.name) got a \(object.layout.name) from onAdd(_:in:). Sync each entity with its own list.",
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

    /// Deletes what the list lacks, and counts.
    func end(_ stored: [ManagedObject], in context: isolated PrivateContext) -> SyncReport {
        var report = report
        for object in met {
            if object.state == .inserted {
                report.inserted += 1
            } else if object.hasEdits {
                report.updated += 1
            } else {
                report.unchanged += 1
            }
        }
        for object in stored where object.syncMark != mark && !object.isDeleted {
            context.delete(object)
            report.deleted += 1
        }
        return report
    }
}
