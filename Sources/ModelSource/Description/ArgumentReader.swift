internal import DeclarationRules

/// Reads the arguments of a macro as literals of the expected types. Any other expression causes a diagnostic.
struct ArgumentReader {
    /// The message for a range that contains no value.
    static let emptyRange = "The lower bound of this range is greater than the upper bound. Exchange the bounds."

    private let source: SwiftSource
    private let macro: String
    private var arguments: [String: (value: SourceExpression?, tokens: Range<Int>)] = [:]
    private var doubledLabels: [(label: String, offset: Int)] = []
    private let offset: Int
    var diagnostics: [SourceDiagnostic] = []

    init(_ source: SwiftSource, _ use: AttributeUse?) {
        self.source = source
        macro = use?.name ?? ""
        offset = use?.offset ?? 0
        guard let range = use?.arguments else { return }
        for argument in ExpressionParser.arguments(source, in: range) {
            if arguments[argument.label] != nil {
                doubledLabels.append((argument.label, source.tokens[argument.tokens.lowerBound].start))
            }
            arguments[argument.label] = (argument.value, argument.tokens)
        }
    }

    /// Returns the byte offset of an argument. If there is no such argument, returns the byte offset of the macro's
    /// use.
    func offset(of label: String) -> Int {
        guard let tokens = arguments[label]?.tokens else { return offset }
        return source.tokens[tokens.lowerBound].start
    }

    func has(_ label: String) -> Bool { arguments[label] != nil }

    mutating func reportError(_ label: String, _ message: String) {
        diagnostics.append(SourceDiagnostic(at: offset(of: label), message))
    }

    mutating func warn(_ label: String, _ declaration: UnsupportedDeclaration, of property: String) {
        let message = declaration.warning("the argument \(label) is ignored", at: property)
        diagnostics.append(SourceDiagnostic(at: offset(of: label), message, isWarning: true))
    }

    private func spelled(_ label: String) -> String { label.isEmpty ? "The first argument" : "The argument \(label)" }

    mutating func expression(_ label: String) -> SourceExpression? {
        guard let argument = arguments[label] else { return nil }
        guard let value = argument.value else {
            if label == "inverse", let name = SwiftDataSpellings.propertyName(source, in: argument.tokens) {
                reportError(label, "The inverse is the name of a property, not a key path. Write inverse: \"\(name)\".")
                return nil
            }
            reportError(
                label,
                "\(spelled(label)) of @\(macro) must be a literal, because the model is read before the program runs. Write the value itself."
            )
            return nil
        }
        return value == .none ? nil : value
    }

    mutating func string(_ label: String) -> String? {
        guard let value = expression(label) else { return nil }
        if case .string(let text) = value { return text }
        reportError(label, "\(spelled(label)) of @\(macro) must be a string literal.")
        return nil
    }

    /// Returns a name for the model. The name must not be empty. If `mayHaveDots` is false, the name must not have a dot,
    /// because a dot would divide the name of a property.
    mutating func name(_ label: String, mayHaveDots: Bool = false) -> String? {
        guard let name = string(label) else { return nil }
        if !name.isEmpty, mayHaveDots || !name.contains(".") { return name }
        reportError(label, "A name in a model must not be empty or contain a dot. Write another name.")
        return nil
    }

    mutating func flag(_ label: String) -> Bool? {
        guard let value = expression(label) else { return nil }
        if case .boolean(let flag) = value { return flag }
        reportError(label, "\(spelled(label)) of @\(macro) must be true or false.")
        return nil
    }

    /// - Parameter type: The type of the argument. The type is checked, because a member of another type can have the
    ///   same name and another value.
    mutating func member(_ label: String, of names: Set<String>, in type: String) -> String? {
        guard let value = expression(label) else { return nil }
        if case .member(let spelled, let name) = value, names.contains(name),
            [nil, type, "CoreDataSource.\(type)"].contains(spelled)
        {
            return name
        }
        if label.isEmpty, case .member(_, let name) = value, let replacement = SwiftDataSpellings.options[name] {
            reportError(
                label, "@\(macro) has no .\(name). Write @\(macro)(\(replacement)) instead.")
            return nil
        }
        let list = names.sorted().map { "." + $0 }.joined(separator: ", ")
        reportError(label, "\(spelled(label)) of @\(macro) must be one of \(list).")
        return nil
    }

