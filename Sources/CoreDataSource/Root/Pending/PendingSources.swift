internal import RowStore

/// The rows that lead to a row by one column, found without looking at the others.
struct PendingSources: Sendable {
    private let column: Int
    /// For each destination the last position plus one, in a table with open addressing; 0 is a free slot.
    private var last: ContiguousArray<UInt32> = []
    /// For each position the previous one plus one that leads to the same row; 0 for none.
    private var previous: ContiguousArray<UInt32> = []

    init(_ column: Int, _ rows: ContiguousArray<RowSnapshot?>) {
        self.column = column
        guard rows.contains(where: { $0?.isNull(column) == false }) else { return }
        var capacity = 16
        while capacity < rows.count * 2 { capacity *= 2 }
        last = ContiguousArray(repeating: 0, count: capacity)
        previous = ContiguousArray(repeating: 0, count: rows.count)
        for (place, row) in rows.enumerated() {
            guard let row, !row.isNull(column) else { continue }
            let slot = slot(row.integer(column), rows)
            previous[place] = last[slot]
            last[slot] = UInt32(place + 1)
        }
    }

    /// The positions of the rows that lead to that one.
    func places(_ end: Int64, _ rows: ContiguousArray<RowSnapshot?>) -> [Int] {
        if last.isEmpty { return [] }
        var places: [Int] = []
        var next = last[slot(end, rows)]
        while next != 0 {
            places.append(Int(next) - 1)
            next = previous[Int(next) - 1]
        }
        return places
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

/// The rows that a query finds by where they lead to.
struct LinkLookup {
    /// The position in ``EntityLayout/linkColumns``.
    let link: Int
    let ends: [Int64]

    /// Nil for a query that also finds other rows.
    init?(_ query: RowQuery, _ layout: EntityLayout) {
        guard !layout.linkColumns.isEmpty, let (column, values) = query.predicate.wantedValues(layout),
            let link = layout.linkColumns.firstIndex(of: column), !values.contains(.null)
        else { return nil }
        self.link = link
        ends = values.compactMap { if case .integer(let key) = $0 { key } else { nil } }
    }
}
