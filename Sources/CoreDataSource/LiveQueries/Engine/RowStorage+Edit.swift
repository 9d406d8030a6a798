/// The edits to the rows of a list; all positions are those before any edit.
struct RowEdits {
    /// By index, ascending, with the rows' keys.
    var removals: [(index: Int, key: Int64)] = []
    /// By index, ascending.
    var replacements: [(index: Int, row: ListedRow)] = []
    /// Each is inserted before the row with that index; in the order of the list.
    var insertions: [(index: Int, row: ListedRow)] = []
}

extension RowStorage {
    /// The rows after the edits. Chunks without edits are shared, so the cost depends on the number of chunks, and on the rows
    /// in those that change.
    func edited(_ edits: RowEdits) -> RowStorage {
        var builder = Builder(sizes, chunkCapacity: chunks.count + 1)
        var cursor = Cursor(edits)
        for index in chunks.indices {
            let isLast = index == chunks.count - 1
            let range = starts[index]..<starts[index + 1]
            if cursor.hasEdits(before: range.upperBound, isLast: isLast) {
                builder.append(cursor.edit(chunks[index].rows, range, isLast: isLast))
            } else {
                builder.append(chunks[index])
            }
        }
        if chunks.isEmpty { builder.append(cursor.edit([], 0..<0, isLast: true)) }
        return builder.storage
    }

    /// How far the edits have been applied.
    private struct Cursor {
        let edits: RowEdits
        var removal = 0
        var replacement = 0
        var insertion = 0

        init(_ edits: RowEdits) {
            self.edits = edits
        }

        private var nextRemoval: Int {
            removal < edits.removals.count ? edits.removals[removal].index : .max
        }
        private var nextReplacement: Int {
            replacement < edits.replacements.count ? edits.replacements[replacement].index : .max
        }
        private var nextInsertion: Int {
            insertion < edits.insertions.count ? edits.insertions[insertion].index : .max
        }

        func hasEdits(before end: Int, isLast: Bool) -> Bool {
            nextRemoval < end || nextReplacement < end || nextInsertion < end || isLast && nextInsertion < .max
        }

        /// The rows of one chunk after the edits in its range.
        mutating func edit(
            _ rows: ContiguousArray<ListedRow>, _ range: Range<Int>, isLast: Bool
        ) -> ContiguousArray<ListedRow> {
            var edited = ContiguousArray<ListedRow>()
            edited.reserveCapacity(rows.count + 8)
            var index = range.lowerBound
            while index < range.upperBound {
                while nextInsertion == index { takeInsertion(&edited) }
                let next = min(nextRemoval, nextReplacement, nextInsertion, range.upperBound)
                if next > index {
                    edited.append(contentsOf: rows[(index - range.lowerBound)..<(next - range.lowerBound)])
                    index = next
                    continue
                }
                if nextRemoval == index {
                    removal += 1
                } else {
                    edited.append(edits.replacements[replacement].row)
                    replacement += 1
                }
                index += 1
            }
            while isLast && nextInsertion < .max { takeInsertion(&edited) }
            return edited
        }

        private mutating func takeInsertion(_ rows: inout ContiguousArray<ListedRow>) {
            rows.append(edits.insertions[insertion].row)
            insertion += 1
        }
    }
}
