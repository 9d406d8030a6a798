public import Foundation
internal import RowStore

/// An object that is notified when lists change.
///
/// Each save that changes a list makes one group of calls, in this order: `willChangeContent`, one call for each
/// deleted or inserted section, one call for each changed object, `didChangeContent`. If the main context merges
/// several saves together, one group reports the changes of all these saves. During the whole group, the data source
/// already returns the new sections and objects. A table view can apply each change in its call, between `beginUpdates`
/// and `endUpdates`:
///
/// ```swift
/// extension ContactTable: DataSourceDelegate {
///     func willChangeContent(dataKey: String) { tableView.beginUpdates() }
///
///     func didChangeSection(
///         _ section: ListSection, at index: Int, for type: ListChangeType,
///         dataKey: String
///     ) {
///         if type == .insert {
///             tableView.insertSections([index], with: .automatic)
///         } else {
///             tableView.deleteSections([index], with: .automatic)
///         }
///     }
///
///     func didChangeObject(
///         _ object: ManagedObject, at indexPath: IndexPath?,
///         for type: ListChangeType, newIndexPath: IndexPath?,
///         dataKey: String
///     ) {
///         if type == .update, let indexPath {
///             return tableView.reloadRows(at: [indexPath], with: .automatic)
///         }
///         // The values of an object that moved may have changed too, so its row
///         // is not moved but replaced.
///         if let indexPath {
///             tableView.deleteRows(at: [indexPath], with: .automatic)
///         }
///         if let newIndexPath {
///             tableView.insertRows(at: [newIndexPath], with: .automatic)
///         }
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
/// During a call you may read and save. You may also pause, resume, register and unregister lists, including the list that
/// makes the call.
///
/// **Ordering**: groups never overlap, whatever the delegates do in their calls. No call is made during a read: a fetch, a
/// property, `register` or `object(at:dataKey:as:)`. Changes that are saved, merged or resumed during a group are reported
/// after the group. Until the group ends, the data source returns the sections and counts of the group. The objects may have
/// newer values: an object that is deleted during the group keeps its index path, and its ``ManagedObject/isDeleted`` is true.
///
/// **Isolation**: the main actor.
@MainActor
public protocol DataSourceDelegate: AnyObject {
    /// Called before the changes of a group.
    ///
    /// ```swift
    /// func willChangeContent(dataKey: String) { tableView.beginUpdates() }
    /// ```
    func willChangeContent(dataKey: String)

    /// Called for each section that was inserted or deleted. The objects of the section are also reported one by one.
    ///
    /// ```swift
    /// func didChangeSection(
    ///     _ section: ListSection, at index: Int, for type: ListChangeType,
    ///     dataKey: String
    /// ) {
    ///     if type == .insert {
    ///         tableView.insertSections([index], with: .automatic)
    ///     } else {
    ///         tableView.deleteSections([index], with: .automatic)
    ///     }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - section: The section.
    ///   - index: The section's index: before all changes for a deleted section, after all changes for an inserted section.
    ///   - type: `.insert` or `.delete`.
    ///   - dataKey: The name under which the list was registered.
    func didChangeSection(_ section: ListSection, at index: Int, for type: ListChangeType, dataKey: String)

    /// Called for each object that entered the list, left the list, moved, or changed without a move. Objects that shifted only
    /// because of other objects are not reported.
    ///
    /// ```swift
    /// func didChangeObject(
    ///     _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType,
    ///     newIndexPath: IndexPath?,
    ///     dataKey: String
    /// ) {
    ///     guard let contact = object as? ContactEntity else { return }
    ///     lines.append("\(type) \(contact.name)")
    /// }
    /// ```
    ///
    /// An object also counts as changed if objects were linked, unlinked or reordered in its to-many relationships.
    ///
    /// - Parameters:
    ///   - object: The object in the main context, with its newest values. An object that left the list may still exist: see
    ///     ``ManagedObject/isDeleted``.
    ///   - indexPath: The index path before all changes; nil for an insert.
    ///   - type: `.insert`, `.delete`, `.move` or `.update`.
    ///   - newIndexPath: The index path after all changes; nil for a delete and for an update.
    ///   - dataKey: The name under which the list was registered.
    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String)

    /// Called after the changes of a group. This method is the only required one: all other methods have defaults.
    ///
    /// ```swift
    /// func didChangeContent(dataKey: String) { tableView.endUpdates() }
    /// ```
    func didChangeContent(dataKey: String)

    /// Returns the largest number of objects that a group may report. By default there is no limit.
    ///
    /// If more objects changed, ``didReloadContent(dataKey:)`` is called instead of the whole group, and no objects are
    /// made for the group.
    ///
    /// ```swift
    /// func changeLimit(dataKey: String) -> Int { 200 }
    /// ```
    ///
    /// - Parameter dataKey: The name under which the list was registered.
    func changeLimit(dataKey: String) -> Int

    /// Called instead of a group if more objects changed than ``changeLimit(dataKey:)`` allows. Read the list again.
    ///
    /// This method is also called when a day ends, if the sections of the list are days, weeks or months.
    ///
    /// The default implementation calls ``didChangeContent(dataKey:)``. Implement this method if `didChangeContent` ends an
    /// update that ``willChangeContent(dataKey:)`` begins, because `willChangeContent` is not called before this method.
    ///
    /// ```swift
    /// func didReloadContent(dataKey: String) { tableView.reloadData() }
    /// ```
    ///
    /// - Parameter dataKey: The name under which the list was registered.
    func didReloadContent(dataKey: String)

    /// Returns the title of a section in the index beside the list; nil for no title. The default is the capitalized first
    /// letter of the section's name.
    ///
    /// ```swift
    /// func sectionIndexTitle(forSectionName name: String, dataKey: String) -> String?
    /// {
    ///     name.isEmpty ? nil : "\(name.prefix(2))"
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the section.
    ///   - dataKey: The name under which the list was registered.
    func sectionIndexTitle(forSectionName name: String, dataKey: String) -> String?

    /// Called after the freshness of the list's scope (``ObjectRequest/freshnessOf``) has changed, even if no row has changed.
    /// Also called when a load of the scope begins or ends: ``ScopeFreshness/isLoading``. Never called during a group.
    ///
    /// ```swift
    /// func didChangeFreshness(_ freshness: ScopeFreshness, dataKey: String) {
    ///     print("Updated", freshness.requestedAt as Any)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - freshness: The new freshness, which ``EntityDataSource/freshness(dataKey:)`` also returns.
    ///   - dataKey: The name under which the list was registered.
    func didChangeFreshness(_ freshness: ScopeFreshness, dataKey: String)

    /// Called if the rows cannot be read. The list stays unchanged, and is read again after the next save.
    ///
    /// ```swift
    /// func didFail(_ error: DataSourceError, dataKey: String) {
    ///     print(dataKey, error.message)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - error: The error of the store.
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

    public func didChangeFreshness(_ freshness: ScopeFreshness, dataKey: String) {}
}

