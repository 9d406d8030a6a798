public import Foundation
internal import RowStore

/// An object that is notified of the changes of the lists that it is registered for.
///
/// For each save that changes a list, or for several that main merges at once, the calls come as one group: will change, all
/// sections, all objects, did change. During all of them the data source already returns the new sections and objects. A table
/// view can apply each change as it comes, between `beginUpdates` and `endUpdates`:
///
/// ```swift
/// extension ContactTable: DataSourceDelegate {
///     func willChangeContent(dataKey: String) { tableView.beginUpdates() }
///
///     func didChangeSection(_ section: ListSection, at index: Int, for type: ListChangeType, dataKey: String) {
///         if type == .insert {
///             tableView.insertSections([index], with: .automatic)
///         } else {
///             tableView.deleteSections([index], with: .automatic)
///         }
///     }
///
///     func didChangeObject(
///         _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
///         dataKey: String
///     ) {
///         if type == .update, let indexPath { return tableView.reloadRows(at: [indexPath], with: .automatic) }
///         // The values of an object that moved may have changed too, so its row is not moved but replaced.
///         if let indexPath { tableView.deleteRows(at: [indexPath], with: .automatic) }
///         if let newIndexPath { tableView.insertRows(at: [newIndexPath], with: .automatic) }
///     }
///
///     func didChangeContent(dataKey: String) { tableView.endUpdates() }
///
///     // The import of ten thousand rows is not animated.
///     func changeLimit(dataKey: String) -> Int { 200 }
///
///     func didReloadContent(dataKey: String) { tableView.reloadData() }
/// }
/// ```
///
/// During a call you may read, save, pause and resume lists, and register and unregister them, including this one.
///
/// **Ordering**: one group comes after the other, whatever the delegates of all lists do in their calls, and no call comes in the
/// middle of a read: a fetch, a property, `register` or `object(at:dataKey:as:)`. What is saved, read or resumed during a group is
/// reported after it. Until then the data source returns the sections and the counts of the running group, while its objects may
/// have newer values: an object that was deleted meanwhile is still at its place, and its ``ManagedObject/isDeleted`` is true.
///
/// **Isolation**: the main actor.
@MainActor
public protocol DataSourceDelegate: AnyObject {
    /// The list is about to report.
    func willChangeContent(dataKey: String)

    /// A section was inserted or deleted; its objects are reported as well.
    ///
    /// - Parameters:
    ///   - section: The section, with its name.
    ///   - index: For a deleted section, its index before all changes; for an inserted one, its index after them.
    ///   - type: `.insert` or `.delete`.
    ///   - dataKey: The name under which the list was registered.
    func didChangeSection(_ section: ListSection, at index: Int, for type: ListChangeType, dataKey: String)

    /// An object entered the list, left it, moved, or changed in its place. Objects that only shifted because of others are not
    /// reported.
    ///
    /// An object also counts as changed if others were linked to it by a to-many relationship, unlinked from it, or reordered.
    ///
    /// - Parameters:
    ///   - object: The object in the main context, with its newest values. An object that left the list need not be deleted: see
    ///     ``ManagedObject/isDeleted``.
    ///   - indexPath: The place before all changes; nil for an insert.
    ///   - type: `.insert`, `.delete`, `.move` or `.update`.
    ///   - newIndexPath: The place after all changes; nil for a delete and for an update.
    ///   - dataKey: The name under which the list was registered.
    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String)

    /// The list has reported everything. It is the only method that has to be implemented.
    func didChangeContent(dataKey: String)

    /// How many objects a report may name. If more have changed, ``didReloadContent(dataKey:)`` is called instead of the whole
    /// group, and main makes no objects for the report. By default there is no limit.
    ///
    /// - Parameter dataKey: The name under which the list was registered.
    func changeLimit(dataKey: String) -> Int

    /// More objects have changed than ``changeLimit(dataKey:)`` allows: read the list again. By default
    /// ``didChangeContent(dataKey:)`` is called; implement it if that one ends what ``willChangeContent(dataKey:)`` has begun.
    ///
    /// - Parameter dataKey: The name under which the list was registered.
    func didReloadContent(dataKey: String)

    /// The title of a section in the index along the list; nil for no title. By default the capitalized first letter of its
    /// name.
    ///
    /// - Parameters:
    ///   - name: The name of the section.
    ///   - dataKey: The name under which the list was registered.
    func sectionIndexTitle(forSectionName name: String, dataKey: String) -> String?

    /// The rows could not be read. The list stays unchanged; the next save tries again.
    ///
    /// - Parameters:
    ///   - error: What the store threw.
    ///   - dataKey: The name under which the list was registered.
    func didFail(_ error: DataSourceError, dataKey: String)
}

