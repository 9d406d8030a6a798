public import Foundation

/// Reads the registered lists.
///
/// The results show the state that the delegate was last notified of. A change is reported to the delegate with a group of
/// calls. During the group, the results already show the state after the group. The objects may be newer than this state. A
/// data key that is not registered, or whose delegate was released, has no sections and no objects.
extension EntityDataSource {
    /// The number of sections of a list. A list without a section key has 1 section, even if the list is empty.
    ///
    /// ```swift
    /// let count = contacts.numberOfSections(dataKey: "list")
    /// ```
    public func numberOfSections(dataKey: String) -> Int {
        boundLists[dataKey]?.shown.sectionCount ?? 0
    }

    /// The number of objects in a section; 0 if the section does not exist.
    ///
    /// ```swift
    /// let count = contacts.numberOfItems(inSection: 0, dataKey: "list")
    /// ```
    ///
    /// - Parameters:
    ///   - dataKey: The name under which the list was registered.
    ///   - section: The section's index, counted from 0.
    public func numberOfItems(inSection section: Int, dataKey: String) -> Int {
        guard let shown = boundLists[dataKey]?.shown, section >= 0, section < shown.sectionCount else { return 0 }
        return shown.range(ofSection: section).count
    }

    /// Returns the object at an index path of a list; nil if there is no object, or if the object has a different class.
    ///
    /// The object may be newer than the list. If the object was deleted, its ``ManagedObject/isDeleted`` is true even before
    /// the list reports the deletion, for example while the list is paused.
    ///
    /// ```swift
    /// let contact = contacts.object(
    ///     at: indexPath, dataKey: "list", as: ContactEntity.self)
    /// ```
    ///
    /// - Parameters:
    ///   - indexPath: The section and the item, each counted from 0.
    ///   - dataKey: The name under which the list was registered.
    ///   - type: The class of the object.
    public func object<Object: ManagedObject>(
        at indexPath: IndexPath, dataKey: String, as type: Object.Type = ManagedObject.self
    ) -> Object? {
        boundLists[dataKey]?.object(at: indexPath) as? Object
    }

    /// Returns the index path of an object in a list; nil if the list does not show the object.
    ///
    /// ```swift
    /// let indexPath = contacts.indexPath(of: contact.objectID, dataKey: "list")
    /// ```
    ///
    /// **Complexity**: O(log n) in the number of rows if the main context has an object with the ID, and the list shows
    /// the object's newest values. O(n) otherwise, and always if the list depends on relationships.
    ///
    /// - Parameters:
    ///   - id: The ID of the object.
    ///   - dataKey: The name under which the list was registered.
    public func indexPath(of id: ManagedObjectID, dataKey: String) -> IndexPath? {
        guard let shown = boundLists[dataKey]?.shown else { return nil }
        return mainTier.index(of: id, in: shown).map(shown.indexPath)
    }

    /// Returns a section of a list; nil if the section does not exist.
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

    /// Returns all objects of a list, in the order of the list. **Complexity**: linear in the length of the list.
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

    /// Returns the titles of the sections, for an index beside the list. See
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

    /// Returns the freshness of the scope in a list's request (``ObjectRequest/freshnessOf``). The freshness is never newer
    /// than the rows. Nil if the request has no scope, or if the data key is not registered.
    ///
    /// ```swift
    /// let date = contacts.freshness(dataKey: "list")?.requestedAt
    /// ```
    public func freshness(dataKey: String) -> ScopeFreshness? { boundLists[dataKey]?.freshness }

    /// Returns the reason for the last change of a list: the saves, their data sources, their changes, and the cost of the
    /// update. The reason also says whether the list queries the store after each save. Nil if the data key is not registered.
    ///
    /// ```swift
    /// if let reason = contacts.lastUpdateReason(dataKey: "list") { print(reason) }
    /// ```
    public func lastUpdateReason(dataKey: String) -> ListReason? {
        boundLists[dataKey].map {
            mainTier.addingRelationshipReads($0.engine.lastUpdateReason, $0.engine.query, $0.page)
        }
    }
}

