internal import ManagedModel
internal import ModelReader
internal import ModelSource

/// The declarations of a model in Swift files.
struct SourceDeclarations {
    struct Found<Value> {
        let file: SourceFolder.File
        let value: Value
        let offset: Int
        /// The path of the type; for a model, the path of the enclosing type.
        let path: String
    }

    /// A call of `ManagedObjectModel` with a list of classes.
    struct Model {
        let name: String
        /// The listed classes in the spelling of the source, with the offsets at which they are listed.
        let members: [(name: String, offset: Int)]
        let arguments: [String: SourceExpression]
    }

    /// The entities by the paths of their classes.
    private(set) var entities: [String: Found<EntitySource>] = [:]
    private(set) var composites: [String: Found<CompositeSource>] = [:]
    /// The raw value of each case, by the path of the enum.
    private(set) var enums: [String: [String: ValueSource]] = [:]
    private(set) var models: [Found<Model>] = []
    private(set) var scopes = SourceScopes()
    /// The bodies of the types in the file that is being read.
    private var bodies: [(range: Range<Int>, path: String)] = []
    private static let nestingLimit = 32

    init(_ files: [SourceFolder.File]) throws(ModelReaderError) {
        for file in files {
            bodies = []
            try read(file, in: 0..<max(0, file.source.tokens.count - 1), of: "", depth: 0)
            try readModels(file)
        }
        scopes.resolveSuperclasses()
    }

    /// - Parameter scope: The path of the type that has the range as its body. Empty if the range is a whole file.
    private mutating func read(
        _ file: SourceFolder.File, in range: Range<Int>, of scope: String, depth: Int
    ) throws(ModelReaderError) {
        scopes.addAliases(file, range, in: scope)
        var parser = DeclarationParser(file.source, in: range)
        for declaration in parser.declarations() {
            let path = SourceScopes.path(declaration.name, in: scope)
            if declaration.attribute("StoredEntity") != nil {
                try Self.add(declaration, file, path, to: &entities) { $0.entity(declaration) }
            } else if declaration.attribute("StoredComposite") != nil {
                try Self.add(declaration, file, path, to: &composites) { $0.composite(declaration) }
            }
            switch declaration.kind {
            case .class, .struct, .enum, .actor, .extension, .protocol:
                scopes.add(declaration, at: path, file.source)
            default: continue
            }
            guard let body = declaration.body, depth < Self.nestingLimit, declaration.kind != .protocol else {
                continue
            }
            if declaration.kind == .enum {
                let values = EnumCases(file.source, declaration, body).values
                // If several enums have the same name, only the cases that are equal in all of them are kept.
                enums[path] = enums[path].map { $0.filter { values[$0.key] == $0.value } } ?? values
            }
            bodies.append((body, path))
            try read(file, in: body, of: path, depth: depth + 1)
        }
    }

    /// Adds what `read` finds in a declaration.
    private static func add<Value>(
        _ declaration: Declaration, _ file: SourceFolder.File, _ path: String, to found: inout [String: Found<Value>],
        read: (inout EntityReader) -> Value?
    ) throws(ModelReaderError) {
        var reader = EntityReader(file.source)
        let value = read(&reader)
        if let first = reader.diagnostics.first(where: { !$0.isWarning }) {
            throw file.error(.malformedSwift, at: first.offset, first.message)
        }
        guard let value else { return }
        if let other = found[path] {
            let place = "\(other.file.path):\(other.file.source.line(of: other.offset))"
            throw file.error(
                .duplicateName, at: declaration.offset,
                declaration.isConditional
                    ? "\(declaration.name) is declared in \(place), too, but a model is the same in every build. Declare the class once, outside of the #if."
                    : "\(declaration.name) is declared in \(place), too. Rename or remove one of the two.")
        }
        found[path] = Found(file: file, value: value, offset: declaration.offset, path: path)
    }

    // MARK: Models

    private mutating func readModels(_ file: SourceFolder.File) throws(ModelReaderError) {
        let source = file.source
        for index in source.tokens.indices.dropLast(2)
        where source.isWord(index, "ManagedObjectModel") && source.isSymbol(index + 1, "(") {
            let close = source.matchingBrackets[index + 1]
            guard close > index else { continue }
            let arguments = ExpressionParser.arguments(source, in: index + 2..<close)
            guard let first = arguments.first, first.label.isEmpty else { continue }
            let offset = source.tokens[index].start
            guard case .string(let name) = first.value else {
                throw file.error(
                    .malformedSwift, at: offset,
                    "The name of a model must be a string literal, because the model is read before the program runs.")
            }
            guard source.isSymbol(close + 1, "{"), source.matchingBrackets[close + 1] > close else {
                throw file.error(
                    .malformedSwift, at: offset,
                    "The classes of a model must follow in braces: ManagedObjectModel(\"\(name)\") { Class.self }.")
            }
            let values = try Self.values(of: arguments.dropFirst(), file)
            let members = try Self.members(file, close + 2..<source.matchingBrackets[close + 1])
            // An inner type comes after the types around it, so the last match is the innermost type.
            let scope = bodies.last { $0.range.contains(index) }?.path ?? ""
            models.append(
                Found(
                    file: file, value: Model(name: name, members: members, arguments: values), offset: offset,
                    path: scope))
        }
    }

