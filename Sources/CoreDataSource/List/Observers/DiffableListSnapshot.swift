#if canImport(UIKit) && !os(watchOS)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

#if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
/// The snapshot of a list, for a diffable data source.
public typealias DiffableListSnapshot = NSDiffableDataSourceSnapshot<ListSection.ID, ManagedObjectID>

extension NSDiffableDataSourceSnapshot: DiffableSnapshotTarget
where SectionIdentifierType == ListSection.ID, ItemIdentifierType == ManagedObjectID {
    package typealias SectionID = SectionIdentifierType
    package typealias ItemID = ItemIdentifierType

    #if canImport(AppKit)
    // AppKit can redraw a cell only by reloading its item.
    package mutating func reconfigureItems(_ identifiers: [ItemIdentifierType]) { reloadItems(identifiers) }
    #endif
}

extension ListUpdate {
    /// The snapshot for a diffable data source: sections, IDs, and the items whose cells must be redrawn.
    ///
    /// **Complexity**: O(n) in the number of rows.
    ///
    /// ```swift
    /// for await update in contacts.updates(
    ///     ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])) {
    ///     await dataSource.apply(update.diffableSnapshot)
    /// }
    /// ```
    @MainActor
    public var diffableSnapshot: DiffableListSnapshot {
        var snapshot = DiffableListSnapshot()
        fill(&snapshot)
        return snapshot
    }
}
#endif

/// The members of a diffable data source's snapshot that a list uses, common to UIKit and AppKit.
@MainActor
package protocol DiffableSnapshotTarget {
    associatedtype SectionID
    associatedtype ItemID

    mutating func appendSections(_ identifiers: [SectionID])
    mutating func appendItems(_ identifiers: [ItemID], toSection section: SectionID?)
    /// Redraws the cells of items without moving them.
    mutating func reconfigureItems(_ identifiers: [ItemID])
}

extension ListUpdate {
    /// Fills an empty diffable snapshot with all sections and IDs, and marks the items that must be redrawn.
    @MainActor
    package func fill<Target: DiffableSnapshotTarget>(_ target: inout Target)
    where Target.SectionID == ListSection.ID, Target.ItemID == ManagedObjectID {
        snapshot.fill(&target)
        // A diffable data source does not redraw a moved cell by itself.
        let changed = difference.changes.filter { $0.type == .update || $0.type == .move }.map(\.id)
        target.reconfigureItems(changed)
    }
}

extension ListSnapshot {
    /// Fills an empty diffable snapshot with all sections and IDs.
    @MainActor
    package func fill<Target: DiffableSnapshotTarget>(_ target: inout Target)
    where Target.SectionID == ListSection.ID, Target.ItemID == ManagedObjectID {
        for section in sections {
            target.appendSections([section.id])
            target.appendItems(section.range.map { self[$0].id }, toSection: section.id)
        }
    }
}
