package import Foundation

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The values of one row. The container and the store share the buffer with the values, and do not copy it.
///
/// A snapshot is a value: a change of one copy does not affect other copies. A store reads a snapshot with
/// ``EntityLayout/values(of:)``, and makes a snapshot with ``EntityLayout/row(_:)-([RowValue])``.
public struct RowSnapshot: @unchecked Sendable {
    // A buffer that two rows share is never changed.
    //
    // The layout of a row's words:
    // - The first word. Its lower half is the number of columns, and its upper half is the number of words.
    // - One bit for each column, padded to whole words. A set bit means that the column is not null.
    // - One word for each column. For an integer or real, the word has its bits. For a string or blob, the upper half is the
    //   position of the bytes, counted in words, and the lower half is the number of bytes.
    // - The bytes of each string and blob, each padded to whole words.
    @usableFromInline var buffer: RowBuffer
    /// The index of the row's first word in the buffer.
    @usableFromInline var start: UInt32

    /// Makes a row in which all columns are null.
    ///
    /// - Parameters:
    ///   - spareWords: The memory to reserve for the bytes of strings and blobs, in words.
    package init(columnCount: Int, spareWords: Int = 0) {
        let head = RowSnapshot.headWords(columnCount)
        self.init(RowBuffer.make(head + spareWords), start: 0, count: head) { words in
            words.initialize(repeating: 0, count: head)
            words[0] = UInt64(columnCount)
        }
    }

    /// Copies a row into a buffer of its own.
    ///
    /// - Parameter spareWords: The memory to reserve for the bytes of more strings and blobs, in words.
    package init(copying other: RowSnapshot, spareWords: Int) {
        self = other
        makeOwnBuffer(other.wordCount + spareWords)
    }

    /// Makes a row from packed words, for example from another process. The first word is the number of columns.
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

    /// Makes a row from words that are already written.
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

    /// Returns the number of words before the bytes of the first string or blob.
    @inlinable @inline(__always)
    package static func headWords(_ columnCount: Int) -> Int {
        firstSlot(columnCount) + columnCount
    }

    /// Returns the index of the word for column 0.
    @inlinable @inline(__always)
    package static func firstSlot(_ columnCount: Int) -> Int {
        1 + ((columnCount + 63) >> 6)
    }

    @inlinable @inline(__always)
    package var columnCount: Int { Int(self[0] & 0xFFFF_FFFF) }

    /// The number of words in the row.
    @inlinable @inline(__always)
    package var wordCount: Int { Int(self[0] >> 32) }

    @inlinable @inline(__always)
    subscript(_ index: Int) -> UInt64 {
        buffer.withUnsafeMutablePointerToElements { $0[Int(start) + index] }
    }

    /// Passes the words of the row to the body. They are valid only during the call.
    @inlinable @inline(__always)
    package func withWords<R>(_ body: (UnsafeBufferPointer<UInt64>) throws -> R) rethrows -> R {
        try buffer.withUnsafeMutablePointerToElements { words in
            try body(UnsafeBufferPointer(start: words + Int(start), count: wordCount))
        }
    }

    /// The maximum number of bytes in a string or blob.
    package static let longestValue = Int(UInt32.max) - 8
}

// MARK: - Reading

extension RowSnapshot {
    @inlinable @inline(__always)
    package func isNull(_ column: Int) -> Bool {
        self[1 + (column >> 6)] & (1 << UInt64(column & 63)) == 0
    }

    /// Returns whether all of the columns have values.
    package func hasValues(in columns: ColumnSet) -> Bool {
        columns.allWords { word, bits in self[1 + word] & bits == bits }
    }

    @inlinable @inline(__always)
    package func word(_ column: Int) -> UInt64 {
        self[RowSnapshot.firstSlot(columnCount) + column]
    }

    /// Returns the integer in a column; 0 for null.
    @inlinable @inline(__always)
    package func integer(_ column: Int) -> Int64 {
        Int64(bitPattern: word(column))
    }

    /// Returns the real number in a column; 0 for null.
    @inlinable @inline(__always)
    package func real(_ column: Int) -> Double {
        Double(bitPattern: word(column))
    }

