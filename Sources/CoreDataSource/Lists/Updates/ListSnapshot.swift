public import Foundation
internal import RowStore

/// What a list showed after one save: all rows in their order, divided into sections.
///
/// It can be kept and sent anywhere. Snapshots share everything that did not change between them.
public struct ListSnapshot<Object: ManagedObject>: Sendable, RandomAccessCollection {
    package let state: ListState
    let reader: DetachedObjects

    public var startIndex: Int { 0 }
    public var endIndex: Int { state.count }

    /// The row at an index over all sections. Complexity: O(log n).
    public subscript(index: Int) -> ListRow<Object> {
        precondition(
            index >= 0 && index < state.count, "The index \(index) is out of range for a list of \(state.count) rows.")
        return ListRow(row: state.rows[index], reader: reader)
    }

    /// The row at a place; nil if there is none.
    public subscript(indexPath: IndexPath) -> ListRow<Object>? {
        state.index(indexPath).map { self[$0] }
    }

    /// All ids in their order.
    public var ids: [ManagedObjectID] { map(\.id) }

    // MARK: Sections

    /// How many sections there are; 1 without a section key, even if it is empty.
    public var sectionCount: Int { state.sectionCount }

    /// A section with its name and the range of its rows.
    public func section(_ index: Int) -> ListSection {
        precondition(
            index >= 0 && index < sectionCount,
            "The section \(index) is out of range for a list of \(sectionCount) sections.")
        return ListSection(index, of: state)
    }

    /// All sections in their order.
    public var sections: [ListSection] { state.sections }

    /// The section and item of the row at an index over all sections.
    public func indexPath(_ index: Int) -> IndexPath { state.indexPath(index) }

    /// The index of an object over all sections, found by looking at all rows; nil if it is not shown.
    public func index(of id: ManagedObjectID) -> Int? { state.index(ofKey: id.key) }
}
