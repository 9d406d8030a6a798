package import Foundation

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The values of one row, in one buffer that all tiers share.
///
/// A snapshot is a value: a change of one copy does not affect the other copies. A store reads a snapshot with
/// ``EntityLayout/values(of:)`` and makes one with ``EntityLayout/row(_:)-([RowValue])``.
public struct RowSnapshot: @unchecked Sendable {
    // A buffer that two rows share is never changed.
    // The lower half of the first word is the number of columns, the upper half is the number of words. Then comes one bit for
    // each column (set: not null), padded to whole words; then one word for each column; then the bytes of strings and blobs,
    // each padded to whole words. The word of an integer or real has its bits. The word of a string or blob has the position of
    // its bytes (in words, upper half) and their number (lower half).
    @usableFromInline var buffer: RowBuffer
    /// The index of the row's first word in the buffer.
    @usableFromInline var start: UInt32

    /// A row of nulls.
    ///
    /// - Parameters:
    ///   - spareWords: Memory for the bytes of strings and blobs, in words.
    package init(columnCount: Int, spareWords: Int = 0) {
        let head = RowSnapshot.headWords(columnCount)
        self.init(RowBuffer.make(head + spareWords), start: 0, count: head) { words in
            words.initialize(repeating: 0, count: head)
            words[0] = UInt64(columnCount)
        }
    }

    /// A copy of a row in its own buffer.
    ///
    /// - Parameter spareWords: Memory for the bytes of more strings and blobs, in words.
    package init(copying other: RowSnapshot, spareWords: Int) {
        self = other
        makeOwnBuffer(other.wordCount + spareWords)
    }

    /// A row that another process has packed into words. The first word is the number of columns.
    package init(packed words: UnsafeBufferPointer<UInt64>) {
        self.init(RowBuffer.make(words.count), start: 0, count: words.count) { own in
            if let start = words.baseAddress { own.initialize(from: start, count: words.count) }
        }
    }

    /// - Parameter body: Writes all words.
    @inline(__always)
    init(_ buffer: RowBuffer, start: Int, count: Int, _ body: (UnsafeMutablePointer<UInt64>) -> Void) {
        buffer.withUnsafeMutablePointerToElements { RowSnapshot.write($0 + start, count, body) }
        self.init(buffer, start: start)
    }

    /// A row whose words are already written.
    @inline(__always)
    init(_ buffer: RowBuffer, start: Int) {
        self.buffer = buffer
        self.start = UInt32(truncatingIfNeeded: start)
    }

    /// - Parameter body: Writes all words.
    @inline(__always)
    static func write(
        _ words: UnsafeMutablePointer<UInt64>, _ count: Int, _ body: (UnsafeMutablePointer<UInt64>) -> Void
    ) {
        body(words)
        words[0] = words[0] & 0xFFFF_FFFF | UInt64(count) << 32
    }

    /// The number of words before the bytes of the first string.
    @inlinable @inline(__always)
    package static func headWords(_ columnCount: Int) -> Int {
        firstSlot(columnCount) + columnCount
    }

    /// The index of the word of column 0.
    @inlinable @inline(__always)
    package static func firstSlot(_ columnCount: Int) -> Int {
        1 + ((columnCount + 63) >> 6)
    }

    @inlinable @inline(__always)
    package var columnCount: Int { Int(self[0] & 0xFFFF_FFFF) }

    /// The number of words of the row.
    @inlinable @inline(__always)
    package var wordCount: Int { Int(self[0] >> 32) }

    @inlinable @inline(__always)
    subscript(_ index: Int) -> UInt64 {
        buffer.withUnsafeMutablePointerToElements { $0[Int(start) + index] }
    }

    /// The words of the row. They are valid only during the call.
    @inlinable @inline(__always)
    package func withWords<R>(_ body: (UnsafeBufferPointer<UInt64>) throws -> R) rethrows -> R {
        try buffer.withUnsafeMutablePointerToElements { words in
            try body(UnsafeBufferPointer(start: words + Int(start), count: wordCount))
        }
    }

    /// The largest number of bytes of one string or blob.
    package static let longestValue = Int(UInt32.max) - 8
}

// MARK: - Reading

extension RowSnapshot {
    @inlinable @inline(__always)
    package func isNull(_ column: Int) -> Bool {
        self[1 + (column >> 6)] & (1 << UInt64(column & 63)) == 0
    }

    /// Whether all of the columns have values.
    package func hasValues(in columns: ColumnSet) -> Bool {
        columns.allWords { word, bits in self[1 + word] & bits == bits }
    }