    /// Passes the bytes of a string or blob to the body; no bytes for null. They are valid only during the call.
    @inlinable @inline(__always)
    package func withBytes<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        let slot = word(column)
        let start = Int(slot >> 32) * 8
        let count = Int(slot & 0xFFFF_FFFF)
        return try withWords { words in
            // The word of a number is not a valid position, and the bytes of a deferred value are not in the row.
            precondition(
                start + count <= words.count * 8,
                "A deferred value was read from its row, or a value was read with another type than its stored type.")
            return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(words)[start..<start + count]))
        }
    }

    /// Returns the string in a column; an empty string for null. Bytes that are not valid UTF-8 are replaced.
    package func text(_ column: Int) -> String {
        withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the string in a column; nil if its bytes are not valid UTF-8.
    package func validText(_ column: Int) -> String? {
        withBytes(column) { bytes in
            // This initializer is the fastest. It replaces invalid bytes, so the comparison below detects invalid bytes.
            var text = String(decoding: bytes, as: UTF8.self)
            return text.withUTF8 { equal(UnsafeRawBufferPointer($0), bytes) } ? text : nil
        }
    }

    /// Returns the decimal number in a column; nil if the string is not a number.
    package func decimal(_ column: Int) -> Decimal? {
        withBytes(column) { DecimalText($0) != nil } ? Decimal(rowText: text(column)) : nil
    }

    /// Whether the row is in a page of ``RowPages``. If so, it may keep the memory of other rows alive.
    package var sharesMemory: Bool { buffer.header.isPage }

    /// The size of the row's words, in bytes.
    package var byteCount: Int { wordCount * 8 }
}

// MARK: - Writing

extension RowSnapshot {
    /// Moves the row to a buffer of its own, which has memory for the given number of words.
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

    /// Lets the body change the words. First copies the words if another row may use the buffer.
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

    /// Stores a real number. Stores negative zero as zero and NaN as null, like SQLite.
    package mutating func setReal(_ value: Double, _ column: Int) {
        if value.isNaN { return setNull(column) }
        setWord((value == 0 ? 0 : value).bitPattern, column)
    }

    /// Stores the bytes of a string or blob. Overwrites the old bytes if the new bytes fit, otherwise appends the new bytes.
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

    /// Appends words that are zero.
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

/// Deferred values are large blobs that stayed in the store when the row was read. The row has only their sizes.
///
/// Only two kinds of rows have deferred values: rows that a read-only context has fetched (``RowQuery/defersValues``), and rows
/// in the kept history. Rows that are saved, compared, or matched in memory have all their bytes.
extension RowSnapshot {
    /// A value of at most this size, in bytes, is never deferred.
    package static let longestInlineValue = 16 << 10

    /// The position that marks a deferred value. No other value has this position.
    @inlinable
    static var deferredPosition: UInt64 { 0xFFFF_FFFF }

    /// Returns the word for a column with a deferred value.
    package static func deferredWord(byteCount: Int) -> UInt64 {
        // If the value is damaged, its size can be any number, so cut the size to 32 bits.
        deferredPosition << 32 | UInt64(UInt32(truncatingIfNeeded: byteCount))
    }

    /// Returns whether the value of a blob column is deferred.
    @inlinable @inline(__always)
    package func isDeferred(_ column: Int) -> Bool { RowSnapshot.isDeferred(word: word(column)) }

    /// Returns whether the word of a blob column is that of a deferred value.
    @inlinable @inline(__always)
    static func isDeferred(word: UInt64) -> Bool { word >> 32 == deferredPosition }

    /// Returns the size of a column's blob in bytes, even if the blob is deferred; 0 for null.
    package func blobByteCount(_ column: Int) -> Int { Int(word(column) & 0xFFFF_FFFF) }

    package mutating func setDeferred(byteCount: Int, _ column: Int) {
        setWord(RowSnapshot.deferredWord(byteCount: byteCount), column)
    }
}

extension RowSnapshot {
    /// Returns whether both snapshots are unchanged copies of the same row.
    package func isIdentical(to other: RowSnapshot) -> Bool {
        buffer === other.buffer && start == other.start
    }

    /// Returns whether both rows have the same words.
    package func hasSameWords(as other: RowSnapshot) -> Bool {
        if isIdentical(to: other) { return true }
        return withWords { one in
            other.withWords { equal(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) }
        }
    }

    /// Returns whether a column has the same value in both rows.
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

    /// Returns whether a column has exactly these bytes.
    @inlinable @inline(__always)
    package func holds(_ bytes: UnsafeRawBufferPointer, column: Int) -> Bool {
        !isNull(column) && withBytes(column) { equal($0, bytes) }
    }

    /// Compares two rows by one column. Null comes first. Numbers are compared by value, strings and blobs by their bytes.
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

/// Compares two byte strings, first with `memcmp` and then by length.
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
