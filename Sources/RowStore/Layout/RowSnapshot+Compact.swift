/// Values that grow are written at the end of the buffer, and the space of the old ones stays unused.
extension RowSnapshot {
    /// Removes unused space, if there is more of it than used space.
    package mutating func compact(_ layout: EntityLayout) {
        guard wordCount > RowSnapshot.headWords(columnCount) + 64 else { return }
        let live = liveByteCount(layout) / 8
        guard wordCount > live * 2 else { return }
        var compact = RowSnapshot(columnCount: columnCount, spareWords: live - RowSnapshot.headWords(columnCount))
        for (column, columnLayout) in layout.columns.enumerated() where !isNull(column) {
            switch columnLayout.storage {
            case .integer, .real: compact.setWord(word(column), column)
            case .text, .blob: withBytes(column) { compact.setBytes($0, column) }
            }
        }
        self = compact
    }

    /// The bytes that the row would take without unused space.
    package func liveByteCount(_ layout: EntityLayout) -> Int {
        var words = RowSnapshot.headWords(columnCount)
        for (column, columnLayout) in layout.columns.enumerated() where !isNull(column) {
            switch columnLayout.storage {
            case .integer, .real: break
            case .text, .blob: words += withBytes(column) { ($0.count + 7) / 8 }
            }
        }
        return words * 8
    }
}
