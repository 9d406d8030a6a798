internal import RowStore

/// Hashes the values of a unique key. Equal values have equal hashes whether they come from a row or from a caller.
struct UniqueHash {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The same with a bit that says that there is one.
    var nonzero: UInt64 { value | 1 << 63 }

    mutating func combine(_ word: UInt64) {
        value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
        value ^= value >> 29
    }

    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        combine(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            combine(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        combine(rest)
    }

    mutating func combine(_ value: RowValue) {
        switch value {
        case .null: combine(0)
        case .integer(let value): combine(UInt64(bitPattern: value))
        case .real(let value): combine((value == 0 ? 0 : value).bitPattern)
        case .text(var text): text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
        case .blob(let bytes): bytes.withUnsafeBytes { combine($0) }
        }
    }

    mutating func combine(_ row: RowSnapshot, column: Int, storage: ColumnStorage) {
        switch storage {
        case .integer, .real: combine(row.word(column))
        case .text, .blob: row.withBytes(column) { combine($0) }
        }
    }
}