extension DataSourceDelegate {
    public func willChangeContent(dataKey: String) {}

    public func didChangeSection(_ section: ListSection, at index: Int, for type: ListChangeType, dataKey: String) {}

    public func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {}

    public func changeLimit(dataKey: String) -> Int { .max }

    public func didReloadContent(dataKey: String) { didChangeContent(dataKey: dataKey) }

    public func sectionIndexTitle(forSectionName name: String, dataKey: String) -> String? {
        indexTitle(ofSection: name)
    }

    public func didFail(_ error: DataSourceError, dataKey: String) {}
}

#if !canImport(UIKit) && !canImport(AppKit)
/// What UIKit and AppKit add to index paths, for platforms that have neither.
extension IndexPath {
    /// The path of an item in a section, both counted from 0.
    public init(item: Int, section: Int) {
        self.init(indexes: [section, item])
    }

    /// The path of a row in a section, both counted from 0.
    public init(row: Int, section: Int) {
        self.init(item: row, section: section)
    }

    /// The first index; the path must not be empty.
    public var section: Int { self[0] }
    /// The second index; the path must have at least two.
    public var item: Int { self[1] }
    /// The second index; the path must have at least two.
    public var row: Int { self[1] }
}
#endif

extension ListState {
    /// The section and item of an index over all sections.
    func indexPath(_ index: Int) -> IndexPath {
        let section = query.order.section == nil ? 0 : section(ofRow: index)
        return IndexPath(indexes: [section, index - sectionStarts[section]])
    }

    /// The index over all sections; nil if there is no such row.
    func index(_ path: IndexPath) -> Int? {
        guard path.count == 2, path[0] >= 0, path[0] < sectionCount, path[1] >= 0 else { return nil }
        let range = range(ofSection: path[0])
        return path[1] < range.count ? range.lowerBound + path[1] : nil
    }
}

/// What happened to a row or a section of a list.
public struct ListChangeType: RawRepresentable, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// A row or section is new.
    public static let insert = ListChangeType(rawValue: 1)
    /// A row or section is gone.
    public static let delete = ListChangeType(rawValue: 2)
    /// The object moved among those that stayed, or to another section. Its other values may have changed too.
    public static let move = ListChangeType(rawValue: 3)
    /// Values changed, but the place did not.
    public static let update = ListChangeType(rawValue: 4)
}

extension ListChangeType: CustomStringConvertible {
    public var description: String {
        switch self {
        case .insert: "insert"
        case .delete: "delete"
        case .move: "move"
        case .update: "update"
        default: "ListChangeType(\(rawValue))"
        }
    }
}

/// One section of a list.
public struct ListSection: Sendable, Hashable {
    /// Identifies a section while it is in the list.
    public struct ID: Sendable, Hashable {
        let value: RowValue
    }

    /// Stays the same while the section is in the list.
    public let id: ID
    /// The value of the section key as a string; empty for nil, and for the only section of a list without a section key.
    public let name: String
    /// The capitalized first letter of the name.
    public var indexTitle: String { CoreDataSource.indexTitle(ofSection: name) }
    /// The indexes of the section's rows, counted over all sections.
    public let range: Range<Int>
    /// How many objects it has.
    public var numberOfObjects: Int { range.count }

    init(_ section: Int, of state: ListState) {
        id = ID(value: state.sectionValue(section))
        name = state.sectionName(section)
        range = state.range(ofSection: section)
    }
}

extension ListState {
    var sections: [ListSection] { (0..<sectionCount).map { ListSection($0, of: self) } }
}