    @inlinable @inline(__always)
    package func word(_ column: Int) -> UInt64 {
        self[RowSnapshot.firstSlot(columnCount) + column]
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

    /// The bytes of a string or blob; empty for null. They are valid only during the call.
    @inlinable @inline(__always)
    package func withBytes<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let slot = word(column)
        let start = Int(slot >> 32) * 8
        let count = Int(slot & 0xFFFF_FFFF)
        return try withWords { words in
            // The word of a number is no valid position of bytes, and a deferred value has no bytes here.
            precondition(
                start + count <= words.count * 8,
                "A deferred value was read from its row, or a value was read with another type than its stored type.")
            return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(words)[start..<start + count]))
        }
    }

    /// The string of a column; empty for null. Bytes that are not UTF-8 are replaced.
    package func text(_ column: Int) -> String {
        withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// The string; nil if its bytes are not UTF-8.
    package func validText(_ column: Int) -> String? {
        withBytes(column) { bytes in
            // This initializer is the fastest. It replaces invalid bytes, so a comparison finds them.
            var text = String(decoding: bytes, as: UTF8.self)
            return text.withUTF8 { equal(UnsafeRawBufferPointer($0), bytes) } ? text : nil
        }
    }

    /// The decimal number; nil if the whole string is not a number.
    package func decimal(_ column: Int) -> Decimal? {
        withBytes(column) { DecimalText($0) != nil } ? Decimal(rowText: text(column)) : nil
    }

    /// Whether the row is in a page, so that it may keep other rows' memory alive.
    package var sharesMemory: Bool { buffer.header.isPage }

    /// The memory of the row's words, in bytes.
    package var byteCount: Int { wordCount * 8 }
}

// MARK: - Writing

extension RowSnapshot {
    /// Moves the row to its own buffer, with memory for the number of words.
    @inline(never) @usableFromInline
    mutating func makeOwnBuffer(_ capacity: Int) {
        let own = RowBuffer.make(capacity)
        withWords { words in
            own.withUnsafeMutablePointerToElements { own in
                if let first = words.baseAddress { own.initialize(from: first, count: words.count) }
            }
        }
        (buffer, start) = (own, 0)
    }

    /// Passes the words to the body, which may change them.
    @inlinable @inline(__always)
    mutating func change(_ body: (UnsafeMutablePointer<UInt64>) -> Void) {
        if buffer.header.isPage || !isKnownUniquelyReferenced(&buffer) { makeOwnBuffer(wordCount) }
        buffer.withUnsafeMutablePointerToElements(body)
    }

    package mutating func setNull(_ column: Int) {
        let slot = RowSnapshot.firstSlot(columnCount) + column
        change { words in
            words[1 + (column >> 6)] &= ~(1 << UInt64(column & 63))
            words[slot] = 0
        }
    }

    @inlinable @inline(__always)
    package mutating func setWord(_ word: UInt64, _ column: Int) {
        let slot = RowSnapshot.firstSlot(columnCount) + column
        change { words in
            words[1 + (column >> 6)] |= 1 << UInt64(column & 63)
            words[slot] = word
        }
    }

    @inlinable @inline(__always)
    package mutating func setInteger(_ value: Int64, _ column: Int) {
        setWord(UInt64(bitPattern: value), column)
    }

    /// Stores negative zero as zero and NaN as null, as SQLite does.
    package mutating func setReal(_ value: Double, _ column: Int) {
        if value.isNaN { return setNull(column) }
        setWord((value == 0 ? 0 : value).bitPattern, column)
    }

    /// Stores the bytes of a string or blob over the old bytes if they fit, otherwise at the end.
    package mutating func setBytes(_ bytes: UnsafeRawBufferPointer, _ column: Int) {
        precondition(
            bytes.count <= RowSnapshot.longestValue,
            "A value of \(bytes.count) bytes was set, but one attribute can hold at most \(RowSnapshot.longestValue) bytes."
        )
        let needed = (bytes.count + 7) / 8
        let old = isNull(column) || isDeferred(column) ? 0 : word(column)
        var start = Int(old >> 32)
        if (Int(old & 0xFFFF_FFFF) + 7) / 8 < needed {
            start = wordCount
            append(needed)
        }
        if let source = bytes.baseAddress, bytes.count > 0 {
            change { UnsafeMutableRawPointer($0 + start).copyMemory(from: source, byteCount: bytes.count) }
        }
        setWord(UInt64(start) << 32 | UInt64(bytes.count), column)
    }

    /// Appends zeroed words.
    private mutating func append(_ added: Int) {
        let (count, wanted) = (wordCount, wordCount + added)
        let isOwn = !buffer.header.isPage && isKnownUniquelyReferenced(&buffer)
        if !isOwn || Int(buffer.header.capacity) < wanted { makeOwnBuffer(max(wanted, count + count / 2)) }
        buffer.withUnsafeMutablePointerToElements { words in
            (words + count).initialize(repeating: 0, count: added)
            words[0] = words[0] & 0xFFFF_FFFF | UInt64(wanted) << 32
        }
    }

