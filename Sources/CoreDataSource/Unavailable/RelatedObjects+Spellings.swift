/// Functions that arrays have, but related objects do not.
extension RelatedObjects {
    /// Unavailable. Insert the objects: a set has no last object.
    @available(*, unavailable, message: "Related objects are a set. Write insert(tag).")
    public func append(_ object: Object) {}

    /// Unavailable. Insert the objects: a set has no last object.
    @available(*, unavailable, message: "Related objects are a set. Write insert(contentsOf: tags).")
    public func append(contentsOf objects: some Sequence<Object>) {}

    /// Unavailable. Remove each object.
    @available(
        *, unavailable, message: "Remove each object: for tag in book.tags where tag.isOld { book.tags.remove(tag) }."
    )
    public func removeAll(where isRemoved: (Object) throws -> Bool) rethrows {}

    /// Unavailable. A set has no order.
    @available(
        *, unavailable,
        message: "Related objects are a set. Sort them: try book.tags.sorted(by: [.ascending(\\.name)]).first."
    )
    public var first: Object? { nil }

    /// Unavailable. A set has no positions.
    @available(
        *, unavailable,
        message: "Related objects are a set. Sort them: try book.tags.sorted(by: [.ascending(\\.name)])[0]."
    )
    public subscript(_ position: Int) -> Object { preconditionFailure() }
}
