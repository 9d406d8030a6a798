/// Makes Swift identifiers from the names of a model, which may hold anything.
enum Identifier {
    /// The name with everything that no identifier may hold replaced by an underscore.
    ///
    /// Never empty, and never starts with a digit. It may still be a keyword: see ``escaped(_:)``.
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

    /// The identifier as it is written where a declaration or a reference stands: in backticks if it is a keyword.
    static func escaped(_ identifier: String) -> String {
        keywords.contains(identifier) ? "`\(identifier)`" : identifier
    }

    /// The name as that of a member: `MyApp Model` is `myAppModel`, `URLCache` is `urlCache`.
    static func lowerCamelCase(_ name: String) -> String {
        let words = name.split { !($0.isLetter || $0.isNumber) }
        guard let first = words.first else { return sanitised(name) }
        let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return sanitised(lowercasedStart(of: String(first)) + rest.joined())
    }

    /// The name as that of a type: `my model` is `MyModel`.
    static func upperCamelCase(_ name: String) -> String {
        let words = name.split { !($0.isLetter || $0.isNumber) }
        return sanitised(words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined())
    }

    /// Lower-cases the leading capitals, but for the one that starts the next word.
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
