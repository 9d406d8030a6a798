/// The part of a diffable data source's snapshot that a list fills, common to UIKit and AppKit.
@MainActor
package protocol DiffableForm {
    associatedtype SectionID
    associatedtype ItemID

    mutating func appendSections(_ identifiers: [SectionID])
    mutating func appendItems(_ identifiers: [ItemID], toSection section: SectionID?)
    /// Redraws the cells of items that stay in their place.
    mutating func reconfigureItems(_ identifiers: [ItemID])
}

extension ListUpdate {
    /// Fills an empty diffable snapshot with all sections and ids, and marks the items that must be redrawn.
    @MainActor
    package func fill<Form: DiffableForm>(_ form: inout Form)
    where Form.SectionID == ListSection.ID, Form.ItemID == ManagedObjectID {
        snapshot.fill(&form)
        // A move does not redraw its cell either.
        let changed = difference.changes.filter { $0.type == .update || $0.type == .move }.map(\.id)
        form.reconfigureItems(changed)
    }
}

extension ListSnapshot {
    /// Fills an empty diffable snapshot with all sections and ids.
    @MainActor
    package func fill<Form: DiffableForm>(_ form: inout Form)
    where Form.SectionID == ListSection.ID, Form.ItemID == ManagedObjectID {
        for section in sections {
            form.appendSections([section.id])
            form.appendItems(section.range.map { self[$0].id }, toSection: section.id)
        }
    }
}
