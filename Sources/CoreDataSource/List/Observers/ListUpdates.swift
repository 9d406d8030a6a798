public import Foundation
internal import RowStore

/// The buffering of updates for a loop that is slower than the saves.
///
/// ```swift
/// for await update in contacts.updates(request, buffering: .every()) {
///     print(update.difference)
/// }
/// ```
public struct ListBuffering: Sendable, Hashable {
    let capacity: Int

    /// Keeps only the newest state, with one difference for all changes since the last update. If a loop takes no updates while
    /// its list is off the screen, it later catches up with a single update.
    public static let latest = ListBuffering(capacity: 1)

    /// Keeps an update for each save, up to a bound. If the buffer is full, later changes are joined to the last waiting
    /// update.
    ///
    /// ```swift
    /// let updates = contacts.updates(request, buffering: .every(bound: 8))
    /// ```
    ///
    /// - Parameter bound: The largest number of waiting updates; 64 by default, and at least 2.
    public static func every(bound: Int = 64) -> ListBuffering { ListBuffering(capacity: max(2, bound)) }
}

/// An asynchronous sequence of the states of a list.
///
/// ```swift
/// for await update in contacts.updates(
///     ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])) {
///     print(update.snapshot.count, update.difference.changes.count, update.reason)
/// }
/// ```
///
/// The first update has the current state of the list. Each loop over the sequence follows the list independently, and loops
/// with the same query share their work. A loop ends when its task is canceled. When the container is closed, a loop ends
/// after the last save. A loop does not keep the store open: the loop ends after the container and its data sources are
/// released.
///
/// **Isolation**: none. A loop may run in a task of a server, in a command-line tool or on the main actor. Rows are read off
/// the main actor. The main actor delivers the updates, so no update arrives while the main thread is blocked.
public struct ListUpdates<Object: ManagedObject>: AsyncSequence, Sendable {
    /// Weak, so that the container and its store can be released while the sequence exists.
    weak let main: MainTier?
    let request: ListRequest<Object>
    let buffering: ListBuffering

    /// Returns an iterator that follows the list. The first update has the current state of the list.
    ///
    /// ```swift
    /// var iterator = contacts.updates(request).makeAsyncIterator()
    /// let first = await iterator.next()
    /// ```
    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: self, mailbox: ListMailbox(capacity: buffering.capacity))
    }

    /// Returns the updates one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let updates: ListUpdates
        let mailbox: ListMailbox
        private var reader: DetachedObjectFactory?

        init(updates: ListUpdates, mailbox: ListMailbox) {
            self.updates = updates
            self.mailbox = mailbox
        }

        /// Waits for the next update and returns it; nil if the task is canceled, or the container is closed or released.
        ///
        /// ```swift
        /// if let update = await iterator.next() {
        ///     print(update.snapshot.count, update.reason)
        /// }
        /// ```
        public mutating func next() async -> ListUpdate<Object>? {
            if reader == nil { reader = await updates.main?.follow(updates.request, mailbox) }
            // The container was released.
            guard let reader else { return nil }
            while let pending = await mailbox.next() {
                let difference =
                    pending.isSmall
                    ? pending.findDifference(reader.layout) : await pending.prepareDifference(reader.layout)
                let isReportedIfEmpty = ![.save, .rolledBack, .outsideWrites, .backlog, .bulkChange].contains(
                    pending.reason.kind)
                if difference.isEmpty && !isReportedIfEmpty { continue }
                let snapshot = ListSnapshot<Object>(state: pending.new, reader: reader)
                return ListUpdate(
                    snapshot: snapshot, difference: difference, reason: pending.reason, freshness: pending.freshness)
            }
            return nil
        }
    }
}

extension ListMailbox.PendingUpdate {
    /// Whether it is faster to calculate the difference here than on another thread.
    fileprivate var isSmall: Bool { old == nil ? new.count < 64 : net.rows.count < 64 }

