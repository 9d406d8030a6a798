internal import Foundation
internal import RowStore

/// The registered objects of one entity, by key: open addressing with linear probing.
///
/// It is a bounded cache. What it contains is correct; what it lacks may be in the store.
///
/// **Isolation**: that of the context, which empties it when it goes.
final class ObjectTable {
    private struct Slot {
        /// The object's key, so that looking for another object does not touch this object's memory.
        var key: Int64 = 0
        var object: ManagedObject?

        /// Whether the slot was never used. A look-up continues past a slot from which an object was removed.
        var isFree: Bool { key == 0 && object == nil }
    }

    /// Memory of the table's own: an array would be retained and released by every look-up.
    @exclusivity(unchecked) private var slots: UnsafeMutableBufferPointer<Slot>
    /// How many slots are not free, including those from which an object was removed.
    @exclusivity(unchecked) private var used = 0
    @exclusivity(unchecked) private(set) var count = 0

    /// Whether keys are scattered over the slots, because those of other entities between them had made them pile up.
    @exclusivity(unchecked) private var isScattered = false
    /// How many slots that were not free were passed to find free ones. For tests.
    @exclusivity(unchecked) private(set) var steps = 0
    /// The longest way to a free slot after which keys are scattered.
    private static let longestWay = 64

    init() { slots = ObjectTable.makeSlots(0) }

    deinit { ObjectTable.free(slots) }

    private static func makeSlots(_ capacity: Int) -> UnsafeMutableBufferPointer<Slot> {
        // A free slot is all zeros, which memory from the system is without being written.
        guard capacity > 0 else { return UnsafeMutableBufferPointer(start: nil, count: 0) }
        guard let memory = calloc(capacity, MemoryLayout<Slot>.stride) else {
            // As every allocation of Swift does.
            preconditionFailure("There is no memory left for \(capacity) registered objects.")
        }
        return UnsafeMutableBufferPointer(start: memory.bindMemory(to: Slot.self, capacity: capacity), count: capacity)
    }

    private static func free(_ slots: UnsafeMutableBufferPointer<Slot>) {
        slots.deinitialize()
        Foundation.free(slots.baseAddress)
    }

    /// The objects that are registered now.
    var objects: [ManagedObject] {
        var found: [ManagedObject] = []
        found.reserveCapacity(count)
        for slot in slots { if let object = slot.object { found.append(object) } }
        return found
    }

    subscript(key: Int64) -> ManagedObject? {
        guard count > 0 else { return nil }
        var slot = home(key)
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
        if !isScattered, (slot - home(object.key)) & (slots.count - 1) > ObjectTable.longestWay {
            isScattered = true
            rehash(to: slots.count)
        }
    }

    /// Makes room for that many more objects.
    func reserve(_ additional: Int) {
        var capacity = max(16, slots.count)
        while (count + additional) * 5 > capacity * 4 { capacity *= 2 }
        if capacity > slots.count || (used + additional) * 5 > capacity * 4 { rehash(to: capacity) }
    }

    func remove(_ key: Int64) {
        guard count > 0 else { return }
        var slot = home(key)
        while !slots[slot].isFree, slots[slot].key != key || slots[slot].object == nil { slot = next(slot) }
        guard !slots[slot].isFree else { return }
        if count == 1 { return removeAll() }
        count -= 1
        slots[slot] = Slot(key: -1)
    }

    /// Forgets all objects. The table no longer refers to any of them when the first one goes.
    func removeAll() {
        let old = slots
        slots = ObjectTable.makeSlots(0)
        (count, used, isScattered) = (0, 0, false)
        ObjectTable.free(old)
    }

    /// Forgets the objects that are not held elsewhere.
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
    private func home(_ key: Int64) -> Int {
        // Keys of a list are mostly consecutive and are looked up in order, so their slots are consecutive too. The shifts
        // separate keys whose distance is a power of two.
        let bits = UInt64(bitPattern: key)
        if isScattered { return Int(truncatingIfNeeded: (bits &* 0x9E37_79B9_7F4A_7C15) >> 32) & (slots.count - 1) }
        return Int(truncatingIfNeeded: bits ^ bits >> 10 ^ bits >> 20) & (slots.count - 1)
    }

    @inline(__always)
    private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    /// Lets go of slots from which objects were removed.
    private func rehash(to capacity: Int) {
        let old = slots
        slots = ObjectTable.makeSlots(capacity)
        used = count
        // Moved, not copied: an object's count of references would change twice.
        for index in old.indices where old[index].object != nil {
            swap(&slots[freeSlot(old[index].key)], &old[index])
        }
        ObjectTable.free(old)
    }

    /// The slot for an object that is not in the table.
    @inline(__always)
    private func freeSlot(_ key: Int64) -> Int {
        var slot = home(key)
        while !slots[slot].isFree {
            slot = next(slot)
            steps += 1
        }
        return slot
    }
}

/// Stands for rows whose values are read.
final class RowObject: ManagedObject {
    /// The column of the first value that could not be read.
    var damage: Int?

    static func make(_ layout: EntityLayout, _ context: (any ObjectContext)?, holdsAnyValue: Bool) -> RowObject {
        make(
            ObjectHome(layout, in: context, .not, holdsAnyValue: holdsAnyValue), key: 0,
            row: RowSnapshot(columnCount: max(1, layout.columns.count)), .gone, asOf: 0)
    }

    override func noteDamage(_ column: Int) { damage = damage ?? column }
}
