internal import RowStore

/// Where a page of a fetch or a list ended. It stays valid when the object is changed or deleted.
///
/// ```swift
/// let page = try contacts.fetch(request)
/// request.after = page.last.map { FetchCursor($0) }
/// let next = try contacts.fetch(request)
/// ```
public struct FetchCursor: Sendable {
    let stored: StoredRow
    let layout: EntityLayout

    /// The place of an object, in the order of the request or list that uses the cursor.
    public init(_ object: ManagedObject) {
        self.init(stored: StoredRow(key: object.key, row: object.wholeRow), layout: object.layout)
    }

    init(stored: StoredRow, layout: EntityLayout) {
        self.stored = stored
        self.layout = layout
    }
}
