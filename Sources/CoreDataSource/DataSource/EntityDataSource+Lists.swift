public import Foundation

/// Reading the registered lists.
///
/// The results have the state that the delegate was last notified of. During a group of calls, they have the state after the
/// group. The objects may be newer. A data key that is not registered, or whose delegate is released, has the results of an
/// empty list.
extension EntityDataSource {
    /// The number of sections of a list. A list without a section key has 1, even if the list is empty.
    ///
    /// ```swift
    /// let count = contacts.numberOfSections("list")
    /// ```
    public func numberOfSections(_ dataKey: String) -> Int {
        boundLists[dataKey]?.shown.sectionCount ?? 0
    }

    /// The number of objects in a section; 0 if the section does not exist.
    ///
    /// ```swift
    /// let count = contacts.numberOfItems("list", inSection: 0)
    /// ```
    ///
    /// - Parameters:
    ///   - dataKey: The name under which the list was registered.
    ///   - section: The section's index, counted from 0.
    public func numberOfItems(_ dataKey: String, inSection section: Int) -> Int {
        guard let shown = boundLists[dataKey]?.shown, section >= 0, section < shown.sectionCount else { return 0 }
        return shown.range(ofSection: section).count
    }

    /// The object at an index path of a list; nil if there is no object, or if the object has a different class.
    ///
    /// The object may be newer than the list. If the object was deleted, and the list (such as a paused list) has not reported
    /// the deletion yet, its ``ManagedObject/isDeleted`` is true.
    ///
    /// ```swift
    /// let contact = contacts.object(
    ///     at: indexPath, dataKey: "list", as: ContactEntity.self)
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

    /// The index path of an object in a list; nil if the list does not show the object.
    ///
    /// ```swift
    /// let indexPath = contacts.indexPath(of: contact.objectID, dataKey: "list")
    /// ```
    ///
    /// **Complexity**: O(log n) in the number of rows if main has an object with the id, and the list shows its newest values;
    /// otherwise, and if the list does not show the object or depends on relationships, O(n).
    ///
    /// - Parameters:
    ///   - id: The ID of the object.
    ///   - dataKey: The name under which the list was registered.
    public func indexPath(of id: ManagedObjectID, dataKey: String) -> IndexPath? {
        guard let shown = boundLists[dataKey]?.shown else { return nil }
        return mainTier.index(of: id, in: shown).map(shown.indexPath)
    }

    /// A section of a list; nil if the section does not exist.
    ///
    /// ```swift
    /// let title = contacts.sectionInfo(at: 0, dataKey: "list")?.name
    /// ```
    ///
    /// - Parameters:
    ///   - section: The section's index, counted from 0.
    ///   - dataKey: The name under which the list was registered.
    public func sectionInfo(at section: Int, dataKey: String) -> ListSection? {
        guard let shown = boundLists[dataKey]?.shown, section >= 0, section < shown.sectionCount else { return nil }
        return ListSection(section, of: shown)
    }

    /// All objects of a list, in its order. The cost is proportional to the length of the list.
    ///
    /// ```swift
    /// let shown = contacts.allObjects(dataKey: "list", as: ContactEntity.self)
    /// ```
    ///
    /// - Parameters:
    ///   - dataKey: The name under which the list was registered.
    ///   - type: The class of the objects. The result leaves out objects of other classes.
    public func allObjects<Object: ManagedObject>(
        dataKey: String, as type: Object.Type = ManagedObject.self
    ) -> [Object] {
        boundLists[dataKey]?.allObjects.compactMap { $0 as? Object } ?? []
    }

    /// The titles of the sections, for an index beside the list; see
    /// ``DataSourceDelegate/sectionIndexTitle(forSectionName:dataKey:)``.
    ///
    /// ```swift
    /// let titles = contacts.sectionIndexTitles(dataKey: "list")  // ["F", "T"]
    /// ```
    ///
    /// **Complexity**: one call of the delegate for each section.
    public func sectionIndexTitles(dataKey: String) -> [String] {
        guard let list = boundLists[dataKey], let delegate = list.delegate else { return [] }
        return list.shown.sections.compactMap {
            delegate.sectionIndexTitle(forSectionName: $0.name, dataKey: dataKey)
        }
    }

    /// The reason for the last change of a list: the saves, their data sources, their changes, and the cost of the update; and
    /// whether the list queries the store after each save. Nil if the data key is not registered.
    ///
    /// ```swift
    /// if let reason = contacts.lastUpdateReason(dataKey: "list") { print(reason) }
    /// ```
    public func lastUpdateReason(dataKey: String) -> ListReason? {
        boundLists[dataKey].map { mainTier.explained($0.engine.lastUpdateReason, $0.engine.query, $0.page) }
    }
}

