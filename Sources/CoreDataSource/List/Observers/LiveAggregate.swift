public import Observation
internal import QueryLanguage
internal import RowStore

/// Counts, sums, minimums and maximums that are updated after every save, for example for badges and totals.
///
/// ```swift
/// let unread = try mail.liveAggregate(
///     ObjectRequest(MessageEntity.self, where: \.isRead == false), .count())
/// print(unread.value)  // 2
/// ```
///
/// All matching rows are read once, when the aggregate is made. After that, a save costs only as much as its own rows:
/// the old values of each row are subtracted, and the new values are added. No rows are kept in memory, unless the groups are
/// those of a to-many relationship. All rows are read again, off the main actor, in these cases:
/// - after the last row with the minimum or the maximum has left, or after an infinity has left a sum;
/// - after a reset, after writes of another program, after a bulk change, and when the main context is so far behind
///   that it skips saves;
/// - after each save of the request's entities, if the request has a limit, if its predicate needs objects
///   (``FetchPredicate/needsObjects``), or if the predicate, the order, an aggregate or the group uses a property of a related
///   object.
///
/// During such a read, the aggregate keeps its previous value.
///
/// Groups of a to-many relationship also follow the links: an object is in the group of each related object. After a save,
/// the changed objects and the objects whose links have changed are read, with their links, off the main actor. The cost
/// depends only on these objects. For this, the aggregate keeps in memory the keys of the related objects of each
/// matching object, and the attributes that the aggregates need. In the cases of the list above, all rows and links are read.
///
/// **Ordering**: as with a list, the ``MainContext`` merges a save before ``value`` changes. So when ``value`` changes,
/// the context already shows the save.
///
/// **Isolation**: the main actor. When the container is closed, the aggregate keeps its last value, and the kind of
/// ``lastUpdateReason`` is ``ListReason/Kind/closed``. An aggregate does not keep the store open.
@MainActor
@Observable
public final class LiveAggregate<Value> {
    /// The results of the last update.
    public private(set) var value: Value
    /// The reason for the last update.
    ///
    /// If the rows cannot be read, or a sum is too large (`numberOverflow`), the kind is ``ListReason/Kind/failure``, and
    /// ``value`` does not change. After the next save, the results are calculated again.
    public private(set) var lastUpdateReason: ListReason

    /// Nil after the end, because an engine keeps the store open.
    @ObservationIgnored private var engine: AggregateEngine?
    /// The engine calls closures of this object, because it cannot hold an observed class of any type.
    @ObservationIgnored private let subscriber = AggregateEngine.Subscriber()
    /// The results of each group in the value.
    @ObservationIgnored private var shown: [GroupIdentity: [RowValue]] = [:]
    @ObservationIgnored private let makeEdit: EditMaker

    /// Returns a closure that sets the new results of groups in the value. The results are nil for a group without rows.
    typealias EditMaker =
        @MainActor ([(key: GroupIdentity, results: [RowValue]?)]) throws(DataSourceError) -> (inout Value) -> Void

    /// - Parameter initial: The value before the results of the groups are set.
    init(_ engine: AggregateEngine, initial: Value, _ makeEdit: @escaping EditMaker) throws(DataSourceError) {
        var (initial, shown) = (initial, [GroupIdentity: [RowValue]]())
        for key in engine.state.keys { shown[key] = try engine.state.results(key) }
        try makeEdit(shown.map { (key: $0, results: $1) })(&initial)
        value = initial
        self.makeEdit = makeEdit
        self.shown = shown
        lastUpdateReason = ListReason(.initial)
        self.engine = engine
        engine.subscriber = subscriber
        subscriber.onChange = { [weak self] state, changed, reason in self?.update(state, changed, reason) }
        subscriber.onFailure = { [weak self] in self?.record($0) }
        subscriber.onEnd = { [weak self] in self?.end() }
    }

    private func update(_ state: AggregateState, _ changed: Set<GroupIdentity>?, _ reason: ListReason) {
        let hasFailed = lastUpdateReason.kind == .failure
        // After a failure, the groups that changed in between are unknown.
        let keys = hasFailed ? nil : changed
        do throws(DataSourceError) {
            var changes: [(key: GroupIdentity, results: [RowValue]?)] = []
            for key in keys ?? Set(state.keys).union(shown.keys) {
                let results = try state.results(key)
                if results != shown[key] { changes.append((key, results)) }
            }
            if changes.isEmpty && !hasFailed { return }
            let edit = try makeEdit(changes)
            if !changes.isEmpty { edit(&value) }
            for (key, results) in changes { shown[key] = results }
            lastUpdateReason = reason
            subscriber.hasFailed = false
        } catch { record(error) }
    }

    private func record(_ failure: DataSourceError) {
        var reason = ListReason(.failure)
        reason.failure = failure
        lastUpdateReason = reason
        subscriber.hasFailed = true
    }

    private func end() {
        engine = nil
        lastUpdateReason = ListReason(.closed)
    }
}

extension LiveAggregate: @MainActor CustomStringConvertible {
    /// The value, for example `LiveAggregate of 12`.
    public var description: String { "LiveAggregate of \(value)" }
}
