/// Memory for the words of one row, or of several rows that were read together.
///
/// A row changes its buffer only if no other row uses the buffer. So a shared buffer never changes.
@usableFromInline
final class RowBuffer: ManagedBuffer<RowBuffer.Header, UInt64> {
    @usableFromInline
    struct Header {
        /// The number of words for which there is memory.
        @usableFromInline let capacity: UInt32
        /// Whether several rows may have their words in the buffer.
        @usableFromInline let isPage: Bool
    }

    /// A buffer whose words are not initialized.
    static func make(_ capacity: Int, isPage: Bool = false) -> RowBuffer {
        let buffer = RowBuffer.create(minimumCapacity: capacity) { _ in
            Header(capacity: UInt32(capacity), isPage: isPage)
        }
        return unsafeDowncast(buffer, to: RowBuffer.self)
    }
}

/// Memory for the rows of one fetch. Many rows share one allocation, a page.
///
/// A row keeps its whole page alive, 2 KB at most. An edit gives the row a buffer of its own.
package struct RowPages: ~Copyable {
    private var page: RowBuffer?
    /// The page and its words, unmanaged: so only `page` and the rows count as references.
    private var unmanagedPage: (buffer: Unmanaged<RowBuffer>, words: UnsafeMutablePointer<UInt64>)?
    private var capacity = 0
    private var used = 0
    /// The size of the next page in words. The first row gets its own buffer, because most look-ups find only one row.
    private var nextCapacity = 0

    private static let largestPage = 256

    private let isShared: Bool

    /// - Parameter isShared: Whether rows share pages. Pass false if few of the rows are kept, because each kept row would keep
    ///   a whole page.
    package init(isShared: Bool = true) { self.isShared = isShared }

    /// Makes a row.
    ///
    /// - Parameters:
    ///   - count: The number of words.
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
