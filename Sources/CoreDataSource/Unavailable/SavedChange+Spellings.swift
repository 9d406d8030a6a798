/// The names of the kinds of changes in reports, such as ``SaveReport/inserted``.
extension SavedChange.Kind {
    /// Unavailable. The kind has another name.
    @available(*, unavailable, renamed: "insert")
    public static var inserted: Self { .insert }

    /// Unavailable. The kind has another name.
    @available(*, unavailable, renamed: "update")
    public static var updated: Self { .update }

    /// Unavailable. The kind has another name.
    @available(*, unavailable, renamed: "delete")
    public static var deleted: Self { .delete }
}
