public import Foundation
internal import RowStore

/// The updates that a loop gets if it is slower than the saves.
///
/// ```swift
/// for await update in contacts.updates(request, buffering: .every()) {
///     print(update.difference)
/// }
/// ```
public struct ListBuffering: Sendable, Hashable {
    let capacity: Int

    /// The newest state, with one difference for all changes since the last update. While a list is off the screen, its loop
    /// may take no updates, and later catches up with a single update.
    public static let latest = ListBuffering(capacity: 1)

    /// An update for each save, up to a bound. If the buffer is full, later changes are joined to the last waiting update.
    ///
    /// ```swift
    /// let updates = contacts.updates(request, buffering: .every(bound: 8))
    /// ```
    ///
    /// - Parameter bound: The largest number of waiting updates; 64 by default, and at least 2.
    public static func every(bound: Int = 64) -> ListBuffering { ListBuffering(capacity: max(2, bound)) }
}

/// The states of a list as an asynchronous sequence.
///
/// ```swift
/// for await update in contacts.updates(
///     ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])) {
///     print(update.snapshot.count, update.difference.changes.count, update.reason)
/// }
/// ```
///
/// The first update has the present state of the list. Each loop over the sequence follows the list independently, and loops
/// with the same query share their work. A loop ends when its task is cancelled, and when the container is closed, after the
/// last save. A loop does not keep the store open: the loop ends after the container and its data sources are released.
///
/// **Isolation**: none. A loop may run in a task of a server, in a command-line tool or on the main actor. Rows are read off
/// the main actor, but the main actor delivers updates: while the main thread is blocked, no update comes.
public struct ListUpdates<Object: ManagedObject>: AsyncSequence, Sendable {
    /// The sequence keeps neither the container nor its store.
    weak let main: MainTier?
    let request: ListRequest<Object>
    let buffering: ListBuffering

    /// Begins to follow the list. The iterator returns the present state first.
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
        private var reader: DetachedObjects?

        init(updates: ListUpdates, mailbox: ListMailbox) {
            self.updates = updates
            self.mailbox = mailbox
        }

        /// Waits for the next update; nil if the task is cancelled, or the container is closed or released.
        ///
        /// ```swift
        /// if let update = await iterator.next() {
        ///     print(update.snapshot.count, update.reason)
        /// }
        /// ```
        public mutating func next() async -> ListUpdate<Object>? {
            if reader == nil { reader = await updates.main?.follow(updates.request, mailbox) }
            // The container is released.
            guard let reader else { return nil }
            while let pending = await mailbox.next() {
                let difference =
                    pending.isSmall
                    ? pending.findDifference(reader.layout) : await pending.prepareDifference(reader.layout)
                let isReportedIfEmpty = ![.save, .rolledBack, .outsideWrites, .backlog, .bulkChange].contains(
                    pending.reason.kind)
                if difference.isEmpty && !isReportedIfEmpty { continue }
                let snapshot = ListSnapshot<Object>(state: pending.new, reader: reader)
                return ListUpdate(snapshot: snapshot, difference: difference, reason: pending.reason)
            }
            return nil
        }
    }
}

extension ListMailbox.PendingUpdate {
    /// Whether the difference is calculated faster here than on another thread.
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
    /// Makes a mailbox follow a list, and returns the factory for the objects of its rows.
    fileprivate func follow<Object: ManagedObject>(
        _ request: ListRequest<Object>, _ mailbox: ListMailbox
    ) -> DetachedObjects {
        do throws(DataSourceError) {
            let (key, query) = try listQuery(request)
            if lists.isFinished { throw RootTier.closed }
            prepareToFetch()
            mailbox.follow(lists.engineToBeFilled(key, query))
            lists.drainSoon()
        } catch {
            let nothing = ListOrder(stack.layout.entities[0], sort: [])
            mailbox.end(with: error, ListQuery(stack.layout.entities[0], order: nothing))
        }
        return detachedObjects
    }
}

/// The changes from one snapshot of a list to the next.
///
/// Old indexes are those before all changes, and new indexes those after all changes, as a table view expects. Rows that
/// shifted only because of other rows are not included.
public struct ListDifference: Sendable {
    /// A row that changed.
    public struct Change: Sendable, Hashable {
        /// The kind of change.
        public let type: ListChangeType
        /// The ID of the object.
        public let id: ManagedObjectID
        /// The index path before all changes; nil for an insert.
        public let indexPath: IndexPath?
        /// The index path after all changes; nil for a delete.
        public let newIndexPath: IndexPath?
        /// The index over all sections, before all changes; nil for an insert.
        public let index: Int?
        /// The index over all sections, after all changes; nil for a delete.
        public let newIndex: Int?
    }

    /// The old indexes of deleted sections, descending.
    public var deletedSections: [Int]
    /// The new indexes of inserted sections, ascending.
    public var insertedSections: [Int]
    /// Deletes from the last to the first, then inserts from the first to the last, then moves, then updates.
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
    /// The changes since the previous update; for the first update, since an empty list.
    public let difference: ListDifference
    /// The reason for the update.
    public let reason: ListReason
}
