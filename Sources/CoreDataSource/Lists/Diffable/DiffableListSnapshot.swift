#if canImport(UIKit) && !os(watchOS)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

#if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
/// The snapshot of a list, for a diffable data source.
public typealias DiffableListSnapshot = NSDiffableDataSourceSnapshot<ListSection.ID, ManagedObjectID>

extension NSDiffableDataSourceSnapshot: DiffableForm
where SectionIdentifierType == ListSection.ID, ItemIdentifierType == ManagedObjectID {
    package typealias SectionID = SectionIdentifierType
    package typealias ItemID = ItemIdentifierType

    #if canImport(AppKit)
    // AppKit has no other way to redraw a cell.
    package mutating func reconfigureItems(_ identifiers: [ItemIdentifierType]) { reloadItems(identifiers) }
    #endif
}

extension ListUpdate {
    /// The contents for a diffable data source: sections, ids, and the items whose cells must be redrawn.
    ///
    /// ```swift
    /// for await update in contacts.updates(FetchRequest(ContactEntity.self, order: [.ascending(\.name)])) {
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
