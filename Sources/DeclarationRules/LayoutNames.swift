/// Names that the macros use in the members that they add. The types of an app cannot have these names.
package enum LayoutNames {
    /// The names of the types that the macros add to a class or a struct.
    package static let added: Set<String> = [
        "StoredInitialValues", "StoredLayout", "SuperLayout", "LayoutTypes", "LayoutChecks", "LayoutClass",
        "LayoutParent", "LayoutDescription", "LayoutParts", "LayoutAttributePaths", "LayoutRelationshipPaths",
        "LayoutOptionalPaths", "LayoutInitialValues",
    ]

    /// The modules whose types occur in the code of the macros.
    package static let modules: Set<String> = ["Swift", "CoreDataSource"]

    /// The first parts of names that the macros make from the names of properties.
    package static let prefixes = ["type_", "check_", "destination_"]

    /// Whether the name of a type in the source means another type in the members that the macros add.
    package static func isAdded(_ name: String) -> Bool {
        added.contains(name) || prefixes.contains(where: name.hasPrefix)
    }
}
