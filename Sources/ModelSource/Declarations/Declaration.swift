/// A declaration and the ranges of its parts in the source. Each range is a range of tokens.
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
    /// The name without backticks; empty if the declaration has no name.
    package var name = ""
    /// The byte offset of the name, or of the keyword if there is no name.
    package var offset: Int
    package var attributes: [AttributeUse] = []
    package var modifiers: Set<String> = []
    /// Whether the declaration is inside of an `#if`.
    package var isConditional = false
    package var hasGenericParameters = false
    /// The types after the colon of a class or another type.
    package var inherited: [Range<Int>] = []
    /// The tokens between the braces.
    package var body: Range<Int>?
    /// The type of a property.
    package var type: Range<Int>?
    /// The initial value of a property.
    package var initialValue: Range<Int>?
    /// The accessors or observers of a property.
    package var accessors: Range<Int>?
    /// Whether a `var` or `let` declares a tuple or several names.
    package var isPattern = false

    /// Whether the name is the name of a type.
    package var isType: Bool {
        switch kind {
        case .class, .struct, .enum, .actor, .protocol: true
        // Of the other kinds, only a typealias has a name.
        case .other: !name.isEmpty
        case .extension, .variable, .constant, .function, .initializer, .enumCase: false
        }
    }

    package func attribute(_ name: String) -> AttributeUse? { attributes.first { $0.name == name } }

    /// The access modifier, such as `public` or `package`; nil if there is none.
    package var accessLevel: String? {
        ["open", "public", "package", "internal", "fileprivate", "private"].first(where: modifiers.contains)
    }
}

/// A use of an attribute, such as `@Stored(unique: true)`.
package struct AttributeUse: Sendable {
    /// The name as it is spelled, but without the module of the macros. So the name of `@CoreDataSource.Stored` is
    /// `Stored`. An attribute of another module keeps its module, as in `Other.Stored`.
    package var name: String
    package var offset: Int
    /// The tokens between the parentheses.
    package var arguments: Range<Int>?
}
