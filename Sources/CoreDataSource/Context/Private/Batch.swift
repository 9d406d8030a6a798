internal import Foundation
internal import RowStore

/// The entities that a batch may change.
enum BatchScope {
    /// No entities: the batch only reads.
    case nothing
    /// The entities that the data source owns.
    case own
    /// The entities that the data source owns, and the entities that delete rules reach.
    case reach
}

/// The work of a hook or of `perform`, in one or several contexts. A batch makes one save.
///
/// **Isolation**: the queues of all contexts of the batch.
struct Batch {
    private let context: PrivateContext
    /// All contexts of the batch. The first is ``context``.
    private let contexts: [PrivateContext]
    /// The contexts whose objects the work may use. The other contexts take part only because delete rules may change their
    /// objects.
    private let workContexts: [PrivateContext]
    private let source: SaveSource
    /// The entities that the batch may change in a shared store; nil if the batch saves nothing, or if the store is not
    /// shared.
    private let leases: LeaseSet?
    /// The data sources that complete the save; nil if there are none.
    private let completion: SaveCompletion?
    /// The author, the data source and the kind of the save; nil for a batch that saves nothing.
    private let facts: SaveFacts?
    /// The entities that delete rules reach; nil if they reach no other data source.
    private let reach: BatchReach?

    init(
        _ context: PrivateContext, _ source: SaveSource, with others: [PrivateContext] = [],
        workContexts: [PrivateContext] = [], leases: LeaseSet? = nil, completion: SaveCompletion? = nil,
        facts: SaveFacts? = nil, reach: BatchReach? = nil
    ) {
        self.facts = facts
        self.reach = reach
        self.leases = leases
        self.completion = completion
        self.context = context
        self.source = source
        contexts = [context] + others
        self.workContexts = workContexts
    }

    private var stack: PersistentStack { context.stack }

    /// Runs the work, checks its edits, and passes the edits to the root. If the call throws, it changes nothing. Throws
    /// ``NewTierReached`` before the work, if the batch needs another queue.
    ///
    /// The compiler makes a copy of this function for each type of result, so most of the code is in functions that are not
    /// generic.
    func run<Result>(
        isAwaited: Bool, _ work: (PrivateContext) throws -> Result
    ) throws -> (result: Result, changes: ChangeSet, number: SaveNumber) {
        let use = try enter()
        defer { leave(use) }
        do {
            let result = try work(context)
            let saved = try save(isAwaited, use?.epochs ?? [])
            return (result, saved.changes, saved.number)
        } catch {
            rollBack()
            // If a lease was lost, other members may have changed rows between two reads of the batch. The error may be only a
            // consequence of such changes, so throw `leaseLost` instead.
            if error is DataSourceError, let use { try stack.root.leases?.checkLeases(of: use) }
            try context.checkIsNotTooLate(after: error)
            throw error
        }
    }

    /// Waits for the leases, and applies changes that were made outside the contexts.
    private func enter() throws -> LeaseUse? {
        let use = try useLeases()
        // Call `followToRead` only if there are no leases. If `followToRead` threw while the batch had leases, the leases
        // would have to be released here.
        if use == nil { try followToRead() }
        do { try reach?.beginBatch() } catch {
            if let use { stack.root.leases?.endUse(use) }
            throw error
        }
        begin(hasFollowed: use != nil)
        let leasedEntities = stack.root.leases.map { _ in Set((use?.epochs ?? []).map(\.entity)) }
        for context in contexts { context.leasedEntities = leasedEntities }
        context.earlyWrites.begin(newestSave: stack.root.earlyWriteStore == nil ? nil : stack.root.newestSave)
        return use
    }

    private func leave(_ use: LeaseUse?) {
        context.earlyWrites.end()
        end()
        if let use { stack.root.leases?.endUse(use) }
    }

