public import Foundation

/// Reading registered lists, as they were last reported: during a group of calls as they are after it. The objects may be newer.
///
/// If the name is not registered, or its delegate is gone, the results are those of an empty list.
extension EntityDataSource {
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

/// Lists that follow every save, bound to a delegate by a name.
///
/// ```swift
/// let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
/// try contacts.register(self, dataKey: "list", request, sectionBy: \.initial)
/// ```
extension EntityDataSource {
    /// Binds a list to a delegate: the list is filled at once, and the delegate is notified of every change from now on.
    ///
    /// The list compares the saved rows with what it shows and does not query the store again, so the cost depends on what
    /// changed. Several saves that main merges at once make one report. Large changes are prepared off the main actor; until
    /// then the list shows its previous state. Few lists query the store after each save, off the main actor: see
    /// ``ListReason/requeriesStore``. No delegate is called before this returns.
    ///
    /// Each data source has its own data keys: registering a key again replaces query and delegate, without a report. The
    /// delegate is held weakly, and its list ends with it. Lists with the same query share their work.
    ///
    /// - Parameters:
    ///   - delegate: The object to notify, on the main actor. It is held weakly.
    ///   - dataKey: The name of the list; every data source has its own names.
    ///   - request: What to show, in which order, how many objects at most, and after which place. The entity may belong to
    ///     another data source. When rows leave, the next ones take their place. The place of the cursor stays the same if its
    ///     object is changed or deleted.
    ///   - sectionBy: Objects with the same value are in one section. The list is sorted by it first: in the direction of the
    ///     request's order if that begins with the same attribute, otherwise ascending. A property that is not a stored
    ///     attribute must be computed from the object's attributes alone.
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, and what the store throws; `unsupportedQuery` also
    ///   for a request with an offset, with a limit below 1, or for distinct values, and for a computed section, or a part of the
    ///   predicate that needs the objects, that follows a relationship.
    public func register<Object: ManagedObject>(
        _ delegate: any DataSourceDelegate, dataKey: String, _ request: ObjectRequest<Object>,
        sectionBy: PartialKeyPath<Object>? = nil
    ) throws {
        let (key, query) = try mainTier.listQuery(ListRequest(request, sectionBy), defersValues: true)
        mainTier.prepareToFetch()
        let engine = try mainTier.lists.engine(key, query)
        boundLists.bind(engine, page: ListPage(request, mainTier), dataKey: dataKey, to: delegate)
    }

    /// Binds a list to a delegate as ``register(_:dataKey:_:sectionBy:)`` does, but reads its rows off the main actor first.
    ///
    /// It is for lists of very many rows: the main actor stays free while they are read and sorted. Until it returns, the data
    /// key shows what it showed before. Then the list is filled, and the delegate is notified of every change from there on. If
    /// the data key is registered again or unregistered meanwhile, that counts, and this call is cancelled.
    ///
    /// ```swift
    /// try await contacts.registerOffMain(view, dataKey: "all", ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]))
    /// ```
    ///
    /// - Parameters:
    ///   - delegate: The object to notify, on the main actor. It is held weakly once the list is filled.
    ///   - dataKey: The name of the list; every data source has its own names.
    ///   - request: What to show, as for ``register(_:dataKey:_:sectionBy:)``.
    ///   - sectionBy: Objects with the same value are in one section; nil, the default, for one section.
    /// - Throws: What ``register(_:dataKey:_:sectionBy:)`` throws, and `CancellationError` if the task was cancelled, or the data
    ///   key was used again; nothing is registered then.
    public func registerOffMain<Object: ManagedObject>(
        _ delegate: any DataSourceDelegate, dataKey: String, _ request: ObjectRequest<Object>,
        sectionBy: PartialKeyPath<Object>? = nil
    ) async throws {
        let (key, query) = try mainTier.listQuery(ListRequest(request, sectionBy), defersValues: true)
        mainTier.prepareToFetch()
        let registration = boundLists.beginFilling(dataKey)
        defer { boundLists.endFilling(dataKey, registration) }
        let engine = try await mainTier.lists.filledEngine(key, query)
        guard boundLists.isFilling(dataKey, registration) else { throw CancellationError() }
        boundLists.bind(engine, page: ListPage(request, mainTier), dataKey: dataKey, to: delegate)
    }

