/// Memory for the words of one row, or of several rows that were read together.
///
/// Only the row that has a buffer to itself, and is not copied, is changed in it; so a buffer that several refer to never changes.
@usableFromInline
final class RowBuffer: ManagedBuffer<RowBuffer.Header, UInt64> {
    @usableFromInline
    struct Header {
        /// How many words there is space for.
        @usableFromInline let capacity: UInt32
        /// Whether several rows may have their words in it.
        @usableFromInline let isPage: Bool
    }

    /// A buffer whose words have no values yet.
    static func make(_ capacity: Int, isPage: Bool = false) -> RowBuffer {
        let buffer = RowBuffer.create(minimumCapacity: capacity) { _ in
            Header(capacity: UInt32(capacity), isPage: isPage)
        }
        return unsafeDowncast(buffer, to: RowBuffer.self)
    }
}

/// Memory for the rows of one fetch: many share one allocation.
///
/// A row that is held keeps what shares its page, 2 KB at most. An edit gives it memory of its own.
package struct RowPages: ~Copyable {
    private var page: RowBuffer?
    /// The page and its words again: a row then counts as one more reference to it, and nothing else does.
    private var unmanagedPage: (buffer: Unmanaged<RowBuffer>, words: UnsafeMutablePointer<UInt64>)?
    private var capacity = 0
    private var used = 0
    /// The words of the next page. The first row has its memory to itself, since most look-ups find only one.
    private var nextCapacity = 0

    private static let largestPage = 256

    private let isShared: Bool

    /// - Parameter isShared: Whether rows share memory. If most rows are read only to be refused, each of the few that are kept
    ///   would keep the memory of others.
    package init(isShared: Bool = true) { self.isShared = isShared }

    /// A row.
    ///
    /// - Parameters:
    ///   - count: How many words it takes.
    ///   - body: Writes all of them. The first word is the number of columns.
    @inline(__always)
    package mutating func row(_ count: Int, _ body: (UnsafeMutablePointer<UInt64>) -> Void) -> RowSnapshot {
        if used + count <= capacity, let unmanagedPage {
            defer { used += count }
            RowSnapshot.write(unmanagedPage.words + used, count, body)
            return RowSnapshot(unmanagedPage.buffer.takeUnretainedValue(), start: used)
        }
        return rowElsewhere(count, body)
    }

    private mutating func rowElsewhere(
        _ count: Int, _ body: (UnsafeMutablePointer<UInt64>) -> Void
    ) -> RowSnapshot {
        let wanted = nextCapacity
        nextCapacity = min(RowPages.largestPage, max(64, nextCapacity * 2))
        if !isShared || count * 2 > wanted { return RowSnapshot(RowBuffer.make(count), start: 0, count: count, body) }
        let page = RowBuffer.make(wanted, isPage: true)
        self.page = page
        unmanagedPage = (.passUnretained(page), page.withUnsafeMutablePointerToElements { $0 })
        (capacity, used) = (wanted, count)
        return RowSnapshot(page, start: 0, count: count, body)
    }
}