    /// Applies the rules of the model to the edits, and passes the edits to the root.
    private func save(_ isAwaited: Bool, _ epochs: [LeaseEpoch]) throws -> (changes: ChangeSet, number: SaveNumber) {
        try endSweeps()
        try applyRules()
        let saved =
            contexts.contains { $0.sharesConstraints }
            ? try stack.sharedConstraints.withLock { try submit(isAwaited, epochs) }
            : try submit(isAwaited, epochs)
        for context in contexts { context.didSave(saved.number) }
        return saved
    }

    /// Runs the work, checks its edits as a save would, and discards the edits.
    func dryRun<Result>(
        _ work: (PrivateContext) throws -> Result
    ) throws -> (result: Result, changes: ChangeSet) {
        try followToRead()
        try reach?.beginBatch()
        begin()
        defer {
            rollBack()
            end()
        }
        let result = try work(context)
        try endSweeps()
        try applyRules()
        let changes = try collectChanges()
        try stack.root.checkNotReset(since: context.position)
        return (result, changes)
    }

    /// Takes the leases of the batch, and adds the earlier saves of other members to the log.
    private func useLeases() throws(DataSourceError) -> LeaseUse? {
        guard let leases, let keeper = stack.root.leases else { return nil }
        while true {
            let use = try keeper.use(leases, for: source.name) { stack.tiers(owning: [$0]).first?.source.name }
            var isHeld = false
            defer { if !isHeld { keeper.endUse(use) } }
            isHeld = try keeper.follow(before: use)
            if isHeld { return use }
        }
    }

    /// Adds the saves of other members to the log. Only for a batch that reads and saves nothing, with a store on a server.
    /// For a store in a file, ``begin(hasFollowed:)`` adds these saves.
    private func followToRead() throws(DataSourceError) {
        guard stack.root.isRemote, let keeper = stack.root.leases else { return }
        let owned = contexts.flatMap(\.bindings).filter(\.isOwned).map(\.layout.index)
        try keeper.follow(beforeReading: Set(owned))
    }

    /// Applies the changes that were made outside the contexts since their last batches.
    ///
    /// - Parameter hasFollowed: Whether the saves of other members were just added to the log.
    private func begin(hasFollowed: Bool = false) {
        if !hasFollowed { stack.root.noticeOutsideWrites() }
        for one in contexts {
            one.batchReach = reach
            one.beginBatch(
                with: contexts.filter { $0 !== one }, workContexts: ([context] + workContexts).filter { $0 !== one })
        }
        completion?.begin()
    }

    /// Discards all edits, and forgets objects that other data sources may change before the next batch.
    private func rollBack() {
        if let earlyWrite = context.earlyWrites.taken { stack.root.abandon(earlyWrite) }
        for context in contexts { context.rollback(isEnd: true) }
    }

    private func end() {
        completion?.end()
        for context in contexts { context.endBatch() }
        reach?.end()
    }

    /// Runs the sweeps that were called outside of `add` and `sync`.
    private func endSweeps() throws {
        let kept = contexts.reduce(into: Set<LinkEnd>()) { $0.formUnion($1.sweeps.kept) }
        for context in contexts { try context.endSweeps(sparing: kept) }
    }

    /// Applies the model's delete rules, calls the data sources that complete the save, and checks the model's rules for
    /// relationships.
    private func applyRules() throws {
        for context in contexts { try context.checkRefusal() }
        try completion?.run(contexts, endSweeps) { try context.checkBeforeHooks() }
        try context.applyingRules {
            var failures: [DataSourceError] = []
            for context in contexts { failures += try context.relationshipFailures() }
            for context in contexts { try context.checkRefusal() }
            try context.throwFailures(failures)
            if completion == nil { try context.checkDeletions() }
        }
        mergeOriginsOfLinked()
    }

