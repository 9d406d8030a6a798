/// The rows of a list in order, in chunks that several versions of the list share.
///
/// A storage is immutable. An edit makes new chunks for the edited rows, and shares all other chunks. So a retained old version
/// does not make the next edit more expensive.
package struct RowStorage: Sendable {
    final class Chunk: Sendable {
        let rows: ContiguousArray<ListedRow>

        init(_ rows: ContiguousArray<ListedRow>) {
            self.rows = rows
        }
    }

    /// The chunks in order. No chunk is empty.
    let chunks: ContiguousArray<Chunk>
    /// The index of the first row of each chunk, followed by the number of all rows.
    let starts: ContiguousArray<Int>
    let sizes: ChunkSizes

    /// The limits for the number of rows in a chunk.
    package struct ChunkSizes: Sendable {
        /// The largest number of rows in a chunk.
        var full: Int
        /// The largest number of rows in each new chunk, if rows that do not fit into one chunk are split.
        var new: Int
        /// A new chunk with fewer rows is joined to the previous chunk if both fit into one chunk.
        var small: Int

        package static let standard = ChunkSizes(full: 512, new: 256, small: 64)
        /// For tests, which have few rows.
        package static let tiny = ChunkSizes(full: 6, new: 3, small: 2)
    }

    /// - Parameter rows: The rows, in order.
    package init(_ rows: some Sequence<ListedRow>, sizes: ChunkSizes = .standard) {
        var builder = Builder(sizes, chunkCapacity: 0)
        builder.append(ContiguousArray(rows))
        self = builder.storage
    }

    fileprivate init(_ chunks: ContiguousArray<Chunk>, _ sizes: ChunkSizes) {
        self.chunks = chunks
        self.sizes = sizes
        var starts = ContiguousArray<Int>()
        starts.reserveCapacity(chunks.count + 1)
        var start = 0
        for chunk in chunks {
            starts.append(start)
            start += chunk.rows.count
        }
        starts.append(start)
        self.starts = starts
    }

    package var count: Int { starts[chunks.count] }

    package subscript(index: Int) -> ListedRow {
        let chunk = chunk(at: index)
        return chunks[chunk].rows[index - starts[chunk]]
    }

    package var last: ListedRow? { chunks.last?.rows.last }

    package func forEach(_ body: (ListedRow) -> Void) {
        for chunk in chunks { for row in chunk.rows { body(row) } }
    }

    /// Returns the first rows.
    func prefix(_ count: Int) -> RowStorage {
        if count >= self.count { return self }
        if count == 0 { return RowStorage(EmptyCollection(), sizes: sizes) }
        let last = chunk(at: count - 1)
        var kept = ContiguousArray(chunks[..<last])
        kept.append(Chunk(ContiguousArray(chunks[last].rows[..<(count - starts[last])])))
        return RowStorage(kept, sizes)
    }

    /// Returns a storage with more rows at the end.
    func appending(_ rows: [ListedRow]) -> RowStorage {
        var builder = Builder(sizes, chunkCapacity: chunks.count + 1)
        for chunk in chunks { builder.append(chunk) }
        builder.append(ContiguousArray(rows))
        return builder.storage
    }

    /// Returns the number of chunks that this version does not share with another version.
    package func chunksNotShared(with other: RowStorage) -> Int {
        let shared = Set(other.chunks.map { ObjectIdentifier($0) })
        return chunks.count { !shared.contains(ObjectIdentifier($0)) }
    }

    private func chunk(at index: Int) -> Int {
        partitioningIndex(chunks.count) { starts[$0 + 1] <= index }
    }
}

// MARK: - Finding

extension RowStorage {
    /// The index of the first row that does not precede the given row: the row's own index, or the index at which to insert the
    /// row.
    package func lowerBound(_ row: ListedRow, _ order: ListOrder) -> Int {
        let chunk = chunk(endingAtOrAfter: row, order)
        guard chunk < chunks.count else { return count }
        let rows = chunks[chunk].rows
        return starts[chunk] + partitioningIndex(rows.count) { order.precedes(rows[$0], row) }
    }

    /// The index of a row; nil if the storage has no row with the same entity and key at the same position in the order.
    package func index(of row: ListedRow, _ order: ListOrder) -> Int? {
        let chunk = chunk(endingAtOrAfter: row, order)
        guard chunk < chunks.count else { return nil }
        // Compare keys, because the keys of a chunk are close together in memory. Comparing rows would read each row's own
        // memory.
        let rows = chunks[chunk].rows
        let offset = rows.withUnsafeBufferPointer { rows in
            rows.firstIndex { $0.key == row.key && $0.entity == row.entity }
        }
        guard let offset, order.isSamePosition(rows[offset], row) else { return nil }
        return starts[chunk] + offset
    }

    /// The index of the first chunk whose last row does not precede the given row.
    private func chunk(endingAtOrAfter row: ListedRow, _ order: ListOrder) -> Int {
        partitioningIndex(chunks.count) { index in
            let rows = chunks[index].rows
            return order.precedes(rows[rows.count - 1], row)
        }
    }
}

// MARK: - Building

extension RowStorage {
    /// Collects chunks in order.
    struct Builder {
        private var chunks = ContiguousArray<Chunk>()
        private let sizes: ChunkSizes

        init(_ sizes: ChunkSizes, chunkCapacity: Int) {
            self.sizes = sizes
            chunks.reserveCapacity(chunkCapacity)
        }

        var storage: RowStorage { RowStorage(chunks, sizes) }

        mutating func append(_ chunk: Chunk) { chunks.append(chunk) }

        mutating func append(_ rows: ContiguousArray<ListedRow>) {
            if rows.isEmpty { return }
            if rows.count > sizes.full { return split(rows) }
            if rows.count < sizes.small, let last = chunks.last,
                last.rows.count + rows.count <= sizes.full
            {
                chunks[chunks.count - 1] = Chunk(last.rows + rows)
            } else {
                chunks.append(Chunk(rows))
            }
        }

        private mutating func split(_ rows: ContiguousArray<ListedRow>) {
            let pieces = (rows.count + sizes.new - 1) / sizes.new
            for piece in 0..<pieces {
                let range = rows.count * piece / pieces..<rows.count * (piece + 1) / pieces
                chunks.append(Chunk(ContiguousArray(rows[range])))
            }
        }
    }
}

/// Edits to the rows of a list. All indexes refer to the rows before any edit.
struct RowEdits {
    /// The rows to remove, by ascending index.
    var removals: [(index: Int, key: Int64)] = []
    /// The rows to replace, by ascending index.
    var replacements: [(index: Int, row: ListedRow)] = []
    /// The rows to insert, in the order of the list. Each row is inserted before the row at the index.
    var insertions: [(index: Int, row: ListedRow)] = []
}

extension RowStorage {
    /// Returns the rows after the edits. Chunks without edits are shared, so the cost depends on the number of chunks, and on
    /// the number of rows in the edited chunks.
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

    /// Counts the applied edits of each kind.
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

        /// Returns the rows of one chunk after the edits in its range.
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

/// The indexes of changed rows before and after the changes. An index counts all rows that the list has in memory, also the rows
/// beyond its limit.
package struct RowIndexes: Sendable {
    /// The index of each row before the changes, by row key.
    private(set) var old: [Int64: Int] = [:]
    /// The index of each row after the changes, by row key.
    private(set) var new: [Int64: Int] = [:]

    init() {}

    mutating func record(_ key: Int64, old: Int?, new: Int?) {
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
