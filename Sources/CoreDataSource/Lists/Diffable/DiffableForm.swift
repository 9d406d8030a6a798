/// The part of a diffable data source's snapshot that a list fills: the form of UIKit's and AppKit's.
@MainActor
package protocol DiffableForm {
    associatedtype SectionID
    associatedtype ItemID

    mutating func appendSections(_ identifiers: [SectionID])
    mutating func appendItems(_ identifiers: [ItemID], toSection section: SectionID?)
    /// Has cells drawn again whose items are where they were.
    mutating func reconfigureItems(_ identifiers: [ItemID])
}

extension ListUpdate {
    /// Fills an empty diffable snapshot: with all sections and ids, and with what has to be drawn again.
    @MainActor
    package func fill<Form: DiffableForm>(_ form: inout Form)
    where Form.SectionID == ListSection.ID, Form.ItemID == ManagedObjectID {
        snapshot.fill(&form)
        // A move does not draw its cell again either.
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
