extension MainContext: CustomStringConvertible {
    /// The model and how many saves are not in the store yet: `MainContext of Contacts (0 pending saves)`.
    public nonisolated var description: String {
        "MainContext of \(stack.layout.model.name) (\(stack.root.pendingSaveCount) pending saves)"
    }
}
