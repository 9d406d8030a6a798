/// Makes Swift identifiers from the names of a model, which can contain anything.
enum Identifier {
    /// The name with every character replaced by an underscore that an identifier cannot contain.
    ///
    /// It is never empty, and never starts with a digit. It may still be a keyword: see ``escaped(_:)``.
    static func sanitised(_ name: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            scalars.append(scalar.properties.isXIDContinue ? scalar : "_")
        }
        let identifier = String(scalars)
        guard let first = identifier.unicodeScalars.first else { return "unnamed" }
        if identifier == "_" { return "__" }
        return first == "_" || first.properties.isXIDStart ? identifier : "_" + identifier
    }

    /// The identifier as it is written in a declaration or a reference: in backticks if it is a keyword.
    static func escaped(_ identifier: String) -> String {
        keywords.contains(identifier) ? "`\(identifier)`" : identifier
    }

    /// The name as a member name: `MyApp Model` becomes `myAppModel`, `URLCache` becomes `urlCache`.
    static func lowerCamelCase(_ name: String) -> String {
        let words = name.split { !($0.isLetter || $0.isNumber) }
        guard let first = words.first else { return sanitised(name) }
        let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return sanitised(lowercasedStart(of: String(first)) + rest.joined())
    }

    /// The name as a type name: `my model` becomes `MyModel`.
    static func upperCamelCase(_ name: String) -> String {
        let words = name.split { !($0.isLetter || $0.isNumber) }
        return sanitised(words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined())
    }

    /// Lower-cases the leading capitals, except for the one that starts the next word.
    private static func lowercasedStart(of word: String) -> String {
        let capitals = word.prefix { $0.isUppercase }
        let rest = word.dropFirst(capitals.count)
        guard capitals.count > 1, rest.first?.isLetter == true else { return capitals.lowercased() + rest }
        return capitals.dropLast().lowercased() + word.dropFirst(capitals.count - 1)
    }

    private static let keywords: Set<String> = [
        "Any", "Self", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue",
        "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let",
        "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
        "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
        "typealias", "var", "where", "while",
    ]
}