/// Lists that follow every save, each registered with a delegate under a data key.
///
/// ```swift
/// let request = ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])
/// try contacts.register(self, dataKey: "list", request, sectionBy: \.initial)
/// ```
extension EntityDataSource {
    /// Registers a list with a delegate. The list is filled at once, and the delegate is notified of every later change.
    ///
    /// ```swift
    /// let request = ObjectRequest(
    ///     ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)])
    /// try contacts.register(view, dataKey: "list", request, sectionBy: \.isFavorite)
    /// ```
    ///
    /// Filling the list costs as much as a fetch of its rows. After a save, the list compares the saved rows with its own rows
    /// and does not query the store, so the cost depends on the saved rows. A few kinds of lists query the store after each
    /// save, off the main actor: see ``ListReason/requeriesStore``. Large changes are prepared off the main actor, and the list
    /// shows its previous state until they are ready. If main merges several saves at once, the delegate gets one report for
    /// all of them. The delegate is not called before `register` returns.
    ///
    /// Each data source has its own data keys. If a key is registered again, the new query and delegate replace the old ones,
    /// without a report. The delegate is referenced weakly; when it is released, its list ends. Lists with the same query share
    /// their work.
    ///
    /// - Parameters:
    ///   - delegate: The object to notify on the main actor, referenced weakly.
    ///   - dataKey: The name of the list in this data source.
    ///   - request: The predicate, order, limit and cursor of the list. The entity may belong to another data source. If
    ///     objects leave a list with a limit, the next objects enter the list. The cursor keeps its position even if its object
    ///     is changed or deleted.
    ///   - sectionBy: The property whose values divide the list into sections; nil, the default, for one section. The list is
    ///     sorted first by this property: in the direction of the request's order if the order begins with the same attribute,
    ///     and otherwise ascending. A property that is not a stored attribute must be computed from the object's attributes
    ///     alone.
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, and errors of the store; `unsupportedQuery` also for
    ///   a request with an offset, with a limit below 1 or for distinct values; and if a computed section, or a part of the
    ///   predicate that needs objects, follows a relationship.
    public func register<Object: ManagedObject>(
        _ delegate: any DataSourceDelegate, dataKey: String, _ request: ObjectRequest<Object>,
        sectionBy: PartialKeyPath<Object>? = nil
    ) throws {
        let (key, query) = try mainTier.listQuery(ListRequest(request, sectionBy), defersValues: true)
        mainTier.prepareToFetch()
        let engine = try mainTier.lists.engine(key, query)
        boundLists.bind(engine, page: ListPage(request, mainTier), dataKey: dataKey, to: delegate)
    }

    /// Registers a list with a delegate, as ``register(_:dataKey:_:sectionBy:)`` does, but reads its rows off the main actor.
    ///
    /// Use it for lists with very many rows: the main actor stays free while the rows are read and sorted. Until the call
    /// returns, the data key keeps its previous list. Then the list is filled, and the delegate is notified of every later
    /// change. If the data key is registered again or unregistered meanwhile, the call is cancelled.
    ///
    /// ```swift
    /// try await contacts.registerOffMain(
    ///     view, dataKey: "all",
    ///     ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]))
    /// ```
    ///
    /// - Parameters:
    ///   - delegate: The object to notify on the main actor, referenced weakly once the list is filled.
    ///   - dataKey: The name of the list in this data source.
    ///   - request: The request, as for ``register(_:dataKey:_:sectionBy:)``.
    ///   - sectionBy: The property whose values divide the list into sections; nil, the default, for one section.
    /// - Throws: Errors of ``register(_:dataKey:_:sectionBy:)``, and `CancellationError` if the task was cancelled or the data
    ///   key was used again. If the call throws, it registers nothing.
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

    /// Moves a list to another page.
    ///
    /// ```swift
    /// let last = contacts.allObjects(dataKey: "list").last
    /// try contacts.moveWindow(dataKey: "list", after: last.map { FetchCursor($0) })
    /// ```
    ///
    /// The call reads the rows of the new page and a few more. If a section is computed, or the predicate needs objects, it
    /// reads all matching rows. The delegate gets no report, and a paused list is no longer paused, as after a new
    /// registration. To go back a page, pass the cursor of that page. Does nothing if the data key is not registered.
    ///
    /// - Parameters:
    ///   - dataKey: The name under which the list was registered.
    ///   - cursor: The position after which the list begins; nil to begin with the first object.
    /// - Throws: `invalidPredicate` if the cursor belongs to an object that the list cannot contain, and errors of the store.
    ///   If the call throws, the list does not move.
    public func moveWindow(dataKey: String, after cursor: FetchCursor?) throws {
        guard let list = boundLists[dataKey], let delegate = list.delegate else { return }
        boundLists.bind(try mainTier.moved(list.engine, after: cursor), page: list.page, dataKey: dataKey, to: delegate)
    }

