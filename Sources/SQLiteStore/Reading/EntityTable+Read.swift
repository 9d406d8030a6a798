internal import CSQLite
internal import RowStore

/// Where SQLite has the bytes of a string or blob, until the next step.
struct ByteRun {
    var start: UnsafeRawPointer?
    var count = 0
}

extension EntityTable {
    /// Packs the current row of a statement.
    ///
    /// - Parameters:
    ///   - columns: The columns that the statement returns after the key. All others are null.
    ///   - runs: Space for one element for each column of strings or blobs.
    ///   - pages: The memory of the rows of the fetch.
    func row(
        _ statement: OpaquePointer, _ columns: ContiguousArray<Column>, _ runs: UnsafeMutablePointer<ByteRun>,
        _ pages: inout RowPages
    ) -> RowSnapshot {
        columns.withUnsafeBufferPointer { row(statement, $0, runs, &pages) }
    }

    /// Borrows the columns, because retaining and releasing them takes as long as reading a number.
    @inline(__always)
    private func row(
        _ statement: OpaquePointer, _ columns: UnsafeBufferPointer<Column>, _ runs: UnsafeMutablePointer<ByteRun>,
        _ pages: inout RowPages
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
                    let value = sqlite3_column_int64(statement, result)
                    slots[column.index] = UInt64(bitPattern: value)
                    isNull = value == 0 && readsNull(statement, result, column.index, SQLITE_INTEGER)
                case .real:
                    let value = sqlite3_column_double(statement, result)
                    slots[column.index] = value.bitPattern
                    isNull = value == 0 && readsNull(statement, result, column.index, SQLITE_FLOAT)
                case .text, .blob:
                    isNull = run.pointee.count == 0 && sqlite3_column_type(statement, result) == SQLITE_NULL
                    slots[column.index] = isNull ? 0 : UInt64(end) << 32 | UInt64(run.pointee.count)
                    end += copy(run.pointee, to: words + end)
                    run += 1
                }
                if !isNull { words[1 + (column.index >> 6)] |= 1 << UInt64(column.index & 63) }
                result += 1
            }
        }
    }

    /// Whether a column whose number reads as zero is null. Strings and blobs also read as zero, and are damage.
    @inline(never)
    private func readsNull(_ statement: OpaquePointer, _ result: Int32, _ column: Int, _ wanted: Int32) -> Bool {
        let type = sqlite3_column_type(statement, result)
        if type != SQLITE_NULL && type != wanted { layout.noteDamage(column) }
        return type == SQLITE_NULL
    }

    /// - Returns: How many words all bytes of the row take.
    @inline(__always)
    private func findBytes(
        _ statement: OpaquePointer, _ columns: UnsafeBufferPointer<Column>, _ runs: UnsafeMutablePointer<ByteRun>
    ) -> Int {
        var run = runs
        var total = 0
        var result: Int32 = 1
        for column in columns {
            if column.isBytes {
                // The address first, because asking for it may convert the value and so change its length.
                run.pointee.start = sqlite3_column_blob(statement, result)
                run.pointee.count = Int(sqlite3_column_bytes(statement, result))
                total += (run.pointee.count + 7) >> 3
                run += 1
            }
            result += 1
        }
        return total
    }
}

/// - Returns: How many words were written; the last one is filled with zeros.
@inline(__always)
private func copy(_ run: ByteRun, to words: UnsafeMutablePointer<UInt64>) -> Int {
    guard let start = run.start, run.count > 0 else { return 0 }
    let count = (run.count + 7) >> 3
    words[count - 1] = 0
    UnsafeMutableRawPointer(words).copyMemory(from: start, byteCount: run.count)
    return count
}