    /// Returns the arguments after the name of a model. Refuses wrong arguments. The compiler does the same, but this reader
    /// also reads files that were never compiled.
    private static func values(
        of arguments: ArraySlice<(label: String, value: SourceExpression?, tokens: Range<Int>)>,
        _ file: SourceFolder.File
    ) throws(ModelReaderError) -> [String: SourceExpression] {
        var values: [String: SourceExpression] = [:]
        for (label, value, tokens) in arguments {
            let fault: String?
            switch (label, value) {
            case (_, nil):
                fault =
                    "The argument \(label) of a model must be a literal, because the model is read before the program runs."
            case ("version", .string(_)?), ("version", SourceExpression.none?), ("versionIdentifier", .string(_)?):
                fault = nil
            case ("version", _), ("versionIdentifier", _):
                fault = "The argument \(label) of a model must be a string literal."
            case _ where !modelLabels.contains(label):
                fault =
                    "A model has no argument \(label.isEmpty ? "without a label after its name" : label). Remove the argument."
            default: fault = nil
            }
            if let fault {
                throw file.error(.malformedSwift, at: file.source.tokens[tokens.lowerBound].start, fault)
            }
            values[label] = value
        }
        return values
    }

    private static let modelLabels: Set = [
        "version", "configurations", "fetchRequests", "versionIdentifier", "earlierVersions",
    ]

    private static func members(
        _ file: SourceFolder.File, _ range: Range<Int>
    ) throws(ModelReaderError) -> [(name: String, offset: Int)] {
        let source = file.source
        var members: [(name: String, offset: Int)] = []
        var index = range.lowerBound
        while index < range.upperBound {
            if source.isSymbol(index, ";") {
                index += 1
                continue
            }
            let offset = source.tokens[index].start
            var names: [String] = []
            while index < range.upperBound, source.tokens[index].kind == .identifier {
                names.append(source.text(of: index))
                index += 1
                guard index + 1 < range.upperBound, source.isSymbol(index, ".") else { break }
                index += 1
            }
            guard names.count > 1, names.removeLast() == "self" else {
                throw file.error(
                    .malformedSwift, at: offset,
                    "The classes of a model must be literal, because the model is read before the program runs. Write each as Class.self."
                )
            }
            members.append((names.joined(separator: "."), offset))
        }
        return members
    }
}

/// Reads the raw values of an enum's cases.
private struct EnumCases {
    private(set) var values: [String: ValueSource] = [:]

    init(_ source: SwiftSource, _ declaration: Declaration, _ body: Range<Int>) {
        guard let raw = declaration.inherited.first.flatMap({ SourceType(source, in: $0) }),
            let type = StorageType.raw[raw.name]
        else { return }
        var index = body.lowerBound
        var next: Int64? = 0
        // The cases inside an #if differ between builds, and so do the implied values of the cases after the #if.
        var conditions = 0
        while index < body.upperBound {
            guard source.isWord(index, "case") else {
                if source.isSymbol(index, "#") {
                    if source.isWord(index + 1, "if") { conditions += 1 }
                    if source.isWord(index + 1, "endif") { conditions -= 1 }
                    next = nil
                }
                let partner = source.matchingBrackets[index]
                index = partner > index ? partner + 1 : index + 1
                continue
            }
            repeat {
                index += 1
                guard index < body.upperBound, source.tokens[index].kind == .identifier else { break }
                let name = source.text(of: index)
                index += 1
                var value: ValueSource? = type == .string ? .string(name) : next.map { .integer($0) }
                if index + 1 < body.upperBound, source.isSymbol(index, "=") {
                    let isNegative = source.isSymbol(index + 1, "-")
                    let end = min(index + (isNegative ? 3 : 2), body.upperBound)
                    value = ExpressionParser.expression(source, in: index + 1..<end).flatMap {
                        ValueSource($0, of: type)
                    }
                    index = end
                }
                values[name] = conditions > 0 ? nil : value
                if case .integer(let number)? = value { next = number == .max ? nil : number + 1 } else { next = nil }
            } while index < body.upperBound && source.isSymbol(index, ",")
        }
    }
}
