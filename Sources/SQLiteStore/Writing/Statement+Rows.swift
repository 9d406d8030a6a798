internal import CSQLite
internal import RowStore

// The loops for all saved rows. They bind strings and blobs in place, in the row's own buffer, so bindings are valid only until
// the call returns; the caller clears the statement after the last row.

extension Statement {
    /// Runs a statement whose only parameter is a key.
    @inline(__always)
    func run(key: Int64) -> Int32 {
        sqlite3_bind_int64(handle, 1, key)
        let code = sqlite3_step(handle)
        sqlite3_reset(handle)
        return code
    }

    /// Inserts a row: the key is parameter 1, the stored columns follow.
    @inline(__always)
    func insert(_ key: Int64, _ row: RowSnapshot, _ table: EntityTable) -> Int32 {
        bindAndRun(key, row, table.columns, table)
    }

    /// Updates the columns of a row: the key is parameter 1, the columns follow.
    @inline(__always)
    func update(
        _ key: Int64, _ row: RowSnapshot, _ columns: ContiguousArray<EntityTable.Column>, _ table: EntityTable
    ) -> Int32 {
        bindAndRun(key, row, columns, table)
    }

    /// - Returns: The result of `sqlite3_step`, or the code of a bind that failed.
    private func bindAndRun(
        _ key: Int64, _ row: RowSnapshot, _ columns: ContiguousArray<EntityTable.Column>, _ table: EntityTable
    ) -> Int32 {
        let count = row.columnCount
        precondition(count == table.terms.count, "A row of \(count) columns was saved as \(table.layout.name).")
        let firstSlot = RowSnapshot.firstSlot(count)
        return row.withWords { words in
            var code = sqlite3_bind_int64(handle, 1, key)
            var parameter: Int32 = 2
            for column in columns {
                code |= bind(words, column, slot: firstSlot + column.index, parameter)
                parameter += 1
            }
            if code == SQLITE_OK {
                code = sqlite3_step(handle)
            } else {
                code = sqlite3_errcode(sqlite3_db_handle(handle))
            }
            sqlite3_reset(handle)
            return code
        }
    }

    @inline(__always)
    private func bind(
        _ words: UnsafeBufferPointer<UInt64>, _ column: EntityTable.Column, slot: Int, _ parameter: Int32
    ) -> Int32 {
        guard words[1 + (column.index >> 6)] & (1 << UInt64(column.index & 63)) != 0 else {
            return sqlite3_bind_null(handle, parameter)
        }
        let word = words[slot]
        switch column.storage {
        case .integer:
            return sqlite3_bind_int64(handle, parameter, Int64(bitPattern: word))
        case .real:
            return sqlite3_bind_double(handle, parameter, Double(bitPattern: word))
        case .text, .blob:
            let count = Int32(truncatingIfNeeded: word & 0xFFFF_FFFF)
            guard count > 0 else {
                // An empty value has no address of its own, and SQLite reads a null pointer as null.
                return column.storage == .text
                    ? sqlite3_bind_text(handle, parameter, emptyText, 0, nil)
                    : sqlite3_bind_zeroblob(handle, parameter, 0)
            }
            let start = UnsafeRawPointer(words.baseAddress.unsafelyUnwrapped + Int(word >> 32))
            return column.storage == .text
                ? sqlite3_bind_text(handle, parameter, start.assumingMemoryBound(to: CChar.self), count, nil)
                : sqlite3_bind_blob(handle, parameter, start, count, nil)
        }
    }
}
