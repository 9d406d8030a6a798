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
/// for await update in contacts.updates(FetchRequest(ContactEntity.self, order: [.ascending(\.name)])) {
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
            if lists.isFinished { throw RootContext.closed }
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

extension AnyDataSource {
    /// A list as values that follow every save: see ``ListUpdates``.
    ///
    /// ```swift
    /// let request = FetchRequest(ContactEntity.self, order: [.ascending(\.name, [.caseInsensitive])], limit: 50)
    /// for await update in contacts.updates(request, sectionBy: \.initial) { print(update.snapshot.count) }
    /// ```
    ///
    /// The arguments are those of ``register(_:dataKey:_:sectionBy:)``. An invalid request, or rows that cannot be read,
    /// produce an update whose ``ListUpdate/reason`` is a ``ListReason/Kind/failure``.
    ///
    /// - Parameters:
    ///   - request: What to show, as for ``register(_:dataKey:_:sectionBy:)``.
    ///   - sectionBy: Objects with the same value are in one section; nil, the default, for one section.
    ///   - buffering: Which updates a loop gets if it is slower than the saves; `.latest` by default.
    public nonisolated func updates<Object: ManagedObject>(
        _ request: FetchRequest<Object>, sectionBy: PartialKeyPath<Object>? = nil, buffering: ListBuffering = .latest
    ) -> ListUpdates<Object> {
        ListUpdates(main: mainTier, request: ListRequest(request, sectionBy), buffering: buffering)
    }

    /// A list of the objects that a to-many relationship of an object leads to, as values that follow every save.
    ///
    /// ```swift
    /// for await update in mail.updates(of: thread, \.messages, order: [.ascending(\.date)]) { show(update.snapshot) }
    /// ```
    ///
    /// For conditions and ordered relationships, make a `FetchRequest` from the object and the key path.
    ///
    /// - Parameters:
    ///   - owner: The object that has the relationship, from any context.
    ///   - keyPath: A to-many relationship that has an inverse and no order of its own.
    ///   - order: What to sort by, the most significant first. Objects that compare equal come in the order of creation.
    ///   - buffering: Which updates a loop gets if it is slower than the saves; `.latest` by default.
    public nonisolated func updates<Owner: ManagedObject, Object: ManagedObject>(
        of owner: Owner, _ keyPath: KeyPath<Owner, RelatedObjects<Object>>, order: [FetchOrder<Object>] = [],
        buffering: ListBuffering = .latest
    ) -> ListUpdates<Object> {
        updates(FetchRequest(owner, keyPath, order: order), buffering: buffering)
    }
}
