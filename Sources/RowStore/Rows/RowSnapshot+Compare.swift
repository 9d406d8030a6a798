#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension RowSnapshot {
    /// Whether both are copies of one row, neither of which was changed since.
    package func isIdentical(to other: RowSnapshot) -> Bool {
        buffer === other.buffer && start == other.start
    }

    /// Whether both have the same words.
    package func hasSameWords(as other: RowSnapshot) -> Bool {
        if isIdentical(to: other) { return true }
        return withWords { one in
            other.withWords { equal(UnsafeRawBufferPointer(one), UnsafeRawBufferPointer($0)) }
        }
    }

    /// Whether a column holds the same value in both rows.
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
private func sign<Value: Comparable>(_ one: Value, _ other: Value) -> Int {
    one < other ? -1 : one > other ? 1 : 0
}

@usableFromInline
func equal(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
    one.count == other.count && compareBytes(one, other) == 0
}

/// The order of two byte strings, as `memcmp` and then by length.
package func compareBytes(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
    if let left = one.baseAddress, let right = other.baseAddress {
        let order = memcmp(left, right, min(one.count, other.count))
        if order != 0 { return Int(order) }
    }
    return one.count - other.count
}

package func compareBytes(_ one: [UInt8], _ other: [UInt8]) -> Int {
    one.withUnsafeBytes { one in other.withUnsafeBytes { compareBytes(one, $0) } }
}
