package import Foundation

/// The values of one row, packed into one buffer that all tiers share.
///
/// A snapshot is a value: it can be read as long as it is held, and changing a copy does not change the others. A store reads
/// it with ``EntityLayout/values(of:)`` and makes it with ``EntityLayout/row(_:)``.
public struct RowSnapshot: Sendable {
    // The first word is the number of columns. Then comes one bit for each column (set: not null), padded to whole words; then
    // one word for each column; then the bytes of strings and blobs, each padded to whole words. The word of an integer or real
    // is its bits; that of a string or blob is the position of its bytes (in words, upper half) and their number (lower half).
    @usableFromInline package var words: ContiguousArray<UInt64>

    /// A row of nulls.
    ///
    /// - Parameters:
    ///   - spareWords: Space reserved for the bytes of strings and blobs.
    package init(columnCount: Int, spareWords: Int = 0) {
        let head = RowSnapshot.headWords(columnCount)
        words = ContiguousArray(unsafeUninitializedCapacity: head + spareWords) { buffer, count in
            buffer.baseAddress?.initialize(repeating: 0, count: head)
            buffer[0] = UInt64(columnCount)
            count = head
        }
    }

    /// A copy of another row in a buffer of its own.
    ///
    /// - Parameter spareWords: Space reserved for the bytes of more strings and blobs.
    package init(copying other: RowSnapshot, spareWords: Int) {
        words = ContiguousArray(unsafeUninitializedCapacity: other.words.count + spareWords) { buffer, count in
            count = other.words.count
            other.words.withUnsafeBufferPointer { source in
                if let start = source.baseAddress { buffer.baseAddress?.initialize(from: start, count: count) }
            }
        }
    }

    /// A row whose words were packed by a store; the first one is the number of columns.
    @inlinable @inline(__always)
    package init(packed words: ContiguousArray<UInt64>) {
        self.words = words
    }

    /// The words before the first byte of text.
    @inlinable @inline(__always)
    package static func headWords(_ columnCount: Int) -> Int {
        firstSlot(columnCount) + columnCount
    }

    /// The position of the word of column 0.
    @inlinable @inline(__always)
    package static func firstSlot(_ columnCount: Int) -> Int {
        1 + ((columnCount + 63) >> 6)
    }

    @inlinable @inline(__always)
    package var columnCount: Int { Int(words[0]) }

    /// The most bytes that one string or blob may have.
    package static let longestValue = Int(UInt32.max) - 8
}

// MARK: - Reading

extension RowSnapshot {
    @inlinable @inline(__always)
    package func isNull(_ column: Int) -> Bool {
        words[1 + (column >> 6)] & (1 << UInt64(column & 63)) == 0
    }

    /// Whether none of the columns is null.
    package func hasValues(in columns: ColumnSet) -> Bool {
        columns.allWords { word, bits in words[1 + word] & bits == bits }
    }

    @inlinable @inline(__always)
    package func word(_ column: Int) -> UInt64 {
        words[RowSnapshot.firstSlot(columnCount) + column]
    }

    /// The integer of a column; 0 for null.
    @inlinable @inline(__always)
    package func integer(_ column: Int) -> Int64 {
        Int64(bitPattern: word(column))
    }

    /// The real of a column; 0 for null.
    @inlinable @inline(__always)
    package func real(_ column: Int) -> Double {
        Double(bitPattern: word(column))
    }

    /// The bytes of a string or blob; none for null. They are valid only during the call.
    @inlinable @inline(__always)
    package func withBytes<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let slot = word(column)
        let start = Int(slot >> 32) * 8
        let count = Int(slot & 0xFFFF_FFFF)
        return try words.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
    }

    /// The string of a column; empty for null. Bytes that are not UTF-8 are repaired.
    package func text(_ column: Int) -> String {
        withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// The string; nil if its bytes are not UTF-8.
    package func validText(_ column: Int) -> String? {
        withBytes(column) { bytes in
            // This initializer is the fast one. It repairs bytes that are wrong, which then are others.
            var text = String(decoding: bytes, as: UTF8.self)
            return text.withUTF8 { equal(UnsafeRawBufferPointer($0), bytes) } ? text : nil
        }
    }

    /// The decimal number; nil if the whole string is not one.
    package func decimal(_ column: Int) -> Decimal? {
        withBytes(column) { DecimalText($0) != nil } ? Decimal(rowText: text(column)) : nil
    }

    /// The bytes that the row takes in memory.
    package var byteCount: Int { words.count * 8 }
}

// MARK: - Writing

extension RowSnapshot {
    package mutating func setNull(_ column: Int) {
        words[1 + (column >> 6)] &= ~(1 << UInt64(column & 63))
        words[RowSnapshot.firstSlot(columnCount) + column] = 0
    }

    @inlinable @inline(__always)
    package mutating func setWord(_ word: UInt64, _ column: Int) {
        words[1 + (column >> 6)] |= 1 << UInt64(column & 63)
        words[RowSnapshot.firstSlot(columnCount) + column] = word
    }

    @inlinable @inline(__always)
    package mutating func setInteger(_ value: Int64, _ column: Int) {
        setWord(UInt64(bitPattern: value), column)
    }

    /// Negative zero is stored as zero and NaN as null, as in SQLite.
    package mutating func setReal(_ value: Double, _ column: Int) {
        if value.isNaN { return setNull(column) }
        setWord((value == 0 ? 0 : value).bitPattern, column)
    }

    /// Stores the bytes of a string or blob: over the old ones if they fit, otherwise at the end.
    package mutating func setBytes(_ bytes: UnsafeRawBufferPointer, _ column: Int) {
        precondition(
            bytes.count <= RowSnapshot.longestValue,
            "A value of \(bytes.count) bytes was set, but one attribute can hold at most \(RowSnapshot.longestValue).")
        let needed = (bytes.count + 7) / 8
        let old = isNull(column) ? 0 : word(column)
        var start = Int(old >> 32)
        if (Int(old & 0xFFFF_FFFF) + 7) / 8 < needed {
            start = words.count
            words.append(contentsOf: repeatElement(0, count: needed))
        }
        if let source = bytes.baseAddress, bytes.count > 0 {
            words.withUnsafeMutableBytes { target in
                UnsafeMutableRawBufferPointer(rebasing: target[start * 8..<start * 8 + bytes.count])
                    .copyMemory(from: UnsafeRawBufferPointer(start: source, count: bytes.count))
            }
        }
        setWord(UInt64(start) << 32 | UInt64(bytes.count), column)
    }

    package mutating func setText(_ value: String, _ column: Int) {
        var value = value
        value.withUTF8 { setBytes(UnsafeRawBufferPointer($0), column) }
    }
}
