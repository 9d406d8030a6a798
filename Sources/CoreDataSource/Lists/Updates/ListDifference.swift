public import Foundation
internal import RowStore

/// The changes from one snapshot of a list to the next.
///
/// Old places are those before all changes, new places those after all of them, as a table view expects. Rows that only shifted
/// because of others are not included.
public struct ListDifference: Sendable {
    /// One row that changed.
    public struct Change: Sendable, Hashable {
        /// What happened to the object.
        public let type: ListChangeType
        /// The object.
        public let id: ManagedObjectID
        /// The place before; nil for an insert.
        public let indexPath: IndexPath?
        /// The place after; nil for a delete.
        public let newIndexPath: IndexPath?
        /// Its index over all sections before; nil for an insert.
        public let index: Int?
        /// Its index over all sections now; nil for a delete.
        public let newIndex: Int?
    }

    /// Sections that are gone, by their old indexes, descending.
    public var deletedSections: [Int]
    /// Sections that are new, by their new indexes, ascending.
    public var insertedSections: [Int]
    /// Deletes from the last to the first, inserts from the first to the last, then moves, then updates.
    public var changes: [Change]

    /// Whether there are no changes.
    public var isEmpty: Bool { changes.isEmpty && deletedSections.isEmpty && insertedSections.isEmpty }

    /// No changes.
    init() {
        (deletedSections, insertedSections, changes) = ([], [], [])
    }

    init(_ difference: RowDifference, from old: ListState, to new: ListState, _ layout: ModelLayout) {
        deletedSections = difference.deletedSections
        insertedSections = difference.insertedSections
        changes = difference.changes.map { change in
            Change(
                type: change.kind.type, id: ManagedObjectID(layout.entities[change.entity], key: change.key),
                indexPath: change.old.map(old.indexPath), newIndexPath: change.new.map(new.indexPath),
                index: change.old, newIndex: change.new)
        }
    }
}

/// An update of a list: what it shows, what changed, and why.
public struct ListUpdate<Object: ManagedObject>: Sendable {
    /// What the list shows now.
    public let snapshot: ListSnapshot<Object>
    /// The changes since the previous update; for the first update, since an empty list.
    public let difference: ListDifference
    /// Why the list changed.
    public let reason: ListReason
}
