internal import RowStore

/// Drafts: edits on the main actor that can be thrown away.
extension AnyDataSource {
    /// A draft with an editable copy of an object, and of the objects that it leads to.
    ///
    /// ```swift
    /// let draft = try contacts.draft(of: contact)
    /// draft.object.name = "Zhang Yide"
    /// try await draft.save()
    /// ```
    ///
    /// - Parameter object: An object of ``main``. The copy has its values.
    /// - Throws: `objectGone` if it has been deleted; what the store throws if a large value of the object has to be read.
    public func draft<Object: ManagedObject>(of object: Object) throws -> Draft<Object> {
        precondition(
            object.context === main,
            "An object of another context was passed to draft(of:). Look the object up on main by its objectID first.")
        mainTier.prepareToFetch()
        if object.isDeleted {
            throw DataSourceError(
                .objectGone, "\(object.objectID) has been deleted, so it cannot be edited. Insert a new object.",
                entityName: object.layout.name)
        }
        return try Draft(mainTier) { context in try context.typed(try context.copy(of: object)) }
    }

    /// A draft with a new object, which has the default values of the model.
    ///
    /// - Throws: `abstractEntity`, `unknownEntity`, `keysExhausted`.
    public func draft<Object: ManagedObject>(inserting type: Object.Type) throws -> Draft<Object> {
        try Draft(mainTier) { context in try context.insert(type) }
    }
}
