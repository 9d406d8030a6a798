/// Names that a stored property must not have.
package enum ReservedMembers {
    /// The members of `ManagedObject`, the members that the expansion adds, and words that mean something else after a
    /// dot, such as `self`.
    package static let names: Set<String> = [
        "self", "Self", "init", "Type", "Protocol", "objectID", "isInserted", "isUpdated", "isDeleted", "hasChanges",
        "entityName",
        "attributeKeyPaths", "propertyNames", "attribute", "calculatedAttribute", "derivedAttribute", "setAttribute",
        "isNil", "setNil",
        "transformable", "setTransformable", "changedAttributes", "description", "context", "relatedObject",
        "setRelatedObject",
        "relatedObjects", "relatedList", "setRelatedList", "relationshipKeyPaths", "optionalKeyPaths", "hash",
        "hashValue",
        "editTogether", "declaredEntity", "StoredLayout", "StoredInitialValues", "setInitialValues", "firstColumn",
        "Generated", "groupKey", "groupKeyIfPresent",
    ]

    /// Whether a string can be the name of a property. Such a name has only underscores and the letters and digits of
    /// any language, and does not begin with a digit.
    package static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart, name != "_" else {
            return false
        }
        return name.unicodeScalars.allSatisfy(\.properties.isXIDContinue)
    }

    /// Words that need backticks when they are names of properties.
    private static let keywords: Set<String> = [
        "Any", "Self", "any", "as", "associatedtype", "borrowing", "break", "case", "catch", "class", "consuming",
        "continue", "default", "defer",
        "deinit", "do",
        "each", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
        "import",
        "in", "init",
        "inout", "internal", "is", "isolated", "let", "nil", "operator", "precedencegroup", "private", "protocol",
        "public",
        "repeat", "rethrows",
        "return", "self", "sending", "some", "static", "struct", "subscript", "super", "switch", "throw", "throws",
        "true", "try",
        "typealias", "var",
        "where", "while", "await",
    ]

    /// Returns the name with backticks if it needs them.
    package static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }
}