    fileprivate func findDifference(_ layout: ModelLayout) -> ListDifference {
        guard let old else {
            return ListDifference(RowDifference(inserting: new), from: new, to: new, layout)
        }
        return ListDifference(
            difference ?? RowDifference(catchingUpFrom: old, to: new, net), from: old, to: new, layout)
    }

    /// Calculates the difference off the main actor.
    @concurrent
    fileprivate func prepareDifference(_ layout: ModelLayout) async -> ListDifference {
        findDifference(layout)
    }
}

extension MainTier {
    /// Makes a mailbox follow a list, and returns the factory for the objects of the list's rows.
    fileprivate func follow<Object: ManagedObject>(
        _ request: ListRequest<Object>, _ mailbox: ListMailbox
    ) async -> DetachedObjectFactory {
        let freshness =
            request.request.freshnessOf == nil
            ? .success(nil) : await scopes.followOffMain(request.request)
        do throws(DataSourceError) {
            let (key, query) = try listQuery(request)
            if lists.isFinished { throw RootTier.closed }
            prepareToFetch()
            mailbox.follow(lists.engineToBeFilled(key, query), try freshness.get())
            lists.drainSoon()
        } catch {
            let nothing = ListOrder(stack.layout.entities[0], sort: [])
            mailbox.end(with: error, ListQuery(stack.layout.entities[0], order: nothing))
        }
        return detachedObjectFactory
    }
}

/// The changes from one snapshot of a list to the next.
///
/// Old indexes are valid before all changes, and new indexes are valid after all changes, as a table view expects. Rows that
/// shifted only because of other rows are not included.
public struct ListDifference: Sendable {
    /// A row that changed.
    public struct Change: Sendable, Hashable {
        /// The kind of change.
        public let type: ListChangeType
        /// The ID of the object.
        public let id: ManagedObjectID
        /// The index path before all changes; nil for an inserted row.
        public let indexPath: IndexPath?
        /// The index path after all changes; nil for a deleted row.
        public let newIndexPath: IndexPath?
        /// The index before all changes, counted over all sections; nil for an inserted row.
        public let index: Int?
        /// The index after all changes, counted over all sections; nil for a deleted row.
        public let newIndex: Int?
    }

    /// The old indexes of the deleted sections, in descending order.
    public var deletedSections: [Int]
    /// The new indexes of the inserted sections, in ascending order.
    public var insertedSections: [Int]
    /// The changed rows in this order: deletes from the last to the first, inserts from the first to the last, moves, updates.
    public var changes: [Change]

    /// Whether there are no changes.
    public var isEmpty: Bool { changes.isEmpty && deletedSections.isEmpty && insertedSections.isEmpty }

    init() {
        (deletedSections, insertedSections, changes) = ([], [], [])
    }

    init(_ difference: RowDifference, from old: ListState, to new: ListState, _ layout: ModelLayout) {
        deletedSections = difference.deletedSections
        insertedSections = difference.insertedSections
        changes = difference.changes.map { change in
            Change(
                type: change.kind.type, id: ManagedObjectID(layout.entities[change.entity], key: change.key),
                indexPath: change.old.map(old.indexPath), newIndexPath: change.new.map(new.indexPath),
                index: change.old, newIndex: change.new)
        }
    }
}

/// An update of a list: its new state, the changes, and the reason.
public struct ListUpdate<Object: ManagedObject>: Sendable {
    /// The new state of the list.
    public let snapshot: ListSnapshot<Object>
    /// The changes since the previous update. The first update has the changes since an empty list.
    public let difference: ListDifference
    /// The reason for the update.
    public let reason: ListReason
    /// The freshness of the request's scope (``ObjectRequest/freshnessOf``), which is never newer than the rows; nil if the
    /// request has no scope. If only the freshness has changed, the kind of the reason is ``ListReason/Kind/freshness``. This is
    /// also the case when a load of the scope begins or ends: ``ScopeFreshness/isLoading``.
    public let freshness: ScopeFreshness?
}
