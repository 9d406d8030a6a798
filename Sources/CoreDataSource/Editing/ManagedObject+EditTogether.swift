extension ManagedObject {
    /// Makes all edits of the body one step of the object's draft. In other contexts the body just runs.
    ///
    /// For generated code: the parts of a composite are set together.
    ///
    /// **Isolation**: that of the object's context.
    public final func editTogether(_ body: () -> Void) {
        guard editing == .inDraft, let context = context as? EditingContext else { return body() }
        context.editingTogether(body)
    }
}