/// Registers lists that follow every save. Each list has a delegate and a data key.
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
    /// Filling the list costs as much as a fetch of its rows. After a save, the list compares the saved rows with its
    /// own rows and does not query the store, so the cost depends only on the saved rows. A few kinds of lists query
    /// the store after each save, off the main actor: see ``ListReason/requeriesStore``. Large changes are prepared off
    /// the main actor, and the list shows its previous state until the changes are ready. If the main context merges
    /// several saves together, the delegate gets one report for all of them. The delegate is not called before
    /// `register` returns.
    ///
    /// Each data source has its own data keys. If a key is registered again, the new query and delegate replace the old ones
    /// without a report. The list does not retain its delegate, and ends when the delegate is released. Lists with the same
    /// query share their work.
    ///
    /// - Parameters:
    ///   - delegate: The object to notify on the main actor. The list does not retain it.
    ///   - dataKey: The name of the list in this data source.
    ///   - request: The predicate, order, limit and cursor of the list. The entity may belong to another data source. If
    ///     objects leave a list with a limit, the next objects enter the list. The position of the cursor does not change if
    ///     its object is changed or deleted.
    ///   - sectionBy: The property whose values divide the list into sections; nil, the default, for one section. The list is
    ///     sorted first by this property. If the request's order begins with the same attribute, the sections have the
    ///     direction of that order; otherwise they are ascending. If the property is computed, it must depend only on the
    ///     object's own attributes.
    /// - Throws: `unknownEntity`, `unknownAttribute`, `invalidPredicate`, and errors of the store. `invalidRequest` if both the
    ///   request and `sectionBy` have sections, if the sections do not support the type of their attribute, or if the limit or
    ///   the offset is negative. `unsupportedQuery` if the request has an offset, has the limit 0 or is for distinct values, or
    ///   if a computed section or a predicate that needs objects follows a relationship.
    public func register<Object: ManagedObject>(
        _ delegate: any DataSourceDelegate, dataKey: String, _ request: ObjectRequest<Object>,
        sectionBy: PartialKeyPath<Object>? = nil
    ) throws {
        let (key, query) = try mainTier.listQuery(ListRequest(request, sectionBy), defersValues: true)
        mainTier.prepareToFetch()
        let freshness = request.freshnessOf == nil ? nil : try mainTier.scopes.follow(request)
        let engine = try mainTier.lists.engine(key, query)
        boundLists.bind(
            engine, page: ListPage(request, mainTier), freshness: freshness, dataKey: dataKey, to: delegate)
    }

    /// Registers a list with a delegate like ``register(_:dataKey:_:sectionBy:)``, but reads the rows off the main actor.
    ///
    /// Use this function for lists with very many rows: the main actor is free while the rows are read and sorted. Until the
    /// call returns, the data key keeps its previous list. Afterwards the new list is filled, and the delegate is notified of
    /// every later change. If the data key is registered again, moved or unregistered during the call, the call throws
    /// `CancellationError`.
    ///
    /// ```swift
    /// try await contacts.registerOffMain(
    ///     view, dataKey: "all",
    ///     ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]))
    /// ```
    ///
    /// - Parameters:
    ///   - delegate: The object to notify on the main actor. The list does not retain it after the call has returned.
    ///   - dataKey: The name of the list in this data source.
    ///   - request: The request, as in ``register(_:dataKey:_:sectionBy:)``.
    ///   - sectionBy: The property whose values divide the list into sections; nil, the default, for one section.
    /// - Throws: Errors of ``register(_:dataKey:_:sectionBy:)``; `CancellationError` if the task was canceled, or if
    ///   the data key was registered again, moved or unregistered. If the call throws, it registers nothing.
    public func registerOffMain<Object: ManagedObject>(
        _ delegate: any DataSourceDelegate, dataKey: String, _ request: ObjectRequest<Object>,
        sectionBy: PartialKeyPath<Object>? = nil
    ) async throws {
        let (key, query) = try mainTier.listQuery(ListRequest(request, sectionBy), defersValues: true)
        mainTier.prepareToFetch()
        let registration = boundLists.beginFilling(dataKey)
        defer { boundLists.endFilling(dataKey, registration) }
        let freshness =
            request.freshnessOf == nil ? nil : try await mainTier.scopes.followOffMain(request).get()
        let engine = try await mainTier.lists.filledEngine(key, query)
        guard boundLists.isFilling(dataKey, registration) else { throw CancellationError() }
        boundLists.bind(
            engine, page: ListPage(request, mainTier), freshness: freshness, dataKey: dataKey, to: delegate)
    }

    /// Moves a list to another page.
    ///
    /// ```swift
    /// let last = contacts.allObjects(dataKey: "list").last
    /// try contacts.moveWindow(dataKey: "list", after: last.map { FetchCursor($0) })
    /// ```
    ///
    /// The call reads the rows of the new page and a few more. If a section is computed, or the predicate needs objects, the
    /// call reads all matching rows. The delegate gets no report. The call also ends a pause of the list. To return to an
    /// earlier page, pass the cursor of that page. Does nothing if the data key is not registered.
    ///
    /// - Parameters:
    ///   - dataKey: The name under which the list was registered.
    ///   - cursor: The position after which the list begins; nil to begin with the first object.
    /// - Throws: `invalidPredicate` if the cursor belongs to an object that the list cannot contain, and errors of the store.
    ///   If the call throws, the list does not move.
    public func moveWindow(dataKey: String, after cursor: FetchCursor?) throws {
        guard let list = boundLists[dataKey], let delegate = list.delegate else { return }
        boundLists.bind(
            try mainTier.engineForPage(list.engine, after: cursor), page: list.page,
            freshness: list.followedFreshness, dataKey: dataKey, to: delegate)
    }

    /// Ends a list. The delegate is not called again. Does nothing if the data key is not registered.
    ///
    /// ```swift
    /// contacts.unregister(dataKey: "list")
    /// ```
    public func unregister(dataKey: String) {
        boundLists.remove(dataKey)
    }

    /// The data keys of the lists that have a delegate, in alphabetical order.
    public var dataKeys: [String] { boundLists.dataKeys }

    /// The data keys of the paused lists. Pause a list while it is off the screen: a paused list reports nothing, and keeps its
    /// current state.
    ///
    /// ```swift
    /// contacts.pausedDataKeys.insert("list")
    /// contacts.pausedDataKeys.remove("list")
    /// ```
    ///
    /// When a data key is removed from the set, its list reports all changes since the pause as one group. Afterwards
    /// the list reports every change. If a delegate removes the key during a group of calls, the list reports the
    /// changes after the group. Data keys that are not registered are ignored. A list is no longer paused after it was
    /// unregistered, moved or registered again.
    public var pausedDataKeys: Set<String> {
        get { boundLists.pausedDataKeys }
        set { boundLists.pausedDataKeys = newValue }
    }
}

