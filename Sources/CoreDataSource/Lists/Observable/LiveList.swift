public import Observation
internal import RowStore

/// A list for SwiftUI and other observers. It always shows the newest state.
///
/// ```swift
/// @State private var list = try contacts.list(FetchRequest(ContactEntity.self, order: [.ascending(\.name)]))
///
/// List(list.snapshot) { contact in Text(contact.name) }
/// ```
///
/// It follows every save while it exists. When the container is closed, the kind of ``lastUpdateReason`` is
/// ``ListReason/Kind/closed``, and the list keeps what it shows.
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
        main.explained(reason.kind == .failure ? engine.lastUpdateReason : reason, engine.query, page)
    }

    private var reason: ListReason
    @ObservationIgnored private let main: MainTier
    @ObservationIgnored private let page: ListPage
    @ObservationIgnored private var engine: ListEngine
    @ObservationIgnored private let link = Link()
    @ObservationIgnored private var shown: ShownState
    /// What is shown next. An observer may move the list while it is notified.
    @ObservationIgnored private var reports: [ListReport] = []
    @ObservationIgnored private var isShowing = false

    init(_ request: ListRequest<Object>, _ main: MainTier) throws(DataSourceError) {
        let (key, query) = try main.listQuery(request)
        main.prepareToFetch()
        self.main = main
        page = ListPage(request.request, main)
        engine = try main.lists.engine(key, query)
        shown = ShownState(engine.state)
        snapshot = ListSnapshot(state: engine.state, reader: main.detachedObjects)
        reason = engine.lastUpdateReason
        link.onReport = { [weak self] in self?.take($0) }
        link.onOther = { [weak self] in self?.reason = $0 }
        follow(engine)
    }

    private func follow(_ engine: ListEngine) {
        self.engine.unsubscribe(link)
        self.engine = engine
        link.engine = engine
        engine.subscribe(link)
    }

    /// How many rows there are.
    public var count: Int { snapshot.count }

    /// The sections; one section if there is no section key.
    public var sections: [ListSection] { snapshot.sections }

    /// The object of main at an index over all sections; it shows newer values as soon as main has them. If it was deleted and the
    /// list has yet to show that, its ``ManagedObject/isDeleted`` is true.
    public func object(_ index: Int) -> Object? {
        guard index >= 0, index < snapshot.count else { return nil }
        let isBehind = engine.isBehind || engine.state !== snapshot.state
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
        let moved = try main.moved(engine, after: cursor)
        follow(moved)
        show(shown.move(to: moved.state, moved.lastUpdateReason))
    }

    /// Whether the list keeps what it shows, as a list does that is off the screen. When it continues, it shows at once
    /// everything that has changed meanwhile; in the call of a delegate, after the running group of calls.
    public var isPaused = false {
        didSet {
            if isPaused == oldValue { return }
            if isPaused { shown.pause() } else { main.lists.perform { [weak self] in self?.catchUp() } }
        }
    }

    private func catchUp() {
        if isPaused { return }
        if let report = shown.resume(at: engine.state, engine.lastUpdateReason) { show(report) }
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
            difference = ListDifference(report.difference, from: report.old, to: report.new, main.stack.layout)
            reason = report.reason
            snapshot = ListSnapshot(state: report.new, reader: snapshot.reader)
        }
        isShowing = false
    }

    /// The engine's view of the list, because an observed class cannot subscribe itself.
    private final class Link: ListSubscriber {
        var onReport: (ListReport) -> Void = { _ in }
        /// Called for notices other than reports.
        var onOther: (ListReason) -> Void = { _ in }
        weak var engine: ListEngine?

        var wantsEverySave: Bool { false }

        func notify(_ report: ListReport) { onReport(report) }

        func notify(_ failure: DataSourceError) { notifyEnd() }

        func notifyEnd() {
            if let engine { onOther(engine.lastUpdateReason) }
        }
    }
}

extension LiveList: @MainActor CustomStringConvertible {
    /// The size of the list: `LiveList of ContactEntity (12 rows in 3 sections)`.
    public var description: String { "LiveList of \(Object.entityName) (\(snapshot.size))" }
}

extension AnyDataSource {
    /// A list to observe, filled at once: see ``LiveList``.
    ///
    /// The arguments are those of ``register(_:dataKey:_:sectionBy:)``.
    ///
    /// - Parameters:
    ///   - request: What to show.
    ///   - sectionBy: Objects with the same value are in one section; nil, the default, for one section.
    /// - Throws: What ``register(_:dataKey:_:sectionBy:)`` throws.
    public func list<Object: ManagedObject>(
        _ request: FetchRequest<Object>, sectionBy: PartialKeyPath<Object>? = nil
    ) throws -> LiveList<Object> {
        try LiveList(ListRequest(request, sectionBy), mainTier)
    }
}
