/// Names in the source of a model that is written in Swift. The macros and `model-reset` read them, and `convert` writes
/// them.
package enum SourceNames {
    /// The labels of the arguments of `@Stored` and `@StoredPart`, in the order that the compiler demands.
    package static let attributeLabels = [
        "", "name", "raw", "unique", "indexed", "isOptional", "isTransient", "default", "in", "length", "matching",
        "derived", "allowsExternalStorage", "renamedFrom", "hashModifier", "transformer", "className",
        "isPreservedAfterDeletion", "isCloudEncrypted", "isIndexedBySpotlight", "userInfo",
    ]

    /// The modules whose types can occur in a model. The name of the module can precede the name of the type.
    package static let modules: Set<String> = ["Swift", "Foundation", "CoreDataSource"]
}
