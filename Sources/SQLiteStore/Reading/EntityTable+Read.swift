internal import CSQLite
internal import RowStore

/// The memory in which SQLite keeps the bytes of a string or blob. The memory is valid until the next step of the statement.
struct ByteRun {
    var start: UnsafeRawPointer?
    var count = 0
    var isNull = false
    /// Whether the value is deferred: the bytes stay in the store, and only their number was read.
    var isDeferred = false
}

extension EntityTable {
    /// Packs the current row of a statement into a snapshot.
    ///
    /// Reads each column once, as a value that belongs to the statement. This is safe because only one thread at a time uses a
    /// connection ([SQLite: Obtaining SQL Values](https://www.sqlite.org/c3ref/value_blob.html)).
    ///
    /// - Parameters:
    ///   - columns: The columns that the statement returns after the key. All other columns of the row become null.
    ///   - runs: Memory with one element for each column of strings or blobs.
    ///   - pages: The memory that the rows of the fetch share.
    func row(
        of statement: OpaquePointer, columns: ContiguousArray<Column>, runs: UnsafeMutablePointer<ByteRun>,
        in pages: inout RowPages
    ) -> RowSnapshot {
        columns.withUnsafeBufferPointer { row(of: statement, columns: $0, runs: runs, in: &pages) }
    }

    /// Borrows the columns, because retaining and releasing the array takes as long as reading a number.
    @inline(__always)
    private func row(
        of statement: OpaquePointer, columns: UnsafeBufferPointer<Column>, runs: UnsafeMutablePointer<ByteRun>,
        in pages: inout RowPages
    ) -> RowSnapshot {
        let byteWords = byteColumnCount > 0 ? findBytes(statement, columns, runs) : 0
        let count = columnCount
        let head = RowSnapshot.headWords(count)
        return pages.row(head + byteWords) { words in
            let slots = words + RowSnapshot.firstSlot(count)
            words.initialize(repeating: 0, count: head)
            words[0] = UInt64(count)
            var run = runs
            var end = head
            var result: Int32 = 1
            for column in columns {
                let isNull: Bool
                switch column.storage {
                case .integer:
                    let value = sqlite3_column_value(statement, result)
                    let number = sqlite3_value_int64(value)
                    slots[column.index] = UInt64(bitPattern: number)
                    isNull = number == 0 && readsNull(value, column.index, SQLITE_INTEGER)
                case .real:
                    let value = sqlite3_column_value(statement, result)
                    let number = sqlite3_value_double(value)
                    slots[column.index] = number.bitPattern
                    isNull = number == 0 && readsNull(value, column.index, SQLITE_FLOAT)
                case .text, .blob:
                    isNull = run.pointee.isNull
                    slots[column.index] = isNull ? 0 : run.pointee.word(at: end)
                    end += copy(run.pointee, to: words + end)
                    run += 1
                }
                if !isNull { words[1 + (column.index >> 6)] |= 1 << UInt64(column.index & 63) }
                result += 1
            }
        }
    }

    /// Returns whether a column that reads as zero is null. A string or a blob can also read as zero, and is recorded as
    /// damage.
    @inline(never)
    private func readsNull(_ value: OpaquePointer?, _ column: Int, _ wanted: Int32) -> Bool {
        let type = sqlite3_value_type(value)
        if type != SQLITE_NULL && type != wanted { layout.recordDamage(column) }
        return type == SQLITE_NULL
    }

    /// Finds the bytes of all strings and blobs in the row.
    ///
    /// - Returns: The number of 64-bit words that the bytes take in the snapshot.
    @inline(__always)
    private func findBytes(
        _ statement: OpaquePointer, _ columns: UnsafeBufferPointer<Column>, _ runs: UnsafeMutablePointer<ByteRun>
    ) -> Int {
        var run = runs
        var total = 0
        var result: Int32 = 1
        for column in columns {
            if column.isBytes {
                let value = sqlite3_column_value(statement, result)
                if column.mayBeDeferred { run.pointee.isDeferred = sqlite3_value_type(value) == SQLITE_INTEGER }
                if run.pointee.isDeferred {
                    run.pointee = ByteRun(count: Int(sqlite3_value_int64(value)), isDeferred: true)
                } else {
                    // Read the address before the length, because reading the address may convert the value and change its
                    // length.
                    run.pointee.start = sqlite3_value_blob(value)
                    run.pointee.count = Int(sqlite3_value_bytes(value))
                    run.pointee.isNull = run.pointee.count == 0 && sqlite3_value_type(value) == SQLITE_NULL
                    total += (run.pointee.count + 7) >> 3
                }
                run += 1
            }
            result += 1
        }
        return total
    }
}

extension ByteRun {
    /// Returns the word that the snapshot stores for the column.
    ///
    /// - Parameter position: The position of the bytes in the row, in words.
    @inline(__always)
    fileprivate func word(at position: Int) -> UInt64 {
        isDeferred ? RowSnapshot.deferredWord(byteCount: count) : UInt64(position) << 32 | UInt64(count)
    }
}

/// Copies the bytes into the row.
///
/// - Returns: The number of written words. The last word is padded with zeros.
@inline(__always)
private func copy(_ run: ByteRun, to words: UnsafeMutablePointer<UInt64>) -> Int {
    guard let start = run.start, run.count > 0 else { return 0 }
    let count = (run.count + 7) >> 3
    words[count - 1] = 0
    UnsafeMutableRawPointer(words).copyMemory(from: start, byteCount: run.count)
    return count
}
