public import Foundation

/// Reading registered lists, as they were last reported: during a group of calls as they are after it. The objects may be newer.
///
/// If the name is not registered, or its delegate is gone, the results are those of an empty list.
extension AnyDataSource {
    /// How many sections a list has; 1 without a section key, even if it is empty.
    public func numberOfSections(_ dataKey: String) -> Int {
        boundLists[dataKey]?.shown.sectionCount ?? 0
    }

    /// How many objects a section has; 0 if there is no such section.
    ///
    /// - Parameters:
    ///   - dataKey: The name under which the list was registered.
    ///   - section: The section's index, counted from 0.
    public func numberOfItems(_ dataKey: String, inSection section: Int) -> Int {
        guard let shown = boundLists[dataKey]?.shown, section >= 0, section < shown.sectionCount else { return 0 }
        return shown.range(ofSection: section).count
    }

    /// The object at a place of a list; nil if there is none, or if it does not have that class.
    ///
    /// It may be newer than the list. If it was deleted and the list has yet to report that, as a paused list has, its
    /// ``ManagedObject/isDeleted`` is true.
    ///
    /// ```swift
    /// let contact = contacts.object(at: indexPath, dataKey: "list", as: ContactEntity.self)
    /// ```
    ///
    /// - Parameters:
    ///   - indexPath: Section and item, each counted from 0.
    ///   - dataKey: The name under which the list was registered.
    ///   - type: The class of the object.
    public func object<Object: ManagedObject>(
        at indexPath: IndexPath, dataKey: String, as type: Object.Type = ManagedObject.self
    ) -> Object? {
        boundLists[dataKey]?.object(at: indexPath) as? Object
    }

    /// The place of an object in a list; nil if the list does not show it.
    ///
    /// - Parameters:
    ///   - id: The object's id.
    ///   - dataKey: The name under which the list was registered.
    public func indexPath(of id: ManagedObjectID, dataKey: String) -> IndexPath? {
        guard let shown = boundLists[dataKey]?.shown else { return nil }
        return shown.index(ofKey: id.key).map(shown.indexPath)
    }

    /// A section of a list, with its name; nil if there is none.
    ///
    /// - Parameters:
    ///   - section: The section's index, counted from 0.
    ///   - dataKey: The name under which the list was registered.
    public func sectionInfo(at section: Int, dataKey: String) -> ListSection? {
        guard let shown = boundLists[dataKey]?.shown, section >= 0, section < shown.sectionCount else { return nil }
        return ListSection(section, of: shown)
    }

    /// All objects of a list in their order.
    ///
    /// - Parameters:
    ///   - dataKey: The name under which the list was registered.
    ///   - type: The class of the objects. Objects of other classes are left out.
    public func allObjects<Object: ManagedObject>(
        dataKey: String, as type: Object.Type = ManagedObject.self
    ) -> [Object] {
        boundLists[dataKey]?.allObjects.compactMap { $0 as? Object } ?? []
    }

    /// A title for each section, for an index along the list; see
    /// ``DataSourceDelegate/sectionIndexTitle(forSectionName:dataKey:)``.
    public func sectionIndexTitles(dataKey: String) -> [String] {
        guard let list = boundLists[dataKey], let delegate = list.delegate else { return [] }
        return list.shown.sections.compactMap {
            delegate.sectionIndexTitle(forSectionName: $0.name, dataKey: dataKey)
        }
    }

    /// Why a list last changed: which saves of which data sources, what they changed, and what the update cost; and whether the
    /// list queries the store after each save.
    public func lastUpdateReason(dataKey: String) -> ListReason? {
        boundLists[dataKey].map { mainTier.explained($0.engine.lastUpdateReason, $0.engine.query, $0.page) }
    }
}
