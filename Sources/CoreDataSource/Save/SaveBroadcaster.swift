package import RowStore

/// Tells loops over `container.saves` of committed saves, in the order of the commits.
///
/// If the store is not shared, the root publishes each commit. The order of the commits in a shared store is known only
/// to the store, so the broadcaster reads the saves of all members, including this container, from the feed of the
/// store.
package final class SaveBroadcaster: Sendable {
    /// Nil if the store is not shared.
    private let sharing: (any StoreSharing)?
    private let scheduling: WorkScheduling
    private let queue: any WorkQueue
    private let state = Guarded(State())

    private struct State {
        var mailboxes: [Int: SaveMailbox] = [:]
        var lastID = 0
        var isFinished = false
        /// The position in the feed up to which the loops were told of saves; nil without loops.
        var position: Int64?
        /// The number of resets of the store. A page that was read before a reset is dropped.
        var generation = 0
        var isReadScheduled = false
    }

    /// The pause before the feed is read again after an error.
    private static let pause = Duration.seconds(1)

    init(_ sharing: (any StoreSharing)?, _ scheduling: WorkScheduling) {
        self.sharing = sharing
        self.scheduling = scheduling
        queue = scheduling.makeQueue("CoreDataSource.saves", false)
    }

    /// Whether any loop waits for saves.
    package var isListening: Bool { state.withLock { !$0.mailboxes.isEmpty } }

    // MARK: Loops

    /// Adds a loop, which is told of all later saves.
    ///
    /// - Parameter position: The position in the feed after which the first loop begins. Other loops begin at the current
    ///   position of the first loop.
    func subscribe(after position: Int64) -> SaveSubscription {
        let mailbox = SaveMailbox()
        let id = state.withLock { state -> Int? in
            if state.isFinished { return nil }
            if state.mailboxes.isEmpty { state.position = position }
            state.lastID += 1
            state.mailboxes[state.lastID] = mailbox
            return state.lastID
        }
        if id == nil { mailbox.finish() }
        return SaveSubscription(mailbox, id, self)
    }

    fileprivate func unsubscribe(_ id: Int) {
        // The mailbox may retain many rows, so it is released outside the lock.
        _ = state.withLock { state in
            let mailbox = state.mailboxes.removeValue(forKey: id)
            if state.mailboxes.isEmpty { state.position = nil }
            return mailbox
        }
    }

    // MARK: Publishing

    /// Tells the loops of a commit.
    ///
    /// - Parameter saves: The saves in the order of the commit, without refused and postponed saves.
    func publish(_ saves: [ChangeSet]) {
        if sharing != nil { return readSoon() }
        publish(saves.filter { !$0.entities.isEmpty }.map { .save($0) })
    }

    /// Tells the loops of changes whose rows are unknown, and which are not in the feed of a shared store.
    ///
    /// - Parameter entities: The changed entities; nil for all.
    func publish(unknown reason: UnknownChanges.Reason, _ entities: Set<Int>?) {
        publish([.unknown(reason, entities)])
    }

    /// Tells the loops that the store was emptied. The feed of a new shared store begins with position 0.
    func didReset() {
        for mailbox in state.withLock({ state -> [SaveMailbox] in
            state.generation += 1
            if state.position != nil { state.position = 0 }
            return Array(state.mailboxes.values)
        }) { mailbox.put([.unknown(.reset, nil)]) }
    }

    private func publish(_ events: [SaveMailbox.Event]) {
        if events.isEmpty { return }
        for mailbox in state.withLock({ Array($0.mailboxes.values) }) { mailbox.put(events) }
    }

    /// Ends all loops after they have got all saves. Then calls the body.
    func finish(_ body: @escaping @Sendable () -> Void) {
        guard sharing != nil, isListening else {
            end()
            return body()
        }
        queue.async {
            while self.readPage() == .isMore {}
            self.end()
            body()
        }
    }

    /// Ends all loops. A loop over a shared store may lack the last saves.
    func end() {
        let mailboxes = state.withLock { state in
            state.isFinished = true
            state.position = nil
            defer { state.mailboxes = [:] }
            return Array(state.mailboxes.values)
        }
        for mailbox in mailboxes { mailbox.finish() }
    }

    // MARK: Reading the feed of a shared store

    /// Reads the feed on the queue, if any loop waits for saves.
    func readSoon() {
        let isFirst = state.withLock { state in
            guard sharing != nil, state.position != nil, !state.isReadScheduled else { return false }
            state.isReadScheduled = true
            return true
        }
        if isFirst { queue.async { [weak self] in self?.read() } }
    }

    private func read() {
        // A save that is made from now on schedules another read.
        state.withLock { $0.isReadScheduled = false }
        switch readPage() {
        case .isMore: readSoon()
        case .failed: scheduling.after(SaveBroadcaster.pause) { [weak self] in self?.readSoon() }
        case .isComplete: break
        }
    }

    private enum Progress {
        case isMore, isComplete, failed
    }

    /// Reads one page of the feed, and tells the loops of its saves.
    private func readPage() -> Progress {
        guard let sharing,
            let (position, generation) = state.withLock({ state in state.position.map { ($0, state.generation) } })
        else { return .isComplete }
        let page: FeedPage
        do throws(DataSourceError) { page = try sharing.readSaves(after: position) } catch {
            return error.code == .storeClosed ? .isComplete : .failed
        }
        // If an undo had nothing left to change, its event has no rows.
        let events = page.events.map { SaveMailbox.Event($0, own: sharing.member.number) }.filter { !$0.isEmpty }
        // Only this queue raises the position, so the order of the pages is the order of the saves.
        let mailboxes = state.withLock { state -> [SaveMailbox]? in
            guard state.generation == generation, state.position == position else { return nil }
            state.position = page.position
            return Array(state.mailboxes.values)
        }
        guard let mailboxes else { return .isMore }
        if !events.isEmpty { for mailbox in mailboxes { mailbox.put(events) } }
        return page.isMore ? .isMore : .isComplete
    }
}

