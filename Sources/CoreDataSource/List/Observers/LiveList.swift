public import Observation
internal import RowStore

/// An observable list for SwiftUI and other observers, which always shows the newest state.
///
/// ```swift
/// @State private var list = try contacts.list(
///     ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]))
///
/// List(list.snapshot) { contact in Text(contact.name) }
/// ```
///
/// The list follows every save while it exists. When the container is closed, the kind of ``lastUpdateReason`` becomes
/// ``ListReason/Kind/closed``, and the list keeps its last state. The list does not keep the store open. After the container
/// and its data sources are released, the list ends as if the container were closed, and ``object(_:)`` returns nil.
///
/// **Isolation**: the main actor.
@MainActor
@Observable
public final class LiveList<Object: ManagedObject> {
    /// The state of the list. Each update replaces the whole snapshot.
    public private(set) var snapshot: ListSnapshot<Object>
    /// The changes from the previous snapshot to the current snapshot; empty at first.
    public private(set) var difference = ListDifference()
    /// The freshness of the request's scope (``ObjectRequest/freshnessOf``), which is never newer than the rows; nil if the
    /// request has no scope.
    ///
    /// The value also changes if no row changes: after an answer `.notModified` of the server, after a failed load, after
    /// loads by other processes, and when a load begins or ends (``ScopeFreshness/isLoading``). A paused list keeps its value.
    ///
    /// ```swift
    /// if let freshness = list.freshness, let date = freshness.requestedAt {
    ///     print("Updated", date)
    ///     if freshness.failureCount > 0 { print("The last refresh has failed") }
    /// }
    /// ```
    public private(set) var freshness: ScopeFreshness?
    /// The reason for the last change of the list.
    public var lastUpdateReason: ListReason {
        // If a read finds the same rows after a failed read, no update sets a new reason. So ask the source for the reason.
        let reason = reason.kind == .failure ? source.lastUpdateReason : reason
        return main?.addingRelationshipReads(reason, snapshot.state.query, page) ?? reason
    }

    private var reason: ListReason
    /// Weak, so that the container and its store can be released while the list exists.
    @ObservationIgnored private weak let main: MainTier?
    @ObservationIgnored private let layout: ModelLayout
    /// The query that the list was made for.
    @ObservationIgnored private let key: ListKey
    @ObservationIgnored private let page: ListPage
    @ObservationIgnored private var source: Source
    @ObservationIgnored private let followedFreshness: ListFreshness?
    @ObservationIgnored private let scope: SyncScope<Object>?
    @ObservationIgnored private let subscriber = EngineSubscriber()
    @ObservationIgnored private var shown: ShownState
    /// The reports that are not shown yet. An observer that is being notified may move the list, which adds a report.
    @ObservationIgnored private var reports: [ListReport] = []
    @ObservationIgnored private var isShowing = false

    init(_ request: ListRequest<Object>, _ main: MainTier) throws(DataSourceError) {
        let (key, query) = try main.listQuery(request)
        main.prepareToFetch()
        self.main = main
        layout = main.stack.layout
        self.key = key
        page = ListPage(request.request, main)
        scope = request.request.freshnessOf
        // Read before the rows, because the freshness must not be newer than the rows.
        followedFreshness = scope == nil ? nil : try main.scopes.follow(request.request)
        freshness = followedFreshness?.value
        let engine = try main.lists.engine(key, query)
        source = .engine(engine)
        shown = ShownState(engine.state)
        snapshot = ListSnapshot(state: engine.state, reader: main.detachedObjectFactory)
        reason = engine.lastUpdateReason
        subscriber.onReport = { [weak self] in self?.receive($0) }
        subscriber.onFailure = { [weak self] in self?.reason = $0 }
        subscriber.onEnd = { [weak self] in self?.end() }
        followedFreshness?.onChange = { [weak self] in self?.showFreshness() }
        follow(engine)
    }

    private func follow(_ engine: ListEngine) {
        source.engine?.unsubscribe(subscriber)
        source = .engine(engine)
        subscriber.engine = engine
        engine.subscribe(subscriber)
    }

    /// Releases the engine, because an engine keeps the store open.
    private func end() {
        guard let engine = source.engine else { return }
        reason = engine.lastUpdateReason
        source = .ended(engine.state, reason)
        engine.unsubscribe(subscriber)
    }

    /// The number of rows.
    public var count: Int { snapshot.count }

    /// The sections. A list without a section key has one section.
    public var sections: [ListSection] { snapshot.sections }

    /// The object of the main context at an index, counted over all sections.
    ///
    /// The object may have newer values than the snapshot. If the object was deleted, and the list does not show the deletion
    /// yet, its ``ManagedObject/isDeleted`` is true. The result is nil if the index is out of range, or after the container and
    /// its data sources are released.
    ///
    /// ```swift
    /// let name = list.object(0)?.name
    /// ```
    public func object(_ index: Int) -> Object? {
        guard index >= 0, index < snapshot.count else { return nil }
        let isBehind = source.engine?.isBehind ?? false || source.state !== snapshot.state
        return page.object(at: index, in: snapshot.state, isBehind: isBehind) as? Object
    }