    /// Ends a list: its delegate is not called again. Does nothing if the data key is not registered.
    ///
    /// ```swift
    /// contacts.unregister(dataKey: "list")
    /// ```
    public func unregister(dataKey: String) {
        boundLists.remove(dataKey)
    }

    /// The data keys of the lists that have a delegate, in alphabetical order.
    public var dataKeys: [String] { boundLists.dataKeys }

    /// The data keys of the paused lists. Pause a list while it is off the screen: it reports nothing, and keeps its present
    /// state.
    ///
    /// ```swift
    /// contacts.pausedDataKeys.insert("list")
    /// contacts.pausedDataKeys.remove("list")
    /// ```
    ///
    /// When a data key is removed from the set, its list reports all changes since the pause as one group, and then every
    /// change. Inside a call of a delegate, the report follows the running group. Data keys that are not registered are
    /// dropped. A list that is unregistered, moved or registered again is no longer paused.
    public var pausedDataKeys: Set<String> {
        get { boundLists.pausedDataKeys }
        set { boundLists.pausedDataKeys = newValue }
    }
}

/// Lists that views observe, and lists as asynchronous sequences.
extension EntityDataSource {
    /// Makes a list to observe, filled at once: see ``LiveList``.
    ///
    /// ```swift
    /// let list = try contacts.list(
    ///     ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]),
    ///     sectionBy: \.isFavorite)
    /// for section in list.sections { print(section.name, section.numberOfObjects) }
    /// ```
    ///
    /// The arguments are those of ``register(_:dataKey:_:sectionBy:)``.
    ///
    /// - Parameters:
    ///   - request: The request, as for ``register(_:dataKey:_:sectionBy:)``.
    ///   - sectionBy: The property whose values divide the list into sections; nil, the default, for one section.
    /// - Throws: Errors of ``register(_:dataKey:_:sectionBy:)``.
    public func list<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, sectionBy: PartialKeyPath<Object>? = nil
    ) throws -> LiveList<Object> {
        try LiveList(ListRequest(request, sectionBy), mainTier)
    }

    /// Makes an asynchronous sequence of the states of a list: see ``ListUpdates``.
    ///
    /// ```swift
    /// let request = ObjectRequest(
    ///     ContactEntity.self, order: [.ascending(\.name, [.caseInsensitive])],
    ///     limit: 50)
    /// for await update in contacts.updates(request, sectionBy: \.initial) {
    ///     print(update.snapshot.count)
    /// }
    /// ```
    ///
    /// For an invalid request, or if the rows cannot be read, the sequence has an update whose ``ListUpdate/reason`` is a
    /// ``ListReason/Kind/failure``.
    ///
    /// - Parameters:
    ///   - request: The request, as for ``register(_:dataKey:_:sectionBy:)``.
    ///   - sectionBy: The property whose values divide the list into sections; nil, the default, for one section.
    ///   - buffering: The updates that a slow loop gets; `.latest` by default.
    public nonisolated func updates<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, sectionBy: PartialKeyPath<Object>? = nil, buffering: ListBuffering = .latest
    ) -> ListUpdates<Object> {
        ListUpdates(main: mainTier, request: ListRequest(request, sectionBy), buffering: buffering)
    }

    /// Makes an asynchronous sequence of the states of a to-many relationship.
    ///
    /// ```swift
    /// for await update in contacts.updates(
    ///     of: group, \.members, order: [.ascending(\.name)]) {
    ///     print(update.snapshot.count)
    /// }
    /// ```
    ///
    /// For a predicate or an ordered relationship, make an `ObjectRequest` from the object and the key path.
    ///
    /// - Parameters:
    ///   - owner: The object with the relationship, from any context.
    ///   - keyPath: A to-many relationship that has an inverse and no order of its own.
    ///   - order: The sort keys, the most significant first. Objects with equal keys come in the order of creation.
    ///   - buffering: The updates that a slow loop gets; `.latest` by default.
    public nonisolated func updates<Owner: ManagedObject, Object: ManagedObject>(
        of owner: Owner, _ keyPath: KeyPath<Owner, RelatedObjects<Object>>, order: [FetchOrder<Object>] = [],
        buffering: ListBuffering = .latest
    ) -> ListUpdates<Object> {
        updates(ObjectRequest(owner, keyPath, order: order), buffering: buffering)
    }
}
