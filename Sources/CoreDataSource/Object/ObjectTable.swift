internal import Foundation
internal import RowStore

/// The registered objects of one entity by key, in a hash table with linear probing.
///
/// The table is a bounded cache: an object that is not in the table can be in the store.
///
/// **Isolation**: the same as the context, which empties the table when the context is deinitialized.
final class ObjectTable {
    private struct Slot {
        /// The key of the object. A look-up compares this copy, so that it does not read the memory of other objects.
        var key: Int64 = 0
        var object: ManagedObject?

        /// Whether the slot was never used. A slot whose object was removed is not free, because look-ups must continue past
        /// it.
        var isFree: Bool { key == 0 && object == nil }
    }

    /// The slots, in memory that the table manages. With an array, every look-up would retain and release the array.
    @exclusivity(unchecked) private var slots: UnsafeMutableBufferPointer<Slot>
    /// The number of slots that are not free, including slots whose objects were removed.
    @exclusivity(unchecked) private var used = 0
    @exclusivity(unchecked) private(set) var count = 0

    /// Whether keys are hashed to scattered slots. This is necessary when many keys collide, because the keys of the entity are
    /// not consecutive.
    @exclusivity(unchecked) private var isScattered = false
    /// The number of occupied slots that insertions skipped to find a free slot. For tests.
    @exclusivity(unchecked) private(set) var probeCount = 0
    /// The largest number of slots that an insertion can skip. Beyond this number, keys are scattered.
    private static let maxProbeDistance = 64

    init() { slots = ObjectTable.makeSlots(0) }

    deinit { ObjectTable.free(slots) }

    private static func makeSlots(_ capacity: Int) -> UnsafeMutableBufferPointer<Slot> {
        // A free slot is all zeros. `calloc` returns zeroed memory that need not be written.
        guard capacity > 0 else { return UnsafeMutableBufferPointer(start: nil, count: 0) }
        guard let memory = calloc(capacity, MemoryLayout<Slot>.stride) else {
            // Trap, like every failed allocation in Swift.
            preconditionFailure("There is no memory left for \(capacity) registered objects.")
        }
        return UnsafeMutableBufferPointer(start: memory.bindMemory(to: Slot.self, capacity: capacity), count: capacity)
    }

    private static func free(_ slots: UnsafeMutableBufferPointer<Slot>) {
        slots.deinitialize()
        Foundation.free(slots.baseAddress)
    }

    /// All registered objects.
    var objects: [ManagedObject] {
        var found: [ManagedObject] = []
        found.reserveCapacity(count)
        for slot in slots { if let object = slot.object { found.append(object) } }
        return found
    }

    subscript(key: Int64) -> ManagedObject? {
        guard count > 0 else { return nil }
        var slot = homeSlot(key)
        while !slots[slot].isFree {
            if slots[slot].key == key, let object = slots[slot].object { return object }
            slot = next(slot)
        }
        return nil
    }

    /// Adds an object whose key is not in the table.
    func insert(_ object: ManagedObject) {
        if (used + 1) * 5 > slots.count * 4 { reserve(max(1, count / 2)) }
        let slot = freeSlot(object.key)
        slots[slot] = Slot(key: object.key, object: object)
        count += 1
        used += 1
        if !isScattered, (slot - homeSlot(object.key)) & (slots.count - 1) > ObjectTable.maxProbeDistance {
            isScattered = true
            rehash(to: slots.count)
        }
    }

    func reserve(_ additional: Int) {
        var capacity = max(16, slots.count)
        while (count + additional) * 5 > capacity * 4 { capacity *= 2 }
        if capacity > slots.count || (used + additional) * 5 > capacity * 4 { rehash(to: capacity) }
    }

    func remove(_ key: Int64) {
        guard count > 0 else { return }
        var slot = homeSlot(key)
        while !slots[slot].isFree, slots[slot].key != key || slots[slot].object == nil { slot = next(slot) }
        guard !slots[slot].isFree else { return }
        if count == 1 { return removeAll() }
        count -= 1
        slots[slot] = Slot(key: -1)
    }

    /// Removes all objects. The table is empty before the first object is released.
    func removeAll() {
        let old = slots
        slots = ObjectTable.makeSlots(0)
        (count, used, isScattered) = (0, 0, false)
        ObjectTable.free(old)
    }

    /// Removes the objects that only the table references.
    func removeUnreferenced() {
        var kept: [ManagedObject] = []
        for slot in slots.indices where slots[slot].object != nil {
            if !isKnownUniquelyReferenced(&slots[slot].object), let object = slots[slot].object { kept.append(object) }
        }
        removeAll()
        reserve(kept.count)
        for object in kept { insert(object) }
    }

    @inline(__always)
    private func homeSlot(_ key: Int64) -> Int {
        // Keys of a list are mostly consecutive and are looked up in order, so consecutive keys have consecutive slots. The
        // shifts separate keys whose distance is a power of two.
        let bits = UInt64(bitPattern: key)
        if isScattered { return Int(truncatingIfNeeded: scattered(bits)) & (slots.count - 1) }
        return Int(truncatingIfNeeded: bits ^ bits >> 10 ^ bits >> 20) & (slots.count - 1)
    }

    /// Each table has its own hash. If all tables used the same hash, keys that arrive in the slot order of another table would
    /// fill this table one region at a time, and each insertion would skip all keys of a full region.
    private func scattered(_ bits: UInt64) -> UInt64 {
        let seed = UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()))
        var hash = bits ^ seed &* 0x9E37_79B9_7F4A_7C15
        for _ in 0..<2 { hash = (hash ^ hash >> 32) &* 0xD6E8_FEB8_6659_FD93 }
        return hash ^ hash >> 32
    }

    @inline(__always)
    private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    /// Moves the objects to new slots. Slots whose objects were removed become free.
    private func rehash(to capacity: Int) {
        let old = slots
        slots = ObjectTable.makeSlots(capacity)
        used = count
        // Swap instead of copying, because a copy would change each reference count twice.
        for index in old.indices where old[index].object != nil {
            swap(&slots[freeSlot(old[index].key)], &old[index])
        }
        ObjectTable.free(old)
    }

    /// Returns the slot for a key that is not in the table.
    @inline(__always)
    private func freeSlot(_ key: Int64) -> Int {
        var slot = homeSlot(key)
        while !slots[slot].isFree {
            slot = next(slot)
            probeCount += 1
        }
        return slot
    }
}

/// An object that gets the rows of other objects one after the other, so that their values can be read through it.
final class RowObject: ManagedObject {
    /// The column of the first value that could not be read.
    var damage: Int?

    static func make(_ layout: EntityLayout, _ context: (any ObjectContext)?, storesAnyValue: Bool) -> RowObject {
        make(
            ObjectHome(layout, in: context, .readOnly, storesAnyValue: storesAnyValue), key: 0,
            row: RowSnapshot(columnCount: max(1, layout.columns.count)), .gone, asOf: .beforeFirst)
    }

    override func recordDamage(_ column: Int) { damage = damage ?? column }
}