    package mutating func setText(_ value: String, _ column: Int) {
        var value = value
        value.withUTF8 { setBytes(UnsafeRawBufferPointer($0), column) }
    }
}

/// Deferred values: large blobs that stayed in the store when the row was read. The row has only their sizes.
///
/// Only rows that a read-only context fetches have deferred values (``RowQuery/defersValues``). Rows that are saved, compared
/// or matched in memory have all their bytes.
extension RowSnapshot {
    /// The largest size of a value that is never deferred, in bytes.
    package static let longestInlineValue = 16 << 10

    /// The position of a deferred value's bytes. No other value has this position.
    @inlinable
    static var deferredPosition: UInt64 { 0xFFFF_FFFF }

    /// The word of a column with a deferred value.
    package static func deferredWord(byteCount: Int) -> UInt64 {
        // The size of a damaged value may be any number.
        deferredPosition << 32 | UInt64(UInt32(truncatingIfNeeded: byteCount))
    }

    /// Whether the value of a blob column is deferred.
    @inlinable @inline(__always)
    package func isDeferred(_ column: Int) -> Bool { word(column) >> 32 == RowSnapshot.deferredPosition }

    /// The size of a column's blob in bytes, deferred or not; 0 for null.
    package func blobByteCount(_ column: Int) -> Int { Int(word(column) & 0xFFFF_FFFF) }

    package mutating func setDeferred(byteCount: Int, _ column: Int) {
        setWord(RowSnapshot.deferredWord(byteCount: byteCount), column)
    }
}

extension RowSnapshot {
    /// Whether both are unchanged copies of one row.
    package func isIdentical(to other: RowSnapshot) -> Bool {
        buffer === other.buffer && start == other.start
    }

    /// Whether both rows have the same words.
    package func hasSameWords(as other: RowSnapshot) -> Bool {
        if isIdentical(to: other) { return true }
        return withWords { one in
            other.withWords { equal(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) }
        }
    }

    /// Whether a column has the same value in both rows.
    package func isEqual(to other: RowSnapshot, column: Int, storage: ColumnStorage) -> Bool {
        let null = isNull(column)
        guard null == other.isNull(column) else { return false }
        if null { return true }
        switch storage {
        case .integer, .real: return word(column) == other.word(column)
        case .text, .blob:
            return withBytes(column) { one in other.withBytes(column) { equal(one, $0) } }
        }
    }

    /// Whether a column has exactly these bytes.
    @inlinable @inline(__always)
    package func holds(_ bytes: UnsafeRawBufferPointer, column: Int) -> Bool {
        !isNull(column) && withBytes(column) { equal($0, bytes) }
    }

    /// The order of two rows by one column: null first, numbers by value, strings and blobs byte by byte.
    ///
    /// - Returns: Negative, 0 or positive.
    package func order(_ other: RowSnapshot, column: Int, storage: ColumnStorage) -> Int {
        switch (isNull(column), other.isNull(column)) {
        case (true, true): return 0
        case (true, false): return -1
        case (false, true): return 1
        case (false, false): break
        }
        switch storage {
        case .integer: return sign(integer(column), other.integer(column))
        case .real: return sign(real(column), other.real(column))
        case .text, .blob:
            return withBytes(column) { one in other.withBytes(column) { compareBytes(one, $0) } }
        }
    }
}

@inline(__always)
private func sign<Value: Comparable>(_ lhs: Value, _ rhs: Value) -> Int {
    lhs < rhs ? -1 : lhs > rhs ? 1 : 0
}

@usableFromInline
func equal(_ lhs: UnsafeRawBufferPointer, _ rhs: UnsafeRawBufferPointer) -> Bool {
    lhs.count == rhs.count && compareBytes(lhs, rhs) == 0
}

/// The order of two byte strings, as `memcmp` and then by length.
package func compareBytes(_ lhs: UnsafeRawBufferPointer, _ rhs: UnsafeRawBufferPointer) -> Int {
    if let left = lhs.baseAddress, let right = rhs.baseAddress {
        let order = memcmp(left, right, min(lhs.count, rhs.count))
        if order != 0 { return Int(order) }
    }
    return lhs.count - rhs.count
}

package func compareBytes(_ lhs: [UInt8], _ rhs: [UInt8]) -> Int {
    lhs.withUnsafeBytes { lhs in rhs.withUnsafeBytes { compareBytes(lhs, $0) } }
}