    mutating func type(_ label: String) -> String? {
        guard let value = expression(label) else { return nil }
        if case .type(let name) = value { return name.split(separator: ".").last.map(String.init) }
        reportError(label, "\(spelled(label)) of @\(macro) must be a type, such as Int16.self.")
        return nil
    }

    mutating func range(_ label: String) -> (lower: SourceExpression?, upper: SourceExpression?)? {
        guard let value = expression(label) else { return nil }
        if case .range(let lower, let upper, false) = value { return (lower, upper) }
        reportError(label, "\(spelled(label)) of @\(macro) must be a range such as 0...5, 0... or ...5.")
        return nil
    }

    mutating func strings(_ label: String) -> [String: String] {
        guard let value = expression(label) else { return [:] }
        if case .dictionary(let pairs) = value {
            let strings = pairs.compactMap { pair -> (String, String)? in
                guard case .string(let key) = pair.key, case .string(let text) = pair.value else { return nil }
                return (key, text)
            }
            if strings.count == pairs.count { return Dictionary(strings) { $1 } }
        }
        if value == .list([]) { return [:] }
        reportError(label, "\(spelled(label)) of @\(macro) must be a dictionary of string literals.")
        return [:]
    }

    mutating func lists(_ label: String) -> [[String]] {
        guard let value = expression(label) else { return [] }
        if case .list(let elements) = value {
            let lists = elements.compactMap { element -> [String]? in
                guard case .list(let parts) = element else { return nil }
                let names = parts.compactMap { part -> String? in
                    if case .string(let name) = part { name } else { nil }
                }
                return names.count == parts.count && !names.isEmpty ? names : nil
            }
            if lists.count == elements.count { return lists }
        }
        reportError(
            label, "\(spelled(label)) of @\(macro) must be a list of lists of names, such as [[\"year\", \"number\"]].")
        return []
    }

    mutating func literals(_ label: String) -> LiteralList? {
        guard let value = expression(label), let tokens = arguments[label]?.tokens else { return nil }
        if case .list(let elements) = value {
            return LiteralList(text: source.text(ofTokens: tokens), elements: elements, offset: offset(of: label))
        }
        reportError(label, "\(spelled(label)) of @\(macro) must be an array literal.")
        return nil
    }

    private static let labels: [String: [String]] = [
        "StoredEntity": [
            "", "isAbstract", "unique", "indexes", "renamedFrom", "hashModifier", "userInfo", "attributes",
            "relationships",
            "fetchedProperties",
        ],
        "StoredComposite": [""],
        "Related": [
            "inverse", "onDelete", "isOptional", "count", "isTransient", "name", "renamedFrom", "hashModifier",
            "userInfo",
        ],
        "Unstored": [],
    ]

    /// Refuses unknown arguments, and arguments that are given twice. The compiler does the same, but `model-reset` also reads
    /// files that were never compiled.
    mutating func checkLabels() {
        let known = Self.labels[macro] ?? SourceNames.attributeLabels
        for label in arguments.keys.sorted() where !known.contains(label) {
            if let replacement = SwiftDataSpellings.labels[label], known.contains(replacement) {
                reportError(label, "@\(macro) has no argument \(label). Write \(replacement): instead.")
            } else {
                reportError(label, "@\(macro) has no argument \(label). Remove the argument.")
            }
        }
        for (label, offset) in doubledLabels {
            let name = label.isEmpty ? "without a label" : label
            diagnostics.append(
                SourceDiagnostic(at: offset, "@\(macro) has two arguments \(name). Remove one of the two."))
        }
    }
}
