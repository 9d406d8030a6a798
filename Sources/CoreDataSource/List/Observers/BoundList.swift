internal import Foundation
internal import RowStore

/// A list that is registered with a data source, and its delegate.
@MainActor
final class BoundList: ListSubscriber {
    let engine: ListEngine
    let dataKey: String
    private(set) weak var delegate: (any DataSourceDelegate)?
    /// The state that the delegate was last notified of.
    private var shownState: ShownState
    private let main: MainTier
    let page: ListPage
    /// The freshness of the list's scope; nil if the list has no scope.
    let followedFreshness: ListFreshness?
    /// The freshness that the delegate was last notified of.
    private(set) var freshness: ScopeFreshness?
    private weak var lists: BoundLists?
    private var isRegistered = true

    /// - Parameter page: Makes the objects of the list.
    init(
        engine: ListEngine, page: ListPage, freshness: ListFreshness?, lists: BoundLists, dataKey: String,
        delegate: any DataSourceDelegate
    ) {
        self.engine = engine
        self.page = page
        followedFreshness = freshness
        self.freshness = freshness?.value
        self.lists = lists
        main = lists.main
        self.dataKey = dataKey
        self.delegate = delegate
        shownState = ShownState(engine.state)
        engine.subscribe(self)
        freshness?.onChange = { [weak self] in self?.notifyFreshness() }
    }

    var wantsEverySave: Bool { false }

    func end() {
        isRegistered = false
        engine.unsubscribe(self)
    }

    // MARK: Reading

    var shown: ListState { shownState.state }

    func object(at path: IndexPath) -> ManagedObject? {
        shown.index(path).flatMap { page.object(at: $0, in: shown, isBehind: isBehind) }
    }

    /// All objects of the list. The relationships of all objects are read together.
    var allObjects: [ManagedObject] {
        let rows = (0..<shown.count).map { ReportedRow(shown.rows[$0]) }
        let objects = main.objects(rows, asOf: shown.asOf, isBehind: isBehind).objects
        page.readTogether(objects)
        return objects
    }

    /// Whether the main context may have merged saves that the list does not show yet.
    private var isBehind: Bool { engine.isBehind || engine.state !== shown }

    // MARK: Reporting

    /// Whether the list is paused and reports nothing. After setting the property to false, call ``catchUp()``.
    var isPaused = false {
        didSet { if isPaused { shownState.pause() } }
    }

    /// Reports the changes since the pause began, unless the list is paused again.
    func catchUp() {
        if isPaused || !isRegistered { return }
        if let report = shownState.resume(at: engine.state, engine.lastUpdateReason) { callDelegate(report) }
        notifyFreshness()
    }

    private func notifyFreshness() {
        if delegate == nil { lists?.removeListsWithoutDelegate() }
        guard isRegistered, !isPaused, let new = followedFreshness?.value, new != freshness else { return }
        freshness = new
        delegate?.didChangeFreshness(new, dataKey: dataKey)
    }

    func notify(_ report: ListReport) {
        if delegate == nil { lists?.removeListsWithoutDelegate() }
        if let report = shownState.receive(report) { callDelegate(report) }
    }

    func notify(_ failure: DataSourceError) {
        delegate?.didFail(failure, dataKey: dataKey)
    }

    /// Does nothing, because no delegate method reports the end of a list. After the container is closed, the kind of
    /// ``EntityDataSource/lastUpdateReason(dataKey:)`` is ``ListReason/Kind/closed``.
    func notifyEnd() {}

    private func callDelegate(_ report: ListReport) {
        let (old, new, difference) = (report.old, report.new, report.difference)
        let isNewDay = report.reason.kind == .dayChange
        guard isRegistered, let delegate, isNewDay || !difference.isEmpty else { return }
        if isNewDay || difference.changes.count > delegate.changeLimit(dataKey: dataKey) {
            return delegate.didReloadContent(dataKey: dataKey)
        }
        if isRegistered { delegate.willChangeContent(dataKey: dataKey) }
        for index in difference.deletedSections where isRegistered {
            delegate.didChangeSection(ListSection(index, of: old), at: index, for: .delete, dataKey: dataKey)
        }
        for index in difference.insertedSections where isRegistered {
            delegate.didChangeSection(ListSection(index, of: new), at: index, for: .insert, dataKey: dataKey)
        }
        for part in difference.changes.chunks(ofSize: ListPage.size) where isRegistered {
            // Read `isBehind` for each part, because the last call of the delegate may have merged newer saves into the
            // main context.
            let objects = main.objects(part.map(report.row), asOf: new.asOf, isBehind: isBehind).objects
            page.readTogether(objects)
            for (change, object) in zip(part, objects) where isRegistered {
                delegate.didChangeObject(
                    object, at: change.old.map(old.indexPath), for: change.kind.type,
                    newIndexPath: change.kind == .update ? nil : change.new.map(new.indexPath), dataKey: dataKey)
            }
        }
        if isRegistered { delegate.didChangeContent(dataKey: dataKey) }
    }
}

