/// Functions of other libraries that save in the middle of a batch.
extension PrivateContext {
    /// Unavailable. The edits are saved when the batch ends.
    @available(
        *, unavailable,
        message:
            "The edits are saved when the hook or the closure of perform returns without an error. Remove this line."
    )
    public func save() throws {}
}

/// Functions of other libraries that save inside of a draft.
extension DraftContext {
    /// Unavailable. The draft saves.
    @available(*, unavailable, message: "The draft saves its edits: try await draft.save().")
    public func save() throws {}
}

/// Functions of other libraries that insert an object made elsewhere, or delete many objects.
extension EditingContext {
    /// Unavailable. A context makes its objects.
    @available(
        *, unavailable,
        message: "A context makes its objects: let book = try context.insert(Book.self). Then set the properties."
    )
    public func insert<Object: ManagedObject>(_ object: Object) {}

    /// Unavailable. Delete all objects of a class with a predicate.
    @available(*, unavailable, message: "Write delete(Book.self, where: ...).")
    public func delete<Object: ManagedObject>(model type: Object.Type, where predicate: FetchPredicate<Object>? = nil)
        throws
    {}
}