    /// Makes a list begin elsewhere, for example at another page. Only the rows that it then shows are read, and a few more. If
    /// a section is computed, or the predicate needs the objects, all matching rows are read.
    ///
    /// ```swift
    /// let last = contacts.allObjects(dataKey: "list").last
    /// try contacts.moveWindow(dataKey: "list", after: last.map { FetchCursor($0) })
    /// ```
    ///
    /// There is no report, and the list is no longer paused, as if it were registered again. To go back a page, pass the cursor
    /// of that page. Does nothing if the key is not registered.
    ///
    /// - Parameters:
    ///   - dataKey: The name under which the list was registered.
    ///   - cursor: The list begins after that place; nil to begin with the first object.
    /// - Throws: `invalidPredicate` if the cursor belongs to an object that the list cannot contain, and what the store throws;
    ///   the list stays where it is then.
    public func moveWindow(dataKey: String, after cursor: FetchCursor?) throws {
        guard let list = boundLists[dataKey], let delegate = list.delegate else { return }
        boundLists.bind(try mainTier.moved(list.engine, after: cursor), page: list.page, dataKey: dataKey, to: delegate)
    }

    /// Ends a list: its delegate is not called again. Does nothing if the key is not registered.
    public func unregister(dataKey: String) {
        boundLists.remove(dataKey)
    }

    /// The names of the lists that have a delegate, in alphabetical order.
    public var dataKeys: [String] { boundLists.dataKeys }

    /// The data keys of the lists that are paused, for lists that are off the screen. A paused list reports nothing, and keeps
    /// showing its present state.
    ///
    /// ```swift
    /// contacts.pausedDataKeys.insert("list")
    /// contacts.pausedDataKeys.remove("list")
    /// ```
    ///
    /// A list whose data key is removed reports at once, as one group, everything that changed during the pause, and then every
    /// change again. In a delegate's call it reports after the running group. Data keys that are not registered are dropped. A list is no longer paused when it is unregistered, moved or
    /// registered again.
    public var pausedDataKeys: Set<String> {
        get { boundLists.pausedDataKeys }
        set { boundLists.pausedDataKeys = newValue }
    }
}

/// Lists that are observed, or looped over.
extension EntityDataSource {
    /// A list to observe, filled at once: see ``LiveList``.
    ///
    /// The arguments are those of ``register(_:dataKey:_:sectionBy:)``.
    ///
    /// - Parameters:
    ///   - request: What to show.
    ///   - sectionBy: Objects with the same value are in one section; nil, the default, for one section.
    /// - Throws: What ``register(_:dataKey:_:sectionBy:)`` throws.
    public func list<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, sectionBy: PartialKeyPath<Object>? = nil
    ) throws -> LiveList<Object> {
        try LiveList(ListRequest(request, sectionBy), mainTier)
    }

    /// A list as values that follow every save: see ``ListUpdates``.
    ///
    /// ```swift
    /// let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name, [.caseInsensitive])], limit: 50)
    /// for await update in contacts.updates(request, sectionBy: \.initial) { print(update.snapshot.count) }
    /// ```
    ///
    /// The arguments are those of ``register(_:dataKey:_:sectionBy:)``. An invalid request, or rows that cannot be read,
    /// produce an update whose ``ListUpdate/reason`` is a ``ListReason/Kind/failure``.
    ///
    /// - Parameters:
    ///   - request: What to show, as for ``register(_:dataKey:_:sectionBy:)``.
    ///   - sectionBy: Objects with the same value are in one section; nil, the default, for one section.
    ///   - buffering: Which updates a loop gets if it is slower than the saves; `.latest` by default.
    public nonisolated func updates<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, sectionBy: PartialKeyPath<Object>? = nil, buffering: ListBuffering = .latest
    ) -> ListUpdates<Object> {
        ListUpdates(main: mainTier, request: ListRequest(request, sectionBy), buffering: buffering)
    }

    /// A list of the objects that a to-many relationship of an object leads to, as values that follow every save.
    ///
    /// ```swift
    /// for await update in mail.updates(of: thread, \.messages, order: [.ascending(\.date)]) { show(update.snapshot) }
    /// ```
    ///
    /// For conditions and ordered relationships, make an `ObjectRequest` from the object and the key path.
    ///
    /// - Parameters:
    ///   - owner: The object that has the relationship, from any context.
    ///   - keyPath: A to-many relationship that has an inverse and no order of its own.
    ///   - order: What to sort by, the most significant first. Objects that compare equal come in the order of creation.
    ///   - buffering: Which updates a loop gets if it is slower than the saves; `.latest` by default.
    public nonisolated func updates<Owner: ManagedObject, Object: ManagedObject>(
        of owner: Owner, _ keyPath: KeyPath<Owner, RelatedObjects<Object>>, order: [FetchOrder<Object>] = [],
        buffering: ListBuffering = .latest
    ) -> ListUpdates<Object> {
        updates(ObjectRequest(owner, keyPath, order: order), buffering: buffering)
    }
}
