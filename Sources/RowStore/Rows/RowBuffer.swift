/// Memory for the words of a single row, or of several rows that were read together.
///
/// A row changes its buffer only if no other row uses the buffer. A shared buffer is therefore never changed.
@usableFromInline
final class RowBuffer: ManagedBuffer<RowBuffer.Header, UInt64> {
    @usableFromInline
    struct Header {
        /// The number of words for which the buffer has memory.
        @usableFromInline let capacity: UInt32
        /// Whether the buffer is a page, which can contain the words of several rows.
        @usableFromInline let isPage: Bool
    }

    /// Makes a buffer whose words are not initialized.
    static func make(_ capacity: Int, isPage: Bool = false) -> RowBuffer {
        let buffer = RowBuffer.create(minimumCapacity: capacity) { _ in
            Header(capacity: UInt32(capacity), isPage: isPage)
        }
        return unsafeDowncast(buffer, to: RowBuffer.self)
    }
}

/// Memory for the rows of one fetch. Many rows share one allocation, which is called a page.
///
/// Each row keeps its whole page in memory, which is at most 2 KB. A row that is edited gets a buffer of its own.
package struct RowPages: ~Copyable {
    private var page: RowBuffer?
    /// The page and its words, unmanaged, so that only `page` and the rows count as references.
    private var unmanagedPage: (buffer: Unmanaged<RowBuffer>, words: UnsafeMutablePointer<UInt64>)?
    private var capacity = 0
    private var used = 0
    /// The size of the next page, in words. It begins with 0, so the first row gets a buffer of its own: most look-ups find only
    /// one row.
    private var nextCapacity = 0

    private static let largestPage = 256

    private let isShared: Bool

    /// - Parameter isShared: Whether rows share pages. Pass false if only few of the rows stay in memory: each such row would
    ///   keep a whole page in memory.
    package init(isShared: Bool = true) { self.isShared = isShared }

    /// Makes a row.
    ///
    /// - Parameters:
    ///   - count: The number of words of the row.
    ///   - body: Writes all words. The first word is the number of columns.
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