    /// Makes the save depend on the saves of other data sources whose objects the batch has linked.
    private func mergeOriginsOfLinked() {
        guard contexts.contains(where: { !$0.linkedEntities.isEmpty }) else { return }
        let linked = contexts.reduce(into: Set<Int>()) { $0.formUnion($1.linkedEntities) }
        let unownedEntities = linked.filter { entity in !contexts.contains { $0.bindings[entity].isOwned } }
        let sources = stack.tiers(owning: unownedEntities).map(\.source)
        if !sources.isEmpty { stack.mergeOrigins([source] + sources) }
    }

    /// Validates the edits of all contexts, and returns their change set.
    private func collectChanges() throws(DataSourceError) -> ChangeSet {
        var changes = try context.collectChanges()
        for other in contexts.dropFirst() {
            for rows in try other.collectChanges().entities { changes.add(rows) }
        }
        return changes
    }

    /// Checks the edits, and passes the edits to the root.
    ///
    /// - Parameter epochs: The leases of the batch.
    private func submit(
        _ isAwaited: Bool, _ epochs: [LeaseEpoch]
    ) throws(DataSourceError) -> (changes: ChangeSet, number: SaveNumber) {
        var changes = try collectChanges()
        changes.earlyWrite = context.earlyWrites.taken
        try context.checkAnswer(savedWith: changes)
        changes.scopes = context.scopeChanges(savedWith: changes)
        assert(changes.hasEachRowOnce)
        guard !changes.isEmpty || context.passesStep else {
            // The batch may have read objects before the store was reset.
            try stack.root.checkNotReset(since: context.position)
            if let earlyWrite = changes.earlyWrite { stack.root.abandon(earlyWrite) }
            return (changes, .beforeFirst)
        }
        if stack.root.leases != nil {
            try requireLeases(changes, epochs)
            changes.leases = epochs
        }
        // End the early write. The commit writes the remaining rows.
        changes.earlyWrite?.end()
        changes.facts = facts
        // Contexts can begin at different positions. The context that began first may have the oldest rows, so use its
        // position.
        let number = try stack.root.accept(changes, from: source, basis: context.position, isAwaited: isAwaited)
        return (changes, number)
    }

    /// - Throws: `entityNotOwned` if the batch has changed an entity without its lease.
    private func requireLeases(_ changes: ChangeSet, _ epochs: [LeaseEpoch]) throws(DataSourceError) {
        for entity in changes.entities.map(\.entity) {
            let layout = stack.layout.entities[entity]
            let needed = layout.links == nil ? [entity] : stack.graph.ends(ofLinks: entity)
            guard let missing = needed.first(where: { end in !epochs.contains { $0.entity == end } }) else { continue }
            let name = stack.layout.entities[missing].name
            throw DataSourceError(
                .entityNotOwned,
                "A hook of \(source.name) changed \(name), which other processes may be writing. onAdd(_:in:) may change only "
                    + "the entities of its data source. Delete other objects with delete, sync or perform, or use "
                    + "container.perform(in:).",
                entityName: name)
        }
    }
}

extension PrivateContext {
    fileprivate func beginBatch(with otherBatchContexts: [PrivateContext], workContexts: [PrivateContext]) {
        if let new = stack.root.events(since: position) {
            for event in new.events { apply(event) }
            position = new.position
        }
        self.otherBatchContexts = otherBatchContexts
        self.workContexts = workContexts
        lookupCache = LookupCache()
        hasGivenKeys = false
        isInBatch = true
    }

    fileprivate func endBatch() {
        isInBatch = false
        isReverting = false
        passesStep = false
        lookupCache = nil
        otherBatchContexts = []
        workContexts = []
        leasedEntities = nil
        batchReach = nil
        forgetDeletions()
        // Forget the answer here, and not at a rollback: a hook may roll back, and the batch then still stores the
        // answer.
        answered = nil
        linkedEntities = []
    }
}

/// The level that a save must reach before a call returns: the main context or the store.
///
/// ```swift
/// try await contacts.add(Contact(uid: "4", name: "Zhao Yun"), waitFor: .main)
/// try await container.flush()
/// ```
public struct SaveLevel: Sendable, Hashable {
    private let rawValue: Int

