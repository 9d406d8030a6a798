public import Observation
internal import RowStore

/// A list for SwiftUI and other observers. It always shows the newest state.
///
/// ```swift
/// @State private var list = try contacts.list(ObjectRequest(ContactEntity.self, order: [.ascending(\.name)]))
///
/// List(list.snapshot) { contact in Text(contact.name) }
/// ```
///
/// It follows every save while it exists. When the container is closed, the kind of ``lastUpdateReason`` is
/// ``ListReason/Kind/closed``, and the list keeps what it shows. It does not keep the store open: once the container and its data
/// sources are released, it ends as if the container had been closed, and has no objects any more.
///
/// **Isolation**: the main actor.
@MainActor
@Observable
public final class LiveList<Object: ManagedObject> {
    /// What the list shows. It is replaced as a whole; its rows are values.
    public private(set) var snapshot: ListSnapshot<Object>
    /// The changes from the previous snapshot to this one; empty at first.
    public private(set) var difference = ListDifference()
    /// Why the list last changed.
    public var lastUpdateReason: ListReason {
        // A read that succeeds after one that failed, and finds the same rows, is no update.
        let reason = reason.kind == .failure ? source.lastUpdateReason : reason
        return main?.explained(reason, snapshot.state.query, page) ?? reason
    }

    private var reason: ListReason
    /// The list keeps neither the container nor its store.
    @ObservationIgnored private weak let main: MainTier?
    @ObservationIgnored private let layout: ModelLayout
    @ObservationIgnored private let page: ListPage
    @ObservationIgnored private var source: Source
    @ObservationIgnored private let link = Link()
    @ObservationIgnored private var shown: ShownState
    /// What is shown next. An observer may move the list while it is notified.
    @ObservationIgnored private var reports: [ListReport] = []
    @ObservationIgnored private var isShowing = false

    init(_ request: ListRequest<Object>, _ main: MainTier) throws(DataSourceError) {
        let (key, query) = try main.listQuery(request)
        main.prepareToFetch()
        self.main = main
        layout = main.stack.layout
        page = ListPage(request.request, main)
        let engine = try main.lists.engine(key, query)
        source = .engine(engine)
        shown = ShownState(engine.state)
        snapshot = ListSnapshot(state: engine.state, reader: main.detachedObjects)
        reason = engine.lastUpdateReason
        link.onReport = { [weak self] in self?.take($0) }
        link.onFailure = { [weak self] in self?.reason = $0 }
        link.onEnd = { [weak self] in self?.end() }
        follow(engine)
    }

    private func follow(_ engine: ListEngine) {
        source.engine?.unsubscribe(link)
        source = .engine(engine)
        link.engine = engine
        engine.subscribe(link)
    }

    /// Lets go of the engine, which keeps the store open.
    private func end() {
        guard let engine = source.engine else { return }
        reason = engine.lastUpdateReason
        source = .ended(engine.state, reason)
        engine.unsubscribe(link)
    }

    /// How many rows there are.
    public var count: Int { snapshot.count }

    /// The sections; one section if there is no section key.
    public var sections: [ListSection] { snapshot.sections }

    /// The object of main at an index over all sections; it shows newer values as soon as main has them. If it was deleted and the
    /// list has yet to show that, its ``ManagedObject/isDeleted`` is true. Nil once the container and its data sources are released.
    public func object(_ index: Int) -> Object? {
        guard index >= 0, index < snapshot.count else { return nil }
        let isBehind = source.engine?.isBehind ?? false || source.state !== snapshot.state
        return page.object(at: index, in: snapshot.state, isBehind: isBehind) as? Object
    }

    /// Makes the list begin elsewhere, for example at another page. It changes at once, even while it is paused. Only the rows
    /// that it then shows are read, and a few more. If a section is computed, or the predicate needs the objects, all matching
    /// rows are read.
    ///
    /// ```swift
    /// try list.moveWindow(after: list.snapshot.last.map { FetchCursor($0) })
    /// ```
    ///
    /// To go back a page, pass the cursor of that page.
    ///
    /// - Parameter cursor: The list begins after that place; nil to begin with the first object.
    /// - Throws: `invalidPredicate` if the cursor belongs to an object that the list cannot contain, and what the store throws;
    ///   the list stays where it is then.
    public func moveWindow(after cursor: FetchCursor?) throws {
        guard let main, let engine = source.engine else { throw RootTier.closed }
        let moved = try main.moved(engine, after: cursor)
        follow(moved)
        show(shown.move(to: moved.state, moved.lastUpdateReason))
    }

    /// Whether the list keeps what it shows, as a list does that is off the screen. When it continues, it shows at once
    /// everything that has changed meanwhile; in the call of a delegate, after the running group of calls.
    public var isPaused = false {
        didSet {
            if isPaused == oldValue { return }
            if isPaused { return shown.pause() }
            // Without main nobody else reports.
            guard let main else { return catchUp() }
            main.lists.perform { [weak self] in self?.catchUp() }
        }
    }

    private func catchUp() {
        if isPaused { return }
        if let report = shown.resume(at: source.state, source.lastUpdateReason) { show(report) }
    }

    private func take(_ report: ListReport) {
        if let report = shown.take(report) { show(report) }
    }

    private func show(_ report: ListReport) {
        reports.append(report)
        if isShowing { return }
        isShowing = true
        while !reports.isEmpty {
            let report = reports.removeFirst()
            difference = ListDifference(report.difference, from: report.old, to: report.new, layout)
            reason = report.reason
            snapshot = ListSnapshot(state: report.new, reader: snapshot.reader)
        }
        isShowing = false
    }

    /// Where the rows come from.
    private enum Source {
        case engine(ListEngine)
        /// What the engine had last.
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

    /// The engine's view of the list, because an observed class cannot subscribe itself.
    private final class Link: ListSubscriber {
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
    /// The size of the list: `LiveList of ContactEntity (12 rows in 3 sections)`.
    public var description: String { "LiveList of \(Object.entityName) (\(snapshot.size))" }
}
