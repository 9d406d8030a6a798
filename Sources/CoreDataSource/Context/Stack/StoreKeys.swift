internal import RowStore
internal import Synchronization

/// Gives the keys of new objects.
///
/// In a shared store, keys are reserved in the store: first when it is opened, and again on a queue when half of them are
/// given. So an insert, even in a draft on main, finds keys ready, and waits for the store only if keys are used faster than
/// the store reserves more.
package final class StoreKeys: Sendable {
    private let sharing: (any StoreSharing)?
    private let queue: (any WorkQueue)?
    private let lastKey: Atomic<Int64>
    /// The greatest key that may be given. Other members may give the keys after it.
    private let keyLimit: Atomic<Int64>
    /// More keys are reserved once this key is given.
    private let nextReservation: Atomic<Int64>
    private let reserve = Guarded(Reserve())
    /// Whether a reservation is being made on the queue, or waits for it.
    private let isReserving = Atomic(false)

    private struct Reserve {
        /// How many keys are reserved next.
        var count = StoreKeys.firstCount
        /// Keys to continue with once the others are given.
        var ahead: Reserved?
    }

    private struct Reserved {
        let keys: Range<Int64>
        /// How often keys had been forgotten when these were requested.
        let generation: Int
    }

    /// How often the reserved keys were forgotten.
    private let generation = Atomic(0)
    /// Another program may have used keys up to this one, though they were given here.
    private let lastDoubtful = Atomic<Int64>(0)

    private static let firstCount: Int64 = 4096
    private static let largestCount: Int64 = 65_536
    /// The same for one batch that needs more.
    private static let largestBatch: Int64 = 1 << 20

    init(_ store: any PersistentStore, _ scheduling: WorkScheduling) {
        sharing = store.sharing
        queue = sharing.map { _ in scheduling.makeQueue("CoreDataSource.keys", false) }
        // The greatest number is not used as a key, because the store keeps a bound above the greatest key.
        lastKey = Atomic(sharing == nil ? store.firstFreeKey - 1 : 0)
        keyLimit = Atomic(sharing == nil ? Int64.max - 1 : 0)
        nextReservation = Atomic(Int64.max)
        // If this fails, the first insert throws the error.
        if sharing != nil { _ = try? refill() }
    }

    /// A key that no object of the store ever had.
    ///
    /// - Throws: `keysExhausted`; what the store throws, if it is shared.
    func next() throws(DataSourceError) -> Int64 {
        while true {
            if let key = nextReserved() { return key }
            guard sharing != nil, try refill() else { break }
        }
        throw DataSourceError(
            .keysExhausted,
            "The store contains an object with the highest possible key, so a new object cannot get a higher one. Delete that "
                + "object, which another program made, and open the store again.")
    }

    /// Whether another program may have used a key since it was given here.
    func isDoubtful(_ key: Int64) -> Bool { key <= lastDoubtful.load(ordering: .acquiring) }

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

    /// Gives keys above that one from now on, because another program has inserted rows.
    func raise(to firstFree: Int64) {
        lastDoubtful.max(lastKey.load(ordering: .acquiring), ordering: .acquiringAndReleasing)
        // In a shared store, each reservation is above the keys of other programs.
        if sharing != nil { return forget() }
        var last = lastKey.load(ordering: .relaxed)
        while last < firstFree - 1 {
            let result = lastKey.compareExchange(expected: last, desired: firstFree - 1, ordering: .relaxed)
            if result.exchanged { return }
            last = result.original
        }
    }

    // MARK: Reserving

    /// Continues with other keys, once the reserved ones are given.
    ///
    /// - Returns: Whether there are any.
    private func refill() throws(DataSourceError) -> Bool {
        try reserve.withLock { (reserve) throws(DataSourceError) in
            while true {
                // Another thread may have done it meanwhile.
                if lastKey.load(ordering: .acquiring) < keyLimit.load(ordering: .acquiring) { return true }
                let next = if let ahead = reserve.ahead { ahead } else { try reserved(&reserve) }
                reserve.ahead = nil
                if next.keys.isEmpty { return false }
                guard isCurrent(next) else { continue }
                let keys = next.keys
                nextReservation.store(keys.lowerBound + Int64(keys.count / 2), ordering: .relaxed)
                // In this order, so that no thread takes a key that lies between the old keys and the new ones.
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

    /// Gives no more of the reserved keys, because another process may give them too. It does not wait.
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
        let keys = try sharing.reserveKeys(reserve.count)
        reserve.count = min(reserve.count * 2, StoreKeys.largestCount)
        return Reserved(keys: keys, generation: generation)
    }

    /// Begins to reserve keys for a batch that may insert so many objects, so that none have to be reserved while it runs.
    func reserve(for count: Int) {
        let count = min(Int64(count), StoreKeys.largestBatch)
        let reservation = nextReservation.load(ordering: .relaxed)
        if sharing != nil, reservation - lastKey.load(ordering: .acquiring) < count { reserveAhead(for: count) }
    }

    /// - Parameter count: After how many keys from now on the next reservation may begin at the earliest.
    private func reserveAhead(for count: Int64 = 0) {
        // One at a time: if the store cannot be written, each would wait for it as long as the one before.
        guard let queue, !isReserving.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [weak self] in
            self?.reserve.withLock { reserve in
                guard let self else { return }
                defer { self.isReserving.store(false, ordering: .releasing) }
                let rest = self.keyLimit.load(ordering: .acquiring) - self.lastKey.load(ordering: .acquiring)
                if let ahead = reserve.ahead, rest + Int64(ahead.keys.count / 2) >= count { return }
                reserve.count = max(reserve.count, count * 2)
                // If this fails, the next insert that needs keys tries again.
                if let ahead = try? self.reserved(&reserve) { reserve.ahead = ahead }
            }
        }
    }

    /// Returns once all keys are reserved that had to be. For tests.
    package func settle() async {
        guard let queue else { return }
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
