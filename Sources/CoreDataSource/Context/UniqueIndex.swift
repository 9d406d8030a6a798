internal import RowStore

/// The objects that may have a unique value: hashes of values, and objects that had them.
///
/// Every entry is a hint. Values change and edits are taken back while entries stay, so a look-up checks the row of each
/// candidate. The index guarantees only that a registered object's present value is always among the entries.
struct UniqueIndex {
    private struct Entry {
        var hash: UInt64
        var object: ManagedObject?
    }

    private var slots: [Entry] = []
    private(set) var count = 0

    /// The first candidate for a value that passes the test.
    @inline(__always)
    func first(_ hash: UInt64, where isMatch: (ManagedObject) -> Bool) -> ManagedObject? {
        guard count > 0 else { return nil }
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while let object = slots[slot].object {
            if slots[slot].hash == hash, isMatch(object) { return object }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    mutating func insert(_ hash: UInt64, _ object: ManagedObject) {
        if (count + 1) * 3 > slots.count * 2 { grow() }
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while let present = slots[slot].object {
            if slots[slot].hash == hash && present === object { return }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = Entry(hash: hash, object: object)
        count += 1
    }

    mutating func removeAll() {
        slots = []
        count = 0
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Entry(hash: 0, object: nil), count: max(16, old.count * 2))
        for entry in old where entry.object != nil {
            var slot = Int(truncatingIfNeeded: entry.hash) & (slots.count - 1)
            while slots[slot].object != nil { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = entry
        }
    }
}

/// Hashes the values of a unique key. Equal values have equal hashes whether they come from a row or from a caller.
struct UniqueHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ word: UInt64) {
        value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
        value ^= value >> 29
    }

    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            combine(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        combine(rest)
    }

    mutating func combine(_ value: RowValue) {
        switch value {
        case .null: combine(0)
        case .integer(let value): combine(UInt64(bitPattern: value))
        case .real(let value): combine((value == 0 ? 0 : value).bitPattern)
        case .text(var text): text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
        case .blob(let bytes): bytes.withUnsafeBytes { combine($0) }
        }
    }

    mutating func combine(_ row: RowSnapshot, column: Int, storage: ColumnStorage) {
        switch storage {
        case .integer, .real: combine(row.word(column))
        case .text, .blob: row.withBytes(column) { combine($0) }
        }
    }
}
