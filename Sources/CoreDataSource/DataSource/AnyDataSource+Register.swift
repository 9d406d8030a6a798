/// Lists that follow every save, bound to a delegate by a name.
///
/// ```swift
/// let request = FetchRequest(ContactEntity.self, order: [.ascending(\.name)])
/// try contacts.register(self, dataKey: "list", request, sectionBy: \.initial)
/// ```
extension AnyDataSource {
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
        _ delegate: any DataSourceDelegate, dataKey: String, _ request: FetchRequest<Object>,
        sectionBy: PartialKeyPath<Object>? = nil
    ) throws {
        let (key, query) = try mainTier.listQuery(ListRequest(request, sectionBy), leavesValuesApart: true)
        mainTier.prepareToFetch()
        let engine = try mainTier.lists.engine(key, query)
        boundLists.bind(engine, ListPage(request, mainTier), dataKey, delegate)
    }

    /// Binds a list to a delegate as ``register(_:dataKey:_:sectionBy:)`` does, but reads its rows off the main actor first.
    ///
    /// It is for lists of very many rows: the main actor stays free while they are read and sorted. Until it returns, the data
    /// key shows what it showed before. Then the list is filled, and the delegate is notified of every change from there on. If
    /// the data key is registered again or unregistered meanwhile, that counts, and this call is cancelled.
    ///
    /// ```swift
    /// try await contacts.registerOffMain(view, dataKey: "all", FetchRequest(ContactEntity.self, order: [.ascending(\.name)]))
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
        _ delegate: any DataSourceDelegate, dataKey: String, _ request: FetchRequest<Object>,
        sectionBy: PartialKeyPath<Object>? = nil
    ) async throws {
        let (key, query) = try mainTier.listQuery(ListRequest(request, sectionBy), leavesValuesApart: true)
        mainTier.prepareToFetch()
        let registration = boundLists.beginFilling(dataKey)
        defer { boundLists.endFilling(dataKey, registration) }
        let engine = try await mainTier.lists.filledEngine(key, query)
        guard boundLists.isFilling(dataKey, registration) else { throw CancellationError() }
        boundLists.bind(engine, ListPage(request, mainTier), dataKey, delegate)
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
        boundLists.bind(try mainTier.moved(list.engine, after: cursor), list.page, dataKey, delegate)
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