/// Makes lists that views can observe, and lists as asynchronous sequences.
extension EntityDataSource {
    /// Makes an observable list, and fills it at once. See ``LiveList``.
    ///
    /// ```swift
    /// let list = try contacts.list(
    ///     ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]),
    ///     sectionBy: \.isFavorite)
    /// for section in list.sections { print(section.name, section.numberOfObjects) }
    /// ```
    ///
    /// The arguments are the same as for ``register(_:dataKey:_:sectionBy:)``.
    ///
    /// - Parameters:
    ///   - request: The request, as in ``register(_:dataKey:_:sectionBy:)``.
    ///   - sectionBy: The property whose values divide the list into sections; nil, the default, for one section.
    /// - Throws: Errors of ``register(_:dataKey:_:sectionBy:)``.
    public func list<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, sectionBy: PartialKeyPath<Object>? = nil
    ) throws -> LiveList<Object> {
        try LiveList(ListRequest(request, sectionBy), mainTier)
    }

    /// Makes an asynchronous sequence of the states of a list. See ``ListUpdates``.
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
    /// If the request is invalid, or if the rows cannot be read, the sequence has an update whose ``ListUpdate/reason`` has the
    /// kind ``ListReason/Kind/failure``.
    ///
    /// - Parameters:
    ///   - request: The request, as in ``register(_:dataKey:_:sectionBy:)``.
    ///   - sectionBy: The property whose values divide the list into sections; nil, the default, for one section.
    ///   - buffering: The buffering of updates for a slow loop; `.latest` by default.
    public nonisolated func updates<Object: ManagedObject>(
        _ request: ObjectRequest<Object>, sectionBy: PartialKeyPath<Object>? = nil, buffering: ListBuffering = .latest
    ) -> ListUpdates<Object> {
        ListUpdates(main: mainTier, request: ListRequest(request, sectionBy), buffering: buffering)
    }
}
