/// Names that no stored property can have.
package enum ReservedMembers {
    /// The members of `ManagedObject` and of the expansion, and words with a meaning after a dot.
    package static let names: Set<String> = [
        "self", "Self", "init", "Type", "Protocol", "objectID", "isInserted", "isUpdated", "isDeleted", "hasChanges",
        "entityName",
        "attributeKeyPaths", "attribute", "calculatedAttribute", "derivedAttribute", "setAttribute", "isNil", "setNil",
        "transformable", "setTransformable", "changedAttributes", "description", "context", "relatedObject",
        "setRelatedObject",
        "relatedObjects", "relatedList", "setRelatedList", "relationshipKeyPaths", "optionalKeyPaths", "hash",
        "hashValue",
        "editTogether", "declaredEntity", "StoredLayout", "setInitialValues", "firstColumn", "Generated",
    ]

    /// Whether a text is a name that a property can have: letters, digits and underscores, in any language.
    package static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart, name != "_" else {
            return false
        }
        return name.unicodeScalars.allSatisfy(\.properties.isXIDContinue)
    }

    /// Words that need backticks where a property is named.
    private static let keywords: Set<String> = [
        "Any", "Self", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
        "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in", "init",
        "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows",
        "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
        "typealias", "var",
        "where", "while", "await",
    ]

    /// The name as it is written in a declaration or a reference.
    package static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }
}
