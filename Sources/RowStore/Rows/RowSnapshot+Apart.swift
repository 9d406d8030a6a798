/// Values that lie apart: large blobs that stayed in the store when the row was read. The row has only their sizes.
///
/// Only rows that a read-only context fetches have such values (``RowQuery/leavesValuesApart``). A row that is saved, compared or
/// tested here has all its bytes.
extension RowSnapshot {
    /// The most bytes of a value that always comes with its row.
    package static let longestInlineValue = 16 << 10

    /// The position of a value that lies apart. No value of a row is there.
    @inlinable
    static var apart: UInt64 { 0xFFFF_FFFF }

    /// The word of a column whose value lies apart.
    package static func apartWord(byteCount: Int) -> UInt64 {
        // The size of a damaged value may be any number.
        apart << 32 | UInt64(UInt32(truncatingIfNeeded: byteCount))
    }

    /// Whether the value of a column of blobs lies apart.
    @inlinable @inline(__always)
    package func liesApart(_ column: Int) -> Bool { word(column) >> 32 == RowSnapshot.apart }

    /// How many bytes the blob of a column has, wherever it lies; 0 for null.
    package func blobByteCount(_ column: Int) -> Int { Int(word(column) & 0xFFFF_FFFF) }

    package mutating func setApart(byteCount: Int, _ column: Int) {
        setWord(RowSnapshot.apartWord(byteCount: byteCount), column)
    }
}