#if !canImport(UIKit) && !canImport(AppKit)
/// The members that UIKit and AppKit add to `IndexPath`, for other platforms.
extension IndexPath {
    /// Makes the index path of an item in a section. Both indexes are counted from 0.
    ///
    /// ```swift
    /// let indexPath = IndexPath(item: 2, section: 0)
    /// ```
    public init(item: Int, section: Int) {
        self.init(indexes: [section, item])
    }

    /// Makes the index path of a row in a section. Both indexes are counted from 0.
    ///
    /// ```swift
    /// let indexPath = IndexPath(row: 2, section: 0)
    /// ```
    public init(row: Int, section: Int) {
        self.init(item: row, section: section)
    }

    /// The section, which is the first index. The path must not be empty.
    public var section: Int { self[0] }
    /// The item, which is the second index. The path must have at least two indexes.
    public var item: Int { self[1] }
    /// The row, which is the second index. The path must have at least two indexes.
    public var row: Int { self[1] }
}
#endif

extension ListState {
    /// Converts an index over all sections to an index path.
    func indexPath(_ index: Int) -> IndexPath {
        let section = query.order.section == nil ? 0 : section(ofRow: index)
        return IndexPath(indexes: [section, index - sectionStarts[section]])
    }

    /// Converts an index path to an index over all sections; nil if the list has no such row.
    func index(_ path: IndexPath) -> Int? {
        guard path.count == 2, path[0] >= 0, path[0] < sectionCount, path[1] >= 0 else { return nil }
        let range = range(ofSection: path[0])
        return path[1] < range.count ? range.lowerBound + path[1] : nil
    }
}

/// The kind of a change to a row or a section.
public struct ListChangeType: RawRepresentable, Sendable, Hashable {
    public let rawValue: Int

    /// Makes the kind with a raw value, for example from a log.
    ///
    /// ```swift
    /// let type = ListChangeType(rawValue: 4)  // update
    /// ```
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The row or section was inserted.
    public static let insert = ListChangeType(rawValue: 1)
    /// The row or section was deleted.
    public static let delete = ListChangeType(rawValue: 2)
    /// The row moved relative to the rows that stayed, or to another section. The values of the row may have changed too.
    public static let move = ListChangeType(rawValue: 3)
    /// The values of the row changed, but the row did not move.
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
    /// The identity of a section while the section is in the list.
    public struct ID: Sendable, Hashable {
        let values: [RowValue]
    }

    /// The identity of the section. It stays the same while the section is in the list.
    public let id: ID
    /// The value of the section key as a string; empty for nil, and for the only section of a list without a section key.
    public let name: String
    /// The capitalized first letter of the name.
    public var indexTitle: String { CoreDataSource.indexTitle(ofSection: name) }
    /// The indexes of the section's rows, counted over all sections.
    public let range: Range<Int>
    /// The time interval of the section, if the sections are days, weeks or months; otherwise nil.
    ///
    /// ```swift
    /// let isToday = section.interval?.contains(.now) ?? false
    /// ```
    public let interval: DateInterval?
    /// The related object, if the sections are made by a to-one relationship. In this case, ``name`` is the key of the object.
    /// Nil for the section without a related object, and for sections that are made in another way.
    ///
    /// ```swift
    /// let thread = try section.objectID.flatMap {
    ///     try mail.main.object(ThreadEntity.self, id: $0)
    /// }
    /// ```
    public let objectID: ManagedObjectID?
    /// The number of objects in the section.
    public var numberOfObjects: Int { range.count }

    init(_ section: Int, of state: ListState) {
        let values = state.sectionValues(section)
        id = ID(values: values)
        objectID = state.query.order.section?.objectID(values)
        interval = state.sectionInterval(section)
        name = state.sectionName(section)
        range = state.range(ofSection: section)
    }
}

extension ListState {
    var sections: [ListSection] { (0..<sectionCount).map { ListSection($0, of: self) } }
}
