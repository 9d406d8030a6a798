internal import RowStore

/// An index of the registered objects of one entity by their value in one column. For each value, the first object is the
/// object with the lowest key.
///
/// The first look-up of the column builds the index, and edits update the index. Whenever an object gets a value, an entry is
/// added. An outdated entry is removed when a look-up finds it. The current value of each registered object is always in the
/// index.
final class ValueIndex {
    let column: Int
    let storage: ColumnStorage
    /// The number of entries, including outdated entries.
    private(set) var count = 0
    private var entries: [RowValue: MinHeap<ManagedObject>] = [:]
    /// The edited and deleted objects by their last saved value.
    private var saved: [RowValue: [ManagedObject]] = [:]
    /// For each value that this batch looked up in the store, the key up to which all stored rows with the value are
    /// registered.
    private var registeredThrough: [RowValue: Int64] = [:]

    init(_ column: Int, _ binding: EntityBinding) {
        self.column = column
        storage = binding.layout.columns[column].storage
        for object in binding.objects.objects where !object.isDeleted { insert(object) }
        for object in binding.touched { recordSaved(object) }
    }

    // MARK: Following edits

    /// Adds a new object, or an object with a new value.
    func insert(_ object: ManagedObject) {
        entries[object.row.value(column, storage), default: MinHeap()].insert(object)
        count += 1
    }

    /// Records the saved value of an object that is about to be edited or deleted.
    func recordSaved(_ object: ManagedObject) {
        saved[object.savedRow.value(column, storage), default: []].append(object)
    }

    /// Forgets the edits, and which stored rows are registered, after a batch.
    func endBatch() {
        saved.removeAll()
        registeredThrough.removeAll()
    }

    /// Forgets which stored rows are registered, because other contexts may have changed the store.
    func forgetStore() { registeredThrough.removeAll() }

    // MARK: Looking up

    /// Returns the object with the lowest key among the objects with the value.
    func first(_ value: RowValue) -> ManagedObject? {
        while let object = entries[value]?.first {
            if holds(object, value) { return object }
            entries[value]?.removeFirst()
            count -= 1
        }
        return nil
    }

    /// Returns all objects with the value, in the order of their keys.
    func all(_ value: RowValue) -> [ManagedObject] {
        guard let heap = entries[value] else { return [] }
        var objects: [ManagedObject] = []
        for object in heap.elements.sorted(by: { $0.key < $1.key }) where holds(object, value) {
            if objects.last !== object { objects.append(object) }
        }
        count += objects.count - heap.elements.count
        entries[value] = objects.isEmpty ? nil : MinHeap(sorted: objects)
        return objects
    }

    /// Returns the edited and deleted objects whose last saved value is `value`.
    func savedObjects(with value: RowValue) -> [ManagedObject] { saved[value] ?? [] }

    /// Returns an upper bound for the number of objects with the value.
    func bound(_ value: RowValue) -> Int { entries[value]?.elements.count ?? 0 }

    private func holds(_ object: ManagedObject, _ value: RowValue) -> Bool {
        !object.isDeleted && object.row.holds(value, column: column)
    }

    // MARK: Registered stored rows

    /// The key up to which every stored row with the value is registered.
    subscript(registeredThrough value: RowValue) -> Int64 {
        get { registeredThrough[value] ?? .min }
        set { registeredThrough[value] = newValue }
    }
}

/// An index of unique values: hashes of values, each with the key of an object that has or had the values.
///
/// An entry may be outdated, because it stays when the value changes, the object is forgotten or the edit is discarded. So a
/// look-up checks the row of each candidate. The current value of each registered object is always in the index.
struct UniqueIndex {
    private struct Entry {
        /// 0 for a free slot.
        var hash: UInt64 = 0
        var key: Int64 = 0
    }

    private var slots: [Entry] = []
    /// More keys of a hash with many entries. They are stored here so that they do not fill the slots of other hashes.
    private var overflowKeys: [UInt64: [Int64]] = [:]
    private(set) var count = 0
    /// The number of entries that insertions have visited. For tests.
    private(set) var probeCount = 0
    /// The largest number of entries with the same hash in the slots.
    private static let maxEqualHashes = 16

    /// Returns the first registered object with the hash for which the closure returns true.
    @inline(__always)
    func first(
        _ hash: UniqueHash, in objects: ObjectTable, where isMatch: (ManagedObject) -> Bool
    ) -> ManagedObject? {
        guard count > 0 else { return nil }
        let hash = hash.nonzero
        var slot = homeSlot(hash)
        while slots[slot].hash != 0 {
            if slots[slot].hash == hash, let object = objects[slots[slot].key], isMatch(object) { return object }
            slot = next(slot)
        }
        if overflowKeys.isEmpty { return nil }
        for key in overflowKeys[hash] ?? [] {
            if let object = objects[key], isMatch(object) { return object }
        }
        return nil
    }

    mutating func insert(_ hash: UniqueHash, _ key: Int64) {
        if (count + 1) * 3 > slots.count * 2 { grow() }
        let hash = hash.nonzero
        var slot = homeSlot(hash)
        var equal = 0
        while slots[slot].hash != 0 {
            probeCount += 1
            if slots[slot].hash == hash {
                if slots[slot].key == key { return }
                equal += 1
                if equal == UniqueIndex.maxEqualHashes {
                    overflowKeys[hash, default: []].append(key)
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
        overflowKeys = [:]
        count = 0
    }

    @inline(__always)
    private func homeSlot(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash) & (slots.count - 1) }

    @inline(__always)
    private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Entry(), count: max(16, old.count * 2))
        for entry in old where entry.hash != 0 {
            var slot = homeSlot(entry.hash)
            while slots[slot].hash != 0 { slot = next(slot) }
            slots[slot] = entry
        }
    }
}
