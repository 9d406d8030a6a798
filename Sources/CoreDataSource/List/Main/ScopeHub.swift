internal import RowStore

/// The freshness that a list shows with its rows.
@MainActor
final class ListFreshness {
    /// The identity of the scope, without the version by which its data source maps answers. Each read adds this version,
    /// because the data source may be made later than the list.
    fileprivate let id: ScopeID
    private(set) var value: ScopeFreshness
    /// Called after ``value`` has changed. No delegate or observer is being notified at that time.
    var onChange: @MainActor () -> Void = {}

    fileprivate init(_ id: ScopeID, _ value: ScopeFreshness) {
        self.id = id
        self.value = value
    }

    fileprivate func set(_ new: ScopeFreshness) {
        if value == new { return }
        value = new
        onChange()
    }

    fileprivate func set(_ new: FoundFreshness) {
        var value = new.value ?? value
        value.isLoading = new.isLoading
        set(value)
    }
}

/// The result of reading a scope.
private struct FoundFreshness {
    let isLoading: Bool
    /// Nil if the store cannot be read. The list then keeps what it shows.
    var value: ScopeFreshness?
}

/// Keeps the freshness of all lists up to date. If a save, another process or another program may have changed scopes, the
/// hub reads the scopes again, off the main actor. It does the same when the load of a scope begins or ends. The lists show the
/// result once they show all rows that were in the store at the time of the read.
@MainActor
final class ScopeHub {
    private struct Entry {
        weak let list: ListFreshness?
    }

