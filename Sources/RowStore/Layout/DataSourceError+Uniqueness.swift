extension DataSourceError {
    /// The error for two rows of an entity with the same unique key.
    ///
    /// - Parameter constraint: The columns of the key; nil for the rows' own keys.
    package init(uniqueness constraint: [Int]?, _ layout: EntityLayout) {
        let names = constraint.map { $0.map { layout.columns[$0].name } } ?? []
        self.init(
            .uniquenessViolated,
            names.isEmpty
                ? "Two objects of \(layout.name) would have the same key. Insert each object once."
                : "Two objects of \(layout.name) would have the same \(names.joined(separator: ", ")). "
                    + "Change the existing object, or delete it in the same save.",
            entityName: layout.name, attributeName: names.count == 1 ? names[0] : nil)
    }
}
