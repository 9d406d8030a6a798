#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Searching for bytes in bytes.
enum ByteSearch {
    /// From this length on, the time must not be proportional to the product of both lengths.
    private static let longWanted = 64

    static func contains(_ wanted: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
        guard let first = wanted.first else { return true }
        if wanted.count > longWanted { return containsLong(wanted, in: text) }
        guard let start = text.baseAddress, let other = wanted.baseAddress else { return false }
        var position = 0
        while position + wanted.count <= text.count {
            let room = text.count - wanted.count - position + 1
            guard let hit = memchr(start + position, Int32(first), room) else { return false }
            if memcmp(hit, other, wanted.count) == 0 { return true }
            position = UnsafeRawPointer(hit) - start + 1
        }
        return false
    }

    static func begins(_ text: UnsafeRawBufferPointer, with wanted: UnsafeRawBufferPointer) -> Bool {
        wanted.count <= text.count && compareBytes(UnsafeRawBufferPointer(rebasing: text[..<wanted.count]), wanted) == 0
    }

    static func ends(_ text: UnsafeRawBufferPointer, with wanted: UnsafeRawBufferPointer) -> Bool {
        wanted.count <= text.count
            && compareBytes(UnsafeRawBufferPointer(rebasing: text[(text.count - wanted.count)...]), wanted) == 0
    }

    /// The algorithm of Knuth, Morris and Pratt: no byte of the string is compared again after a mismatch.
    private static func containsLong(_ wanted: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
        if wanted.count > text.count { return false }
        var borders = [0]
        borders.reserveCapacity(wanted.count)
        var length = 0
        for index in 1..<wanted.count {
            while length > 0, wanted[index] != wanted[length] { length = borders[length - 1] }
            if wanted[index] == wanted[length] { length += 1 }
            borders.append(length)
        }
        length = 0
        for byte in text {
            while length > 0, byte != wanted[length] { length = borders[length - 1] }
            if byte == wanted[length] { length += 1 }
            if length == wanted.count { return true }
        }
        return false
    }
}
