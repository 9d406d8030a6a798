internal import RowStore

/// An index from a destination to the rows whose link column refers to the destination.
struct PendingSources: Sendable {
    private let column: Int
    /// A hash table with open addressing. For each destination, a slot has one plus the position of the last row with this
    /// destination. A free slot has 0.
    private var last: ContiguousArray<UInt32> = []
    /// For each position, one plus the previous position with the same destination; 0 if there is no previous position.
    private var previous: ContiguousArray<UInt32> = []

    init(_ column: Int, _ rows: ContiguousArray<RowSnapshot?>) {
        self.column = column
        guard rows.contains(where: { $0?.isNull(column) == false }) else { return }
        var capacity = 16
        while capacity < rows.count * 2 { capacity *= 2 }
        last = ContiguousArray(repeating: 0, count: capacity)
        previous = ContiguousArray(repeating: 0, count: rows.count)
        for (index, row) in rows.enumerated() {
            guard let row, !row.isNull(column) else { continue }
            let slot = slot(row.integer(column), rows)
            previous[index] = last[slot]
            last[slot] = UInt32(index + 1)
        }
    }

    /// Returns the positions of the rows whose link column refers to the destination `end`.
    func indexes(_ end: Int64, _ rows: ContiguousArray<RowSnapshot?>) -> [Int] {
        if last.isEmpty { return [] }
        var indexes: [Int] = []
        var next = last[slot(end, rows)]
        while next != 0 {
            indexes.append(Int(next) - 1)
            next = previous[Int(next) - 1]
        }
        return indexes
    }

    private func slot(_ end: Int64, _ rows: ContiguousArray<RowSnapshot?>) -> Int {
        var hash = UniqueHash()
        hash.combine(UInt64(bitPattern: end))
        var slot = Int(truncatingIfNeeded: hash.value) & (last.count - 1)
        while last[slot] != 0, rows[Int(last[slot]) - 1]?.integer(column) != end {
            slot = (slot + 1) & (last.count - 1)
        }
        return slot
    }
}

/// The destinations that a query looks for in a link column.
struct LinkLookup {
    /// The index of the column in ``EntityLayout/linkColumns``.
    let link: Int
    let ends: [Int64]

    /// Returns nil if the query is not limited to certain destinations of one link column.
    init?(_ query: RowQuery, _ layout: EntityLayout) {
        guard !layout.linkColumns.isEmpty, let (column, values) = query.predicate.wantedValues(layout),
            let link = layout.linkColumns.firstIndex(of: column), !values.contains(.null)
        else { return nil }
        self.link = link
        ends = values.compactMap { if case .integer(let key) = $0 { key } else { nil } }
    }
}

/// A hash of the values of a unique key. Equal values have equal hashes. A value has the same hash whether it comes from a row
/// or from a caller.
struct UniqueHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash with its highest bit set, so that the value 0 is free to mean that there is no hash.
    var nonzero: UInt64 { value | 1 << 63 }

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
