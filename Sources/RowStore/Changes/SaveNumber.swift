/// The number of a save in the log of its container. The first save has the number 1, and numbers have no gaps.
///
/// Only the numbers of one container can be compared. A position in the feed of a shared store, and the number of a record of
/// the history, are other numbers: they count the commits of all containers.
@usableFromInline
package struct SaveNumber: Hashable, Sendable {
    @usableFromInline package let rawValue: Int64

    @inlinable @inline(__always)
    package init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// The number before the first save. Change sets that are in no log, and objects without a saved row, have this number.
    @inlinable @inline(__always)
    package static var beforeFirst: SaveNumber { SaveNumber(0) }

    /// For rows that were never read: a number lower than the number of any read. A read before the first save has
    /// ``beforeFirst``.
    @inlinable @inline(__always)
    package static var neverRead: SaveNumber { SaveNumber(-1) }

    /// The number of the following save.
    @inlinable @inline(__always)
    package var next: SaveNumber { SaveNumber(rawValue + 1) }

    @inlinable @inline(__always)
    package static func == (lhs: SaveNumber, rhs: SaveNumber) -> Bool { lhs.rawValue == rhs.rawValue }

    @inlinable @inline(__always)
    package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension SaveNumber: Strideable {
    @inlinable @inline(__always)
    package static func < (lhs: SaveNumber, rhs: SaveNumber) -> Bool { lhs.rawValue < rhs.rawValue }

    @inlinable @inline(__always)
    package func distance(to other: SaveNumber) -> Int { Int(other.rawValue - rawValue) }

    @inlinable @inline(__always)
    package func advanced(by count: Int) -> SaveNumber { SaveNumber(rawValue + Int64(count)) }
}
