extension DataSourceError {
    /// The error for two rows of an entity with the same unique key.
    ///
    /// - Parameter constraint: The columns of the key; nil for the rows' own keys.
    package init(uniqueness constraint: [Int]?, _ layout: EntityLayout) {
        let names = constraint.map { $0.map { layout.columns[$0].name } } ?? []
        self.init(
            .uniquenessViolated,
            names.isEmpty
                ? "The key of a new object of \(layout.name) is taken: another program has inserted a row into the store meanwhile. "
                    + "Add the object again, and it gets another key."
                : "Two objects of \(layout.name) would have the same \(names.joined(separator: ", ")). "
                    + "Change the existing object, or delete it in the same save.",
            entityName: layout.name, attributeName: names.count == 1 ? names[0] : nil)
    }
}