/// The subscription of one loop. The loop ends the subscription by releasing this object.
package final class SaveSubscription: Sendable {
    package let mailbox: SaveMailbox
    private let id: Int?
    private weak let broadcaster: SaveBroadcaster?

    fileprivate init(_ mailbox: SaveMailbox, _ id: Int?, _ broadcaster: SaveBroadcaster) {
        self.mailbox = mailbox
        self.id = id
        self.broadcaster = broadcaster
    }

    deinit {
        if let id { broadcaster?.unsubscribe(id) }
    }
}

/// The saves that wait for one loop.
package final class SaveMailbox: Sendable {
    /// A committed save, or changes whose rows are unknown.
    package enum Event: Sendable {
        case save(ChangeSet)
        /// Changes whose rows are unknown, with the changed entities; nil for all entities.
        case unknown(UnknownChanges.Reason, Set<Int>?)

        fileprivate var byteCount: Int {
            if case .save(let changes) = self { changes.byteCount } else { 0 }
        }

        /// Whether this is a save without rows.
        fileprivate var isEmpty: Bool {
            if case .save(let changes) = self { changes.entities.isEmpty } else { false }
        }

        /// The changed entities; nil for all.
        fileprivate var entities: Set<Int>? {
            switch self {
            case .save(let changes): Set(changes.entities.map(\.entity))
            case .unknown(_, let entities): entities
            }
        }

        fileprivate init(_ event: FeedEvent, own member: Int64) {
            switch event {
            case .changes(var changes):
                if changes.member?.number == member { changes.member = nil }
                self = .save(changes)
            // If a save is too large for the feed, its event has its entities. The event for dropped saves has none.
            case .unknown(let entities): self = .unknown(entities == nil ? .missed : .tooLarge, entities)
            }
        }
    }

    private struct State {
        var events: [Event] = []
        var byteCount = 0
        var isFinished = false
        /// The loops that wait for the next event.
        var waiters: [CheckedContinuation<Void, Never>] = []

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [] }
            return waiters
        }
    }

    /// The largest number of waiting events, and the largest number of bytes of their rows. Beyond a limit, one event without
    /// rows replaces all waiting events.
    package static let limit = 1024
    package static let byteLimit = 16 << 20

    private let state = Guarded(State())

    fileprivate func put(_ events: [Event]) {
        // Dropped events may retain many rows, so they are released outside the lock.
        let (dropped, waiters) = state.withLock { state -> ([Event], [CheckedContinuation<Void, Never>]) in
            if state.isFinished { return ([], []) }
            var dropped: [Event] = []
            for event in events {
                let isFull =
                    state.events.count >= SaveMailbox.limit
                    || !state.events.isEmpty && state.byteCount + event.byteCount > SaveMailbox.byteLimit
                state.events.append(event)
                state.byteCount += event.byteCount
                guard isFull else { continue }
                dropped += state.events
                state.events = [.unknown(.missed, SaveMailbox.entities(of: state.events))]
                state.byteCount = 0
            }
            return (dropped, state.takeWaiters())
        }
        _ = consume dropped
        for waiter in waiters { waiter.resume() }
    }

    /// The entities that any of the events changes; nil for all entities.
    private static func entities(of events: [Event]) -> Set<Int>? {
        var all: Set<Int> = []
        for event in events {
            guard let entities = event.entities else { return nil }
            all.formUnion(entities)
        }
        return all
    }

    fileprivate func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for the next event, and returns it. Returns nil after the last event, or if the task is canceled.
    package func next() async -> Event? {
        await withTaskCancellationHandler {
            while !Task.isCancelled {
                let (event, isFinished) = take()
                if event != nil || isFinished { return event }
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        if !state.events.isEmpty || state.isFinished { return true }
                        state.waiters.append(continuation)
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            }
            return nil
        } onCancel: {
            finish()
        }
    }

    /// Removes and returns the oldest event. Also returns whether no more events will come.
    private func take() -> (event: Event?, isFinished: Bool) {
        state.withLock { state in
            guard !state.events.isEmpty else { return (nil, state.isFinished) }
            let event = state.events.removeFirst()
            state.byteCount -= event.byteCount
            return (event, false)
        }
    }
}