    private let stack: PersistentStack
    private let lists: ListHub
    private var followed: [Entry] = []
    /// The number of lists that are reading their scopes for the first time, off the main actor.
    private var beginning = 0
    private var isReading = false
    /// The number of reads that have begun.
    private var readCount = 0
    /// The calls that wait for the end of the read with a number.
    private var waiting: [(read: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(_ stack: PersistentStack, _ lists: ListHub) {
        self.stack = stack
        self.lists = lists
    }

    /// Reads the scope of a request, and returns its freshness; nil if the request has no scope. The freshness follows the
    /// store as long as the caller retains it.
    ///
    /// - Throws: `valueTooLarge`, `unsupportedQuery`, `scopesNotKept`, `storeClosed`; errors of the store.
    func follow<Object: ManagedObject>(
        _ request: ObjectRequest<Object>
    ) throws(DataSourceError) -> ListFreshness? {
        guard let scope = request.freshnessOf else { return nil }
        try scope.check()
        try stack.root.checkOpen()
        // Follow first, so that no later change is missed.
        begin(scope.id)
        do throws(DataSourceError) {
            return add(scope.id, try stack.freshness(of: scope.id, in: lists.pinned))
        } catch {
            forgetReleased()
            throw error
        }
    }

    /// Like ``follow(_:)``, but reads the scope off the main actor.
    func followOffMain<Object: ManagedObject>(
        _ request: ObjectRequest<Object>
    ) async -> Result<ListFreshness?, DataSourceError> {
        guard let scope = request.freshnessOf else { return .success(nil) }
        do throws(DataSourceError) {
            try scope.check()
            try stack.root.checkOpen()
        } catch {
            return .failure(error)
        }
        begin(scope.id)
        beginning += 1
        defer { beginning -= 1 }
        // The scope may change during this read, before the hub follows it. So make the hub read the scope again.
        defer { stack.root.scopes.didChange() }
        let (stack, id) = (stack, scope.id)
        while true {
            let pinned = lists.pinned
            let found = await withCheckedContinuation { continuation in
                lists.queue.async {
                    continuation.resume(
                        returning: Result { () throws(DataSourceError) in
                            try stack.freshness(of: id, in: pinned)
                        })
                }
            }
            if mayShow(asOf: pinned) { return found.map { add(id, $0) } }
        }
    }

    /// Whether the lists may show a freshness that was read: it must not be newer than the rows of the lists.
    ///
    /// - Parameter pinned: The pinned rows; nil for the newest rows at the time of the read.
    private func mayShow(asOf pinned: PinnedRows?) -> Bool { lists.pinned == nil || lists.pinned === pinned }

    /// Reads the scopes of all lists again, because the lists now show other rows.
    func reload() { stack.root.scopes.didChange() }

    private func begin(_ id: ScopeID) {
        stack.root.scopes.show(id)
        if followed.contains(where: { $0.list != nil }) { return }
        stack.root.scopes.follow { [weak self] in Task { @MainActor in self?.read() } }
    }

    /// The scopes of all lists.
    private var shownIDs: Set<ScopeID> { Set(followed.compactMap { $0.list?.id }) }

    /// Forgets the scopes that no list shows. Otherwise, their names would accumulate until a scope changes.
    ///
    /// A list that reads its scope off the main actor shows the scope again when it is added.
    private func forgetReleased() {
        followed.removeAll { $0.list == nil }
        stack.root.scopes.showOnly(shownIDs)
    }

    private func add(_ id: ScopeID, _ value: ScopeFreshness) -> ListFreshness {
        if followed.contains(where: { $0.list == nil }) { forgetReleased() }
        let list = ListFreshness(id, value)
        followed.append(Entry(list: list))
        // A read that began before this list was added may have removed the scope from the shown scopes. So show the scope
        // again.
        stack.root.scopes.show(id)
        return list
    }

    /// Reads the scopes of all lists. Shows the result once the lists show all rows that were in the store at the time of the
    /// read.
    private func read() {
        if isReading { return }
        followed.removeAll { $0.list == nil }
        if followed.isEmpty, beginning == 0 {
            stack.root.scopes.follow(nil)
            return endWaits(for: .max)
        }
        isReading = true
        readCount += 1
        stack.root.scopes.beginReading()
        let (stack, pinned, ids) = (stack, lists.pinned, shownIDs)
        stack.root.scopes.showOnly(ids)
        lists.queue.async { [weak self] in
            var found: [ScopeID: FoundFreshness] = [:]
            for id in ids {
                // Look for a running load before the read: if a load has just ended, the list shows its answer.
                found[id] = FoundFreshness(isLoading: stack.isLoading(id))
                found[id]?.value = try? stack.root.latestFreshness(of: stack.mapped(id), in: pinned)
            }
            // A freshness can belong to an answer that another member has saved. Read the saves of other members, so that the
            // lists show the rows of the answer before its freshness.
            try? stack.root.follow()
            Task { @MainActor [found] in await self?.show(found, asOf: pinned) }
        }
    }

    private func show(_ found: [ScopeID: FoundFreshness], asOf pinned: PinnedRows?) async {
        stack.mainNotifier.merge()
        await lists.waitUntilReported()
        lists.perform { [self] in
            // If the pin of the context has begun or moved meanwhile, drop the result: the scopes are read again.
            guard mayShow(asOf: pinned) else { return }
            for entry in followed {
                if let list = entry.list, let value = found[list.id] { list.set(value) }
            }
        }
        isReading = false
        endWaits(for: readCount)
        if stack.root.scopes.isFollowerCalled { read() }
    }

    private func endWaits(for read: Int) {
        let ended = waiting.filter { $0.read <= read }
        waiting.removeAll { $0.read <= read }
        for (_, continuation) in ended { continuation.resume() }
    }

    /// Waits until the lists show the freshness that their scopes had when the call began, or a newer freshness. Does not wait
    /// for later changes.
    func settle() async {
        let isChanged = stack.root.scopes.isFollowerCalled
        guard isReading || isChanged else { return }
        await withCheckedContinuation { continuation in
            waiting.append((isChanged ? readCount + 1 : readCount, continuation))
            read()
        }
    }
}

extension PersistentStack {
    /// Reads how old the objects of a scope are, and whether a load of the scope is running.
    fileprivate func freshness(of id: ScopeID, in pinned: PinnedRows?) throws(DataSourceError) -> ScopeFreshness {
        // Look for a running load before the read: if a load has just ended, the read finds its answer.
        let isLoading = isLoading(id)
        var found = try root.freshness(of: mapped(id), in: pinned)
        found.isLoading = isLoading
        return found
    }
}