extension ListReport {
    fileprivate func row(of change: RowDifference.Change) -> ReportedRow {
        if let index = change.new { return ReportedRow(new.rows[index]) }
        guard let index = change.old else { preconditionFailure("A change is in neither state of the list.") }
        let row = old.rows[index]
        return isCatchUp || net.hasEqualKeys
            ? ReportedRow(unknown: row) : ReportedRow(leaving: row, net.change(of: row))
    }
}

extension RowDifference.Kind {
    var type: ListChangeType {
        switch self {
        case .delete: .delete
        case .insert: .insert
        case .move: .move
        case .update: .update
        }
    }
}

/// The lists that are registered with a data source, indexed by data key.
@MainActor
final class BoundLists {
    let main: MainTier
    private var lists: [String: BoundList] = [:]
    /// The calls that are filling lists off the main actor, indexed by data key.
    private var registrations: [String: Registration] = [:]

    /// The identity of a call that is filling a list.
    final class Registration {}

    init(_ main: MainTier) {
        self.main = main
    }

    /// The list with a data key; nil if there is no such list, or if its delegate was released.
    subscript(dataKey: String) -> BoundList? {
        guard let list = lists[dataKey] else { return nil }
        if list.delegate == nil {
            removeListsWithoutDelegate()
            return nil
        }
        return list
    }

    /// The data keys of the lists that have a delegate, in alphabetical order.
    var dataKeys: [String] {
        removeListsWithoutDelegate()
        return lists.keys.sorted()
    }

    /// The data keys of the paused lists.
    ///
    /// The setter first sets ``BoundList/isPaused`` of all lists, because a delegate may set the property again when it is
    /// called. Then the resumed lists report their changes, in alphabetical order of the data keys.
    var pausedDataKeys: Set<String> {
        get {
            removeListsWithoutDelegate()
            return Set(lists.lazy.filter(\.value.isPaused).map(\.key))
        }
        set {
            var resumed: [BoundList] = []
            for (dataKey, list) in lists where list.isPaused != newValue.contains(dataKey) {
                list.isPaused.toggle()
                if !list.isPaused { resumed.append(list) }
            }
            for list in resumed.sorted(by: { $0.dataKey < $1.dataKey }) { main.lists.perform { list.catchUp() } }
        }
    }

    func bind(
        _ engine: ListEngine, page: ListPage, freshness: ListFreshness?, dataKey: String,
        to delegate: any DataSourceDelegate
    ) {
        remove(dataKey)
        lists[dataKey] = BoundList(
            engine: engine, page: page, freshness: freshness, lists: self, dataKey: dataKey, delegate: delegate)
    }

    func remove(_ dataKey: String) {
        removeListsWithoutDelegate()
        registrations[dataKey] = nil
        lists.removeValue(forKey: dataKey)?.end()
    }

    /// Ends the lists whose delegates were released.
    func removeListsWithoutDelegate() {
        for (dataKey, list) in lists where list.delegate == nil {
            list.end()
            lists[dataKey] = nil
        }
    }

    // MARK: Filling off the main actor

    func beginFilling(_ dataKey: String) -> Registration {
        let registration = Registration()
        registrations[dataKey] = registration
        return registration
    }

    /// Whether no other call has used the data key since this call began.
    func isFilling(_ dataKey: String, _ registration: Registration) -> Bool {
        registrations[dataKey] === registration
    }

    func endFilling(_ dataKey: String, _ registration: Registration) {
        if isFilling(dataKey, registration) { registrations[dataKey] = nil }
    }
}
