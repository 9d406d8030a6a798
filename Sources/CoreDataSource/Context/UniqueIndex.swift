internal import RowStore

/// Where the objects with a unique value may be: hashes of values, and the keys of objects that had them.
///
/// Every entry is a hint. Values change, objects are forgotten and edits are taken back while entries stay, so a look-up checks
/// each candidate's row. What the index promises is the other direction: a registered object's present value is always among
/// the entries.
struct UniqueIndex {
    private struct Entry {
        /// 0 where there is no entry.
        var hash: UInt64 = 0
        var key: Int64 = 0
    }

    private var slots: [Entry] = []
    /// The keys of further entries with a hash that many have, so that they do not fill the places of others.
    private var crowded: [UInt64: [Int64]] = [:]
    private(set) var count = 0
    /// How many entries were looked at to add others. For tests.
    private(set) var looks = 0
    /// The most entries with one hash in the slots.
    private static let crowd = 16

    /// The first registered object for a value that passes the test.
    @inline(__always)
    func first(
        _ hash: UniqueHash, in objects: ObjectTable, where isMatch: (ManagedObject) -> Bool
    ) -> ManagedObject? {
        guard count > 0 else { return nil }
        let hash = hash.nonzero
        var slot = home(hash)
        while slots[slot].hash != 0 {
            if slots[slot].hash == hash, let object = objects[slots[slot].key], isMatch(object) { return object }
            slot = next(slot)
        }
        if crowded.isEmpty { return nil }
        for key in crowded[hash] ?? [] {
            if let object = objects[key], isMatch(object) { return object }
        }
        return nil
    }

    mutating func insert(_ hash: UniqueHash, _ key: Int64) {
        if (count + 1) * 3 > slots.count * 2 { grow() }
        let hash = hash.nonzero
        var slot = home(hash)
        var equal = 0
        while slots[slot].hash != 0 {
            looks += 1
            if slots[slot].hash == hash {
                if slots[slot].key == key { return }
                equal += 1
                if equal == UniqueIndex.crowd {
                    crowded[hash, default: []].append(key)
                    count += 1
                    return
                }
            }
            slot = next(slot)
        }
        slots[slot] = Entry(hash: hash, key: key)
        count += 1
    }

    mutating func removeAll() {
        slots = []
        crowded = [:]
        count = 0
    }

    @inline(__always)
    private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (slots.count - 1) }

    @inline(__always)
    private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Entry(), count: max(16, old.count * 2))
        for entry in old where entry.hash != 0 {
            var slot = home(entry.hash)
            while slots[slot].hash != 0 { slot = next(slot) }
            slots[slot] = entry
        }
    }
}
