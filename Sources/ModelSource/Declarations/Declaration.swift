/// A declaration, by its parts in the source. Ranges are ranges of tokens.
package struct Declaration: Sendable {
    package enum Kind: String, Sendable {
        case `class`, `struct`, `enum`, actor, `protocol`, `extension`
        case variable = "var"
        case constant = "let"
        case function = "func"
        case initializer = "init"
        case enumCase = "case"
        case other
    }

    package var kind: Kind
    /// The name without backticks; empty if it has none.
    package var name = ""
    /// The first byte of the name, or of the declaration.
    package var offset: Int
    package var attributes: [AttributeUse] = []
    package var modifiers: Set<String> = []
    /// Whether it is in an `#if`.
    package var isConditional = false
    package var hasGenericParameters = false
    /// The types after the colon of a class, each a range of tokens.
    package var inherited: [Range<Int>] = []
    /// The tokens between its braces.
    package var body: Range<Int>?
    /// The type of a property.
    package var type: Range<Int>?
    /// The initial value of a property.
    package var initialValue: Range<Int>?
    /// The accessors or observers of a property.
    package var accessors: Range<Int>?
    /// Whether a `var` or `let` declares several names, or a tuple.
    package var isPattern = false

    package func attribute(_ name: String) -> AttributeUse? { attributes.first { $0.name == name } }

    /// `public`, `package`, and so on; nil for none.
    package var accessLevel: String? {
        ["open", "public", "package", "internal", "fileprivate", "private"].first(where: modifiers.contains)
    }
}

/// An attribute such as `@Stored(unique: true)` where it is used.
package struct AttributeUse: Sendable {
    /// The last part of its name.
    package var name: String
    package var offset: Int
    /// The tokens between its parentheses.
    package var arguments: Range<Int>?
}
