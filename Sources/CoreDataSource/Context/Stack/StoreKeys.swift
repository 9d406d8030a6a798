internal import RowStore
internal import Synchronization

/// The keys of new objects.
///
/// In a shared store, this class reserves keys in the store. The first keys are reserved when the store is opened. More
/// keys are reserved on a queue whenever half of the reserved keys are used. So an insert, even in a draft on the main
/// actor, usually finds reserved keys. The insert waits for the store only if keys are used faster than the store
/// reserves more keys.
package final class StoreKeys: Sendable {
    private let sharing: (any StoreSharing)?
    private let queue: (any WorkQueue)?
    private let lastKey: Atomic<Int64>
    /// The greatest key that this container may use. Other members may use greater keys.
    private let keyLimit: Atomic<Int64>
    /// When this key is used, more keys are reserved.
    private let nextReservation: Atomic<Int64>
    private let reserve = Guarded(Reserve())
    /// Whether a reservation is running or waiting on the queue.
    private let isReserving = Atomic(false)

    private struct Reserve {
        var nextReservationCount = StoreKeys.firstCount
        var nextKeys: Reserved?
    }

    private struct Reserved {
        let keys: Range<Int64>
        /// The value of `generation` when the keys were requested.
        let generation: Int
    }

    /// How often the reserved keys were forgotten.
    private let generation = Atomic(0)
    /// The greatest key used by this container that another program may also have used.
    private let lastKeyMaybeUsedElsewhere = Atomic<Int64>(0)

    private static let firstCount: Int64 = 4096
    private static let largestCount: Int64 = 65_536
    private static let maxKeysOfBatch: Int64 = 1 << 20

    init(_ store: any PersistentStore, _ scheduling: WorkScheduling) {
        sharing = store.sharing
        queue = sharing.map { _ in scheduling.makeQueue("CoreDataSource.keys", false) }
        // Int64.max is not used as a key, because the store keeps a bound above the greatest key.
        lastKey = Atomic(sharing == nil ? store.firstFreeKey - 1 : 0)
        keyLimit = Atomic(sharing == nil ? Int64.max - 1 : 0)
        nextReservation = Atomic(Int64.max)
        // If the reservation fails, the first insert throws the error.
        if sharing != nil { _ = try? refill() }
    }

    /// Returns a key that no object of the store has ever had.
    ///
    /// - Throws: `keysExhausted`; in a shared store, errors of the store.
    func next() throws(DataSourceError) -> Int64 {
        while true {
            if let key = nextReserved() { return key }
            guard sharing != nil, try refill() else { break }
        }
        throw DataSourceError(
            .keysExhausted,
            "The store contains an object with the highest possible key, so a new object cannot get a higher key. Delete that "
                + "object, and open the store again.")
    }

    /// Whether another program may also have used a key of this container.
    func mayBeUsedElsewhere(_ key: Int64) -> Bool { key <= lastKeyMaybeUsedElsewhere.load(ordering: .acquiring) }

    private func nextReserved() -> Int64? {
        var last = lastKey.load(ordering: .acquiring)
        while last < keyLimit.load(ordering: .acquiring) {
            let (isMine, found) = lastKey.compareExchange(
                expected: last, desired: last + 1, ordering: .acquiringAndReleasing)
            if isMine {
                if last + 1 == nextReservation.load(ordering: .relaxed) { reserveAhead() }
                return last + 1
            }
            last = found
        }
        return nil
    }

    /// Makes all new keys at least `firstFree`, after another program has inserted rows.
    func raise(to firstFree: Int64) {
        lastKeyMaybeUsedElsewhere.max(lastKey.load(ordering: .acquiring), ordering: .acquiringAndReleasing)
        // In a shared store, forget the reserved keys: the next reservation is above the keys of other programs.
        if sharing != nil { return forget() }
        var last = lastKey.load(ordering: .relaxed)
        while last < firstFree - 1 {
            let result = lastKey.compareExchange(expected: last, desired: firstFree - 1, ordering: .relaxed)
            if result.exchanged { return }
            last = result.original
        }
    }

    // MARK: Reserving

    /// Switches to the next reserved keys, after the current keys are used.
    ///
    /// - Returns: False if the store has no more keys.
    private func refill() throws(DataSourceError) -> Bool {
        try reserve.withLock { (reserve) throws(DataSourceError) in
            while true {
                // Another thread may have switched already.
                if lastKey.load(ordering: .acquiring) < keyLimit.load(ordering: .acquiring) { return true }
                let next = if let keys = reserve.nextKeys { keys } else { try reserved(&reserve) }
                reserve.nextKeys = nil
                if next.keys.isEmpty { return false }
                guard isCurrent(next) else { continue }
                let keys = next.keys
                nextReservation.store(keys.lowerBound + Int64(keys.count / 2), ordering: .relaxed)
                // Store the last key first, so that no thread takes a key between the old keys and the new keys.
                lastKey.store(keys.lowerBound - 1, ordering: .releasing)
                keyLimit.store(keys.upperBound - 1, ordering: .releasing)
                if isCurrent(next) { return true }
                skipToLimit()
            }
        }
    }

    private func isCurrent(_ reserved: Reserved) -> Bool {
        reserved.generation == generation.load(ordering: .sequentiallyConsistent)
    }

    /// Stops using the reserved keys, because another process may use the same keys. Does not wait.
    private func forget() {
        generation.add(1, ordering: .sequentiallyConsistent)
        skipToLimit()
    }

    private func skipToLimit() {
        while true {
            let last = lastKey.load(ordering: .acquiring)
            let limit = max(last, keyLimit.load(ordering: .acquiring))
            if lastKey.compareExchange(expected: last, desired: limit, ordering: .acquiringAndReleasing).exchanged {
                return
            }
        }
    }

    private func reserved(_ reserve: inout Reserve) throws(DataSourceError) -> Reserved {
        let generation = generation.load(ordering: .sequentiallyConsistent)
        guard let sharing else { return Reserved(keys: 0..<0, generation: generation) }
        let keys = try sharing.reserveKeys(reserve.nextReservationCount)
        reserve.nextReservationCount = min(reserve.nextReservationCount * 2, StoreKeys.largestCount)
        return Reserved(keys: keys, generation: generation)
    }

    /// Begins to reserve keys for a batch that may insert `count` objects, so that the batch does not have to wait for keys.
    func reserve(for count: Int) {
        let count = min(Int64(count), StoreKeys.maxKeysOfBatch)
        let reservation = nextReservation.load(ordering: .relaxed)
        if sharing != nil, reservation - lastKey.load(ordering: .acquiring) < count { reserveAhead(for: count) }
    }

    /// Reserves more keys on the queue. Does nothing if the rest of the current keys and half of the next keys are
    /// enough, because the use of that half begins the next reservation anyway.
    ///
    /// - Parameter count: The number of keys that the caller needs.
    private func reserveAhead(for count: Int64 = 0) {
        // Make only one reservation at a time, because each reservation waits for its full timeout if the store cannot be
        // written.
        guard let queue, !isReserving.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [weak self] in
            self?.reserve.withLock { reserve in
                guard let self else { return }
                defer { self.isReserving.store(false, ordering: .releasing) }
                let rest = self.keyLimit.load(ordering: .acquiring) - self.lastKey.load(ordering: .acquiring)
                if let next = reserve.nextKeys, rest + Int64(next.keys.count / 2) >= count { return }
                reserve.nextReservationCount = max(reserve.nextReservationCount, count * 2)
                // If the reservation fails, the next insert that needs keys tries again.
                if let next = try? self.reserved(&reserve) { reserve.nextKeys = next }
            }
        }
    }

    /// Returns after all scheduled reservations. For tests.
    package func waitForReservations() async {
        guard let queue else { return }
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
