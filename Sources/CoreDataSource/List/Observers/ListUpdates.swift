public import Foundation
internal import RowStore

/// Which updates a loop gets if it is slower than the saves.
public struct ListBuffering: Sendable, Hashable {
    let capacity: Int

    /// The newest state, with one difference for everything since the last update. The loop of a list that is off the screen
    /// may take no updates, and later catches up with one.
    public static let latest = ListBuffering(capacity: 1)

    /// An update for each save, as long as there is room. Later changes are joined to the last update that waits.
    ///
    /// - Parameter bound: The most updates that wait; 64 by default, and at least 2.
    public static func every(bound: Int = 64) -> ListBuffering { ListBuffering(capacity: max(2, bound)) }
}

/// What a list shows and how it changes, as values for `for await`.
///
/// ```swift
/// for await update in contacts.updates(ObjectRequest(ContactEntity.self, order: [.ascending(\.name)])) {
///     print(update.snapshot.count, update.difference.changes.count, update.reason)
/// }
/// ```
///
/// The first value is the present list. Each loop over the sequence follows the list independently; all loops of one query
/// share the work. A loop ends when its task is cancelled, and after the last save when the container is closed. It does not keep
/// the store open: once the container and its data sources are released, the loop ends.
///
/// **Isolation**: none; loop in a server's task, a command-line tool or on the main actor. Rows are read off the main actor,
/// but updates are put together on it: while the main thread is blocked, no update comes.
public struct ListUpdates<Object: ManagedObject>: AsyncSequence, Sendable {
    /// The sequence keeps neither the container nor its store.
    weak let main: MainTier?
    let request: ListRequest<Object>
    let buffering: ListBuffering

    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: self, mailbox: ListMailbox(capacity: buffering.capacity))
    }

    /// Takes one update after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let updates: ListUpdates
        let mailbox: ListMailbox
        private var reader: DetachedObjects?

        init(updates: ListUpdates, mailbox: ListMailbox) {
            self.updates = updates
            self.mailbox = mailbox
        }

        /// The next update, as soon as there is one; nil when the task is cancelled, or the container is closed or gone.
        public mutating func next() async -> ListUpdate<Object>? {
            if reader == nil { reader = await updates.main?.follow(updates.request, mailbox) }
            // Without a container there is nothing to follow.
            guard let reader else { return nil }
            while let pending = await mailbox.next() {
                let difference =
                    pending.isSmall
                    ? pending.findDifference(reader.layout) : await pending.prepareDifference(reader.layout)
                let isNews = ![.save, .takenBack, .outsideWrites, .backlog, .bulkChange].contains(pending.reason.kind)
                if difference.isEmpty && !isNews { continue }
                let snapshot = ListSnapshot<Object>(state: pending.new, reader: reader)
                return ListUpdate(snapshot: snapshot, difference: difference, reason: pending.reason)
            }
            return nil
        }
    }
}

extension ListMailbox.PendingUpdate {
    /// Whether calculating the difference here is faster than on another thread.
    fileprivate var isSmall: Bool { old == nil ? new.count < 64 : net.rows.count < 64 }

    fileprivate func findDifference(_ layout: ModelLayout) -> ListDifference {
        guard let old else {
            return ListDifference(RowDifference(inserting: new), from: new, to: new, layout)
        }
        return ListDifference(
            difference ?? RowDifference(catchingUpFrom: old, to: new, net), from: old, to: new, layout)
    }

    /// The same, off the main actor.
    @concurrent
    fileprivate func prepareDifference(_ layout: ModelLayout) async -> ListDifference {
        findDifference(layout)
    }
}

extension MainTier {
    /// Makes a mailbox follow a list; returns what makes objects from its rows.
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
/// Old places are those before all changes, new places those after all of them, as a table view expects. Rows that only shifted
/// because of others are not included.
public struct ListDifference: Sendable {
    /// One row that changed.
    public struct Change: Sendable, Hashable {
        /// What happened to the object.
        public let type: ListChangeType
        /// The object.
        public let id: ManagedObjectID
        /// The place before; nil for an insert.
        public let indexPath: IndexPath?
        /// The place after; nil for a delete.
        public let newIndexPath: IndexPath?
        /// Its index over all sections before; nil for an insert.
        public let index: Int?
        /// Its index over all sections now; nil for a delete.
        public let newIndex: Int?
    }

    /// Sections that are gone, by their old indexes, descending.
    public var deletedSections: [Int]
    /// Sections that are new, by their new indexes, ascending.
    public var insertedSections: [Int]
    /// Deletes from the last to the first, inserts from the first to the last, then moves, then updates.
    public var changes: [Change]

    /// Whether there are no changes.
    public var isEmpty: Bool { changes.isEmpty && deletedSections.isEmpty && insertedSections.isEmpty }

    /// No changes.
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

/// An update of a list: what it shows, what changed, and why.
public struct ListUpdate<Object: ManagedObject>: Sendable {
    /// What the list shows now.
    public let snapshot: ListSnapshot<Object>
    /// The changes since the previous update; for the first update, since an empty list.
    public let difference: ListDifference
    /// Why the list changed.
    public let reason: ListReason
}
