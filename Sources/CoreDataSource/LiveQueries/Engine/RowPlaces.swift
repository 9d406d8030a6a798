/// Where changed rows were among the rows that are held, and where they are now.
package struct RowPlaces: Sendable {
    /// By row key.
    private(set) var old: [Int64: Int] = [:]
    /// By row key.
    private(set) var new: [Int64: Int] = [:]

    init() {}

    mutating func note(_ key: Int64, old: Int?, new: Int?) {
        self.old[key] = old
        self.new[key] = new
    }

    /// - Parameter edits: The edits, in their order.
    init(_ edits: RowEdits) {
        old.reserveCapacity(edits.removals.count + edits.replacements.count)
        new.reserveCapacity(edits.insertions.count + edits.replacements.count)
        for (index, key) in edits.removals { old[key] = index }
        var removed = 0
        for (inserted, insertion) in edits.insertions.enumerated() {
            while removed < edits.removals.count, edits.removals[removed].index < insertion.index { removed += 1 }
            new[insertion.row.key] = insertion.index - removed + inserted
        }
        removed = 0
        var inserted = 0
        for (index, row) in edits.replacements {
            while removed < edits.removals.count, edits.removals[removed].index < index { removed += 1 }
            while inserted < edits.insertions.count, edits.insertions[inserted].index <= index { inserted += 1 }
            old[row.key] = index
            new[row.key] = index - removed + inserted
        }
    }
}