    /// The index of an object, counted over all sections; nil if the list does not show the object.
    ///
    /// ```swift
    /// if let index = list.index(of: contact.objectID) {
    ///     print(list.snapshot.indexPath(index))
    /// }
    /// ```
    ///
    /// **Complexity**: O(log n) in the number of rows if the main context has an object with the ID, and the list shows
    /// the object's newest values. O(n) otherwise, and always if the list depends on relationships.
    public func index(of id: ManagedObjectID) -> Int? {
        guard let main else { return snapshot.index(of: id) }
        return main.index(of: id, in: snapshot.state)
    }

    /// Whether the list was made for an equal request.
    package func shows(_ request: ObjectRequest<Object>) -> Bool {
        guard let main else { return true }
        if request.freshnessOf != scope { return false }
        return (try? main.listQuery(ListRequest(request, nil)).key) == key
    }

    /// Moves the list to another page, even while the list is paused.
    ///
    /// ```swift
    /// try list.moveWindow(after: list.snapshot.last.map { FetchCursor($0) })
    /// ```
    ///
    /// The call reads the rows of the new page and a few more. If a section is computed, or the predicate needs objects, the
    /// call reads all matching rows. To return to an earlier page, pass the cursor of that page.
    ///
    /// - Parameter cursor: The position after which the list begins; nil to begin with the first object.
    /// - Throws: `invalidPredicate` if the cursor belongs to an object that the list cannot contain; `storeClosed`; errors of
    ///   the store. If the call throws, the list does not move.
    public func moveWindow(after cursor: FetchCursor?) throws {
        guard let main, let engine = source.engine else { throw RootTier.closed }
        let engineForPage = try main.engineForPage(engine, after: cursor)
        follow(engineForPage)
        show(shown.move(to: engineForPage.state, engineForPage.lastUpdateReason))
    }

    /// Whether the list keeps its state and ignores saves, for example while it is off the screen.
    ///
    /// When the pause ends, the list shows together all changes since the pause began. If a delegate call sets the
    /// property to false, the list shows the changes after the running group of delegate calls.
    ///
    /// ```swift
    /// list.isPaused = true
    /// ```
    public var isPaused = false {
        didSet {
            if isPaused == oldValue { return }
            if isPaused { return shown.pause() }
            // After the main tier was released, no other list has reports to wait for, so catch up at once.
            guard let main else { return catchUp() }
            main.lists.perform { [weak self] in self?.catchUp() }
        }
    }

    private func catchUp() {
        if isPaused { return }
        if let report = shown.resume(at: source.state, source.lastUpdateReason) { show(report) }
        showFreshness()
    }

    private func showFreshness() {
        if !isPaused, let new = followedFreshness?.value, freshness != new { freshness = new }
    }

    private func receive(_ report: ListReport) {
        if let report = shown.receive(report) { show(report) }
    }

    private func show(_ report: ListReport) {
        reports.append(report)
        if isShowing { return }
        isShowing = true
        while !reports.isEmpty {
            let report = reports.removeFirst()
            difference = ListDifference(report.difference, from: report.old, to: report.new, layout)
            // Keep the reason of a failure when a day ends: the rows still cannot be read.
            if report.reason.kind != .dayChange || reason.kind != .failure { reason = report.reason }
            snapshot = ListSnapshot(state: report.new, reader: snapshot.reader)
        }
        isShowing = false
    }

    /// The source of the rows.
    private enum Source {
        case engine(ListEngine)
        /// The last state and reason of an engine that ended.
        case ended(ListState, ListReason)

        var engine: ListEngine? {
            if case .engine(let engine) = self { engine } else { nil }
        }

        @MainActor var state: ListState {
            switch self {
            case .engine(let engine): engine.state
            case .ended(let state, _): state
            }
        }

        @MainActor var lastUpdateReason: ListReason {
            switch self {
            case .engine(let engine): engine.lastUpdateReason
            case .ended(_, let reason): reason
            }
        }
    }

    /// Subscribes to the engine in place of the list, and forwards each report, failure and end to its closures.
    private final class EngineSubscriber: ListSubscriber {
        var onReport: (ListReport) -> Void = { _ in }
        var onFailure: (ListReason) -> Void = { _ in }
        var onEnd: () -> Void = {}
        weak var engine: ListEngine?

        var wantsEverySave: Bool { false }

        func notify(_ report: ListReport) { onReport(report) }

        func notify(_ failure: DataSourceError) {
            if let engine { onFailure(engine.lastUpdateReason) }
        }

        func notifyEnd() { onEnd() }
    }
}

extension LiveList: @MainActor CustomStringConvertible {
    /// The number of rows and sections: `LiveList of ContactEntity (12 rows in 3 sections)`.
    public var description: String { "LiveList of \(Object.entityName) (\(snapshot.size))" }
}
