/// The declared type of a transformable, if generated Swift code can name the type.
///
/// Accepts names (`Color`, `Palette.Color`), arrays, dictionaries, generic arguments, and optionals of these types. Refuses
/// other types and Objective-C names, because the name is copied into a source file.
struct TypeSpelling {
    /// The type without the question mark at its end.
    let name: String
    /// Whether the type uses a type of Foundation.
    let needsFoundation: Bool

    init?(_ text: String) {
        var parser = TypeParser(text)
        guard var name = parser.type(), parser.isAtEnd else { return nil }
        while name.hasSuffix("?") { name.removeLast() }
        guard !parser.names.contains(where: Self.isRefused) else { return nil }
        self.name = name
        needsFoundation = !parser.names.isDisjoint(with: Self.foundationTypes)
    }

    /// Whether the name is refused. A name is refused if it stands for no specific type, such as `Any` or `Self`, or if it
    /// is an Objective-C name. An Objective-C name consists of the prefix of a framework and a capitalized word. `NSArray`
    /// and `UIColor` are such names, but `UID` is not.
    private static func isRefused(_ name: String) -> Bool {
        if ["Any", "AnyObject", "AnyHashable", "Self", "Type", "id"].contains(name) { return true }
        guard objectiveCPrefixes.contains(String(name.prefix(2))) else { return false }
        let rest = name.dropFirst(2)
        return rest.first?.isUppercase == true && rest.dropFirst().first?.isLowercase == true
    }

    private static let objectiveCPrefixes: Set<String> = [
        "AV", "CI", "CK", "CL", "CN", "EK", "HK", "MK", "NS", "PH", "SK", "UI", "UN", "WK",
    ]

    /// Types of Foundation that are `Codable`. A transformable must be `Codable`.
    static let foundationTypes: Set<String> = [
        "AttributedString", "Calendar", "CGFloat", "CGPoint", "CGRect", "CGSize", "CharacterSet", "Data", "Date",
        "DateComponents", "DateInterval", "Decimal", "IndexPath", "IndexSet", "Locale", "Measurement",
        "PersonNameComponents", "TimeInterval", "TimeZone", "URL", "URLComponents", "UUID",
    ]
}

/// Parses a type and normalizes its spaces.
private struct TypeParser {
    private var rest: Substring
    /// All names in the type.
    private(set) var names: Set<String> = []

    init(_ text: String) {
        rest = text[...]
    }

    var isAtEnd: Bool { rest.allSatisfy(\.isWhitespace) }

    mutating func type() -> String? {
        guard var type = take("[") ? collection() : named() else { return nil }
        while take("?") { type += "?" }
        return type
    }

    private mutating func collection() -> String? {
        guard let element = type() else { return nil }
        if take("]") { return "[\(element)]" }
        guard take(":"), let value = type(), take("]") else { return nil }
        return "[\(element): \(value)]"
    }

    private mutating func named() -> String? {
        guard var type = name() else { return nil }
        while take(".") {
            guard let member = name() else { return nil }
            type += "." + member
        }
        guard take("<") else { return type }
        var arguments: [String] = []
        repeat {
            guard let argument = self.type() else { return nil }
            arguments.append(argument)
        } while take(",")
        return take(">") ? "\(type)<\(arguments.joined(separator: ", "))>" : nil
    }

    private mutating func name() -> String? {
        skipSpace()
        let name = String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
        guard !name.isEmpty, Identifier.sanitized(name) == name, Identifier.escaped(name) == name || name == "Any"
        else { return nil }
        rest = rest.dropFirst(name.count)
        names.insert(name)
        return name
    }

    private mutating func take(_ character: Character) -> Bool {
        skipSpace()
        guard rest.first == character else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func skipSpace() {
        rest = rest.drop(while: \.isWhitespace)
    }
}
