extension PrivateContext: CustomStringConvertible {
    /// The data source and its entities: `PrivateContext of ContactDataSource (ContactEntity)`.
    public nonisolated var description: String {
        let layout = stack.layout
        let names = ownedEntities.map { layout.entities[$0].name }.sorted().joined(separator: ", ")
        return "PrivateContext of \(owner) (\(names))"
    }
}
