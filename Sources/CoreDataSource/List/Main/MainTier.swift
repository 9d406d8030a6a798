internal import RowStore

/// The second tier of a save. It merges the saves of the private tiers into the objects and lists of the main context.
///
/// **Isolation**: the main actor.
@MainActor
package final class MainTier {
    package nonisolated let stack: PersistentStack
    package private(set) lazy var context = MainContext(stack, of: self) { [weak self] in
        self?.mergeObjects()
    } prepare: { [weak self] registersObjects in
        guard let self else { return }
        if registersObjects || pin != nil { prepareToFetch() } else { stack.root.noticeOutsideWrites() }
    }
    /// The pin of the context; nil while the context follows saves.
    var pin: MainPin?
    /// The time of the next check for an expired pin; nil if no check is scheduled.
    var pinCheck: ContinuousClock.Instant?
    /// When this many objects are registered, unreferenced objects are forgotten.
    private var sweepThreshold = 1024
    /// The generation that began with the last merged reset.
    private(set) var knownReset = 0
    /// Whether registered objects must be reloaded because other programs made changes or a read failed.
    private var mustReload = false
    var lists: ListHub {
        if let hub { return hub }
        let new = ListHub(stack, pin?.rows)
        hub = new
        return new
    }
    private(set) var hub: ListHub?
    /// The freshness that lists show; nil until a list shows one.
    private(set) var scopeHub: ScopeHub?
    var scopes: ScopeHub {
        if let scopeHub { return scopeHub }
        let new = ScopeHub(stack, lists)
        scopeHub = new
        return new
    }
    /// Deleted objects. An unreferenced object is kept until all lists have reported its deletion. A referenced object
    /// is kept until its deletion is also in the store.
    let deletedObjects = ObjectTable()
    /// The number of occupied slots that deleted objects skipped to find a free slot. For tests.
    package var deletedObjectProbeCount: Int { deletedObjects.probeCount }
    private var isDrainScheduled = false
    /// The open drafts by number. They end with the container.
    package var drafts: [Int: any MainFollower] = [:]
    private(set) var lastDraft = 0

    /// Waits until the lists show the freshness of the last commit.
    func waitForFreshness() async { await scopeHub?.settle() }

    nonisolated init(_ stack: PersistentStack) {
        self.stack = stack
    }

    deinit {
        // Observed lists, and loops over updates, retain their engines, and the engines retain the store. End the
        // engines, so that the store is released. Without loops and lists, the hub and the store are released at once,
        // even while the main actor is busy.
        Task { @MainActor [weak hub] in hub?.end() }
        // The app may still retain the context, so release its pinned rows.
        pin?.rows.end()
    }

    /// The closures for the container's notifier. They do nothing after the tier was released.
    nonisolated var mergeFunctions: MainNotifier.MergeFunctions {
        MainNotifier.MergeFunctions(
            merge: { [weak self] in self?.merge() }, mergeObjects: { [weak self] in self?.mergeObjects() },
            waitForLists: { [weak self] in await self?.waitForLists() })
    }

    func nextDraft() -> Int {
        lastDraft += 1
        return lastDraft
    }

    /// Merges all saves into the registered objects before a read. Lists are updated later, because no delegate or observer may
    /// be notified during a read.
    func prepareToFetch() {
        if pin == nil { stack.root.noticeOutsideWrites() }
        mergeObjects()
        sweep()
        // Start after the sweep: a sweep that forgets all objects stops the merging.
        stack.root.startMerging()
    }

    // MARK: Merging

    /// Merges all saves into the registered objects, and afterwards into the lists.
    package func merge() {
        mergeSaves()
        drainLists()
    }

    /// Merges all saves into the registered objects. The lists are updated when the main actor is free.
    func mergeObjects() {
        mergeSaves()
        guard let hub, hub.isWaiting, !isDrainScheduled else { return }
        isDrainScheduled = true
        Task { @MainActor [weak self] in
            self?.isDrainScheduled = false
            self?.drainLists()
        }
    }

    /// Merges the saves that were not merged yet. While the context is pinned, saves wait.
    private func mergeSaves() {
        let wasPinned = pin != nil
        if endPinIfOver() {
            passOn(stack.root.takeForMain(), makesOneReport: wasPinned)
        } else if !readPinnedRowsAgain(), mustReload {
            try? reload()
        }
    }

    /// Passes saves to the registered objects, drafts and lists.
    ///
    /// - Parameter makesOneReport: See ``MergedSaves/makesOneReport``.
    func passOn(
        _ taken: (saves: [ChangeSet], lastReset: Int, staleness: SaveLog.Staleness?), makesOneReport: Bool = false
    ) {
        let (saves, reset, staleness) = taken
        let isReset = reset != knownReset
        let changesLinks = saves.contains(where: changesLinks)
        if staleness != nil || isReset || changesLinks { context.related.removeAll() }
        applyReset(reset)
        for changes in saves {
            for entity in changes.entities { merge(entity, changes.saveNumber) }
        }
        let merged = MergedSaves(
            saves: saves, isReset: isReset, staleness: staleness, changesLinks: changesLinks,
            makesOneReport: makesOneReport)
        for draft in drafts.values { draft.follow(merged) }
        lists.follow(merged)
        if staleness != nil { mustReload = true }
        // If the store cannot be read now, reload in the next merge or read.
        if mustReload { try? reload() }
    }

    /// Brings the lists up to date.
    func drainLists() {
        lists.drain()
        sweep()
    }

    private func changesLinks(_ changes: ChangeSet) -> Bool {
        changes.entities.contains(where: stack.graph.changesLinks)
    }

    private func merge(_ changes: EntityChanges, _ number: SaveNumber) {
        let binding = context.bindings[changes.entity]
        if deletedObjects.count > 0 { for row in changes.inserted { restore(row, binding, number) } }
        if binding.objects.count == 0 { return }
        for change in changes.updated { binding.objects[change.key]?.refresh(change.row, asOf: number) }
        for change in changes.deleted {
            // If the object was read after the deletion, the deletion was rolled back.
            guard let object = binding.objects[change.key], object.asOf < number else { continue }
            markDeleted(object)
        }
    }

    /// Restores the object of a row whose deletion was rolled back.
    private func restore(_ stored: StoredRow, _ binding: EntityBinding, _ number: SaveNumber) {
        guard let object = deletedObjects[stored.key], object.layout === binding.layout else { return }
        deletedObjects.remove(stored.key)
        if binding.objects[stored.key] != nil { return }
        binding.revive(object, stored.row, asOf: number)
    }

    /// Marks an object as deleted. The object is kept, because lists may still show it, and because the deletion may be rolled
    /// back.
    private func markDeleted(_ object: ManagedObject) {
        context.bindings[object.layout.index].forget(object)
        deletedObjects.remove(object.key)
        deletedObjects.insert(object)
    }

    /// Marks all registered objects as deleted if the store was reset.
    private func applyReset(_ reset: Int) {
        guard reset != knownReset else { return }
        knownReset = reset
        for entity in context.bindings.indices {
            for object in context.bindings[entity].objects.objects { markDeleted(object) }
            context.bindings[entity].forgetObjects()
        }
    }

    /// Reloads the referenced objects from the store, and forgets all other objects.
    private func reload() throws(DataSourceError) {
        for binding in context.bindings {
            binding.objects.removeUnreferenced()
            let deleted = deletedObjects.objects.filter { $0.layout === binding.layout }
            let keys = (binding.objects.objects + deleted).map(\.key)
            try context.source.forEachRow(
                entity: binding.layout.index, keys: keys, deferringValues: true
            ) { key, row, asOf in
                guard let object = binding.objects[key] else {
                    if let row { restore(StoredRow(key: key, row: row), binding, asOf) }
                    return
                }
                if let row {
                    object.revive(row, asOf: asOf)
                } else {
                    markDeleted(object)
                }
            }
        }
        mustReload = false
    }

    /// Forgets unreferenced objects when the number of registered objects has doubled since the last time.
    private func sweep() {
        if deletedObjects.count > 0, lists.isIdle {
            let isFinal = stack.root.pendingSaveCount == 0 && !stack.root.hasUnmergedSaves
            if isFinal { deletedObjects.removeAll() } else { deletedObjects.removeUnreferenced() }
        }
        context.related.sweep()
        if context.registeredObjectCount >= sweepThreshold { forgetObjects() }
    }

    /// Forgets unreferenced objects.
    package func forgetObjects() {
        var kept = 0
        for binding in context.bindings {
            binding.objects.removeUnreferenced()
            kept += binding.objects.count
        }
        sweepThreshold = max(1024, kept * 2)
        // Even if a pinned context shows nothing now, it will later merge the saves that are newer than its rows.
        guard kept == 0 && pin == nil && deletedObjects.count == 0 && lists.isEmpty && drafts.isEmpty else { return }
        stack.root.stopMerging()
        context.related.removeAll()
    }
}
