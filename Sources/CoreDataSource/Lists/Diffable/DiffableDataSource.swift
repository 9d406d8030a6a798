#if canImport(UIKit) && !os(watchOS)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

#if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
/// The snapshot that a diffable data source of a list takes.
public typealias DiffableListSnapshot = NSDiffableDataSourceSnapshot<ListSection.ID, ManagedObjectID>

extension NSDiffableDataSourceSnapshot: DiffableForm
where SectionIdentifierType == ListSection.ID, ItemIdentifierType == ManagedObjectID {
    package typealias SectionID = SectionIdentifierType
    package typealias ItemID = ItemIdentifierType

    #if canImport(AppKit)
    // AppKit has no other way to have a cell drawn again.
    package mutating func reconfigureItems(_ identifiers: [ItemIdentifierType]) { reloadItems(identifiers) }
    #endif
}

extension ListUpdate {
    /// What to apply to a diffable data source: sections, ids, and the items whose cells have to be drawn again.
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
