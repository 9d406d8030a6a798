internal import RowStore
internal import Synchronization

/// Gives the keys of new objects.
///
/// In a store that others write too, keys are reserved in the store: first when it is opened, and later when half of them are
/// given, on a queue. So whoever inserts, main in a draft among them, finds some, and waits for the store only if it uses
/// them up faster than the store gives more.
package final class StoreKeys: Sendable {
    private let sharing: (any StoreSharing)?
    private let queue: (any WorkQueue)?
    private let lastKey: Atomic<Int64>
    /// The greatest key that may be given. Others may give the keys behind it.
    private let keyLimit: Atomic<Int64>
    /// The key from which on more are reserved.
    private let nextReservation: Atomic<Int64>
    private let reserve = Guarded(Reserve())

    private struct Reserve {
        /// How many keys are reserved next.
        var count = StoreKeys.firstCount
        /// Keys to go on with once the others are given.
        var ahead: Reserved?
    }

    private struct Reserved {
        let keys: Range<Int64>
        /// How often keys had been forgotten when these were asked for.
        let generation: Int
    }

    /// How often the reserved keys were forgotten.
    private let generation = Atomic(0)

    private static let firstCount: Int64 = 4096
    private static let largestCount: Int64 = 65_536

    init(_ store: any PersistentStore, _ scheduling: WorkScheduling) {
        sharing = store.sharing
        queue = sharing.map { _ in scheduling.makeQueue("CoreDataSource.keys", false) }
        // The greatest number is no key, for the store keeps one above the greatest key.
        lastKey = Atomic(sharing == nil ? store.firstFreeKey - 1 : 0)
        keyLimit = Atomic(sharing == nil ? Int64.max - 1 : 0)
        nextReservation = Atomic(Int64.max)
        // Where it fails, the first insert says why.
        if sharing != nil { _ = try? refill() }
    }

    /// A key that no object of the store ever had.
    ///
    /// - Throws: `keysExhausted`; what the store throws, if others give keys too.
    func next() throws(DataSourceError) -> Int64 {
        while true {
            if let key = nextReserved() { return key }
            guard sharing != nil, try refill() else { break }
        }
        throw DataSourceError(
            .keysExhausted,
            "The store has an object with the highest key there is, so a new one cannot get a higher key. Delete that "
                + "object, which another program made, and open the store again.")
    }

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

    /// Keys are given above that one from now on, for another program has inserted rows.
    func raise(to firstFree: Int64) {
        // In a shared store they are above those of other programs whenever keys are reserved.
        if sharing != nil { return forget() }
        var last = lastKey.load(ordering: .relaxed)
        while last < firstFree - 1 {
            let result = lastKey.compareExchange(expected: last, desired: firstFree - 1, ordering: .relaxed)
            if result.exchanged { return }
            last = result.original
        }
    }

    // MARK: Reserving

    /// Goes on with other keys, once those that were reserved are given.
    ///
    /// - Returns: Whether there are any.
    private func refill() throws(DataSourceError) -> Bool {
        try reserve.withLock { (reserve) throws(DataSourceError) in
            while true {
                // Somebody else may have done it meanwhile.
                if lastKey.load(ordering: .acquiring) < keyLimit.load(ordering: .acquiring) { return true }
                let next = if let ahead = reserve.ahead { ahead } else { try reserved(&reserve) }
                reserve.ahead = nil
                if next.keys.isEmpty { return false }
                guard isCurrent(next) else { continue }
                let keys = next.keys
                nextReservation.store(keys.lowerBound + Int64(keys.count / 2), ordering: .relaxed)
                // In this order: nobody takes a key that lies between the old keys and the new ones.
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

    /// Gives no more of the keys that are reserved, for somebody else may give them too. It waits for nobody.
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

    private func reserveAhead() {
        queue?.async { [weak self] in
            self?.reserve.withLock { reserve in
                guard let self, reserve.ahead == nil else { return }
                // Where it fails, whoever needs the keys tries again.
                reserve.ahead = try? self.reserved(&reserve)
            }
        }
    }

    /// Returns once all keys are reserved that had to be. For tests.
    package func settle() async {
        guard let queue else { return }
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