    /// The rows are in the store, with the durability that ``PersistentContainer/Configuration/synchronous`` sets.
    /// After a call on the main actor, the objects and lists of the main context show the rows too.
    public static let store = SaveLevel(rawValue: 2)
    /// The main context and its lists show the rows. The container writes the rows to the store soon afterwards. If the disk
    /// fails, the container tries again. ``EntityDataSource/handleError(_:)``, ``PersistentContainer/failures`` and `flush()`
    /// report the failure.
    public static let main = SaveLevel(rawValue: 1)
}

/// The early write of a context's batch: inserted rows are written to the store while the hooks of the batch still run.
///
/// Without early writes, a large save would use one core for its hooks, and then one core for SQLite. With early writes, both
/// run at the same time. All other saves take precedence, so an early write begins only while no other data source saves.
struct EarlyWriteBatch {
    /// The number of rows in each part that is passed to the root.
    static let partSize = 256
    /// The smallest number of inserted objects of an entity for which an early write begins.
    static let threshold = 1024
    /// The number of large batches that get no early write after a wasted early write.
    private static let pause = 16

    /// The number of the newest save when the batch began; nil if this batch gets no early write.
    private var newestSave: SaveNumber?
    /// The early write of the batch; between two batches, the early write of the last batch.
    private var earlyWrite: EarlyWrite?
    private var isInBatch = false
    /// The number of further large batches that get no early write.
    private var batchesToSkip = 0

    /// Begins a batch.
    ///
    /// - Parameter newestSave: The number of the newest save; nil for a batch without an early write.
    mutating func begin(newestSave: SaveNumber?) {
        self.newestSave = newestSave
        isInBatch = true
        if let last = earlyWrite, last.wasWasteful { batchesToSkip = EarlyWriteBatch.pause }
        earlyWrite = nil
    }

    /// Returns the early write of the batch, and begins the early write if necessary. Returns nil if an early write is not
    /// possible.
    mutating func take(in root: RootTier) -> EarlyWrite? {
        if let earlyWrite { return earlyWrite.hasEnded ? nil : earlyWrite }
        guard let before = newestSave else { return nil }
        // Try only once in a batch.
        newestSave = nil
        if batchesToSkip > 0 {
            batchesToSkip -= 1
        } else if root.newestSave == before {
            earlyWrite = EarlyWrite()
        }
        return earlyWrite
    }

    /// The early write that the save of the running batch uses; nil if there is none.
    var taken: EarlyWrite? { isInBatch ? earlyWrite : nil }

    /// Ends the batch.
    mutating func end() {
        newestSave = nil
        isInBatch = false
    }
}

extension PrivateContext {
    /// Reserves keys for a batch that may insert `count` objects.
    func expectInserts(_ count: Int) {
        // Reserve the keys of a large batch now. Each reservation is a separate transaction, which would end an early write.
        if count >= EarlyWriteBatch.threshold { stack.keys.reserve(for: count) }
    }

    /// Writes the inserted objects of the batch early, except for the last object, which has no values yet.
    func writeEarly(_ binding: EntityBinding) {
        // Derived values are known only at the save.
        guard binding.inserted.count >= EarlyWriteBatch.threshold, binding.isOwned, binding.derivations.isEmpty,
            let earlyWrite = earlyWrites.take(in: stack.root)
        else { return }
        var rows: [StoredRow] = []
        rows.reserveCapacity(binding.inserted.count - binding.earlyWriteCount)
        for object in binding.inserted[binding.earlyWriteCount..<binding.inserted.count - 1]
        where object.state == .inserted {
            object.row.compact(object.layout)
            rows.append(StoredRow(key: object.key, row: object.row))
        }
        binding.earlyWriteCount = binding.inserted.count - 1
        stack.root.write(NewRows(entity: binding.layout.index, rows), for: earlyWrite)
    }
}
