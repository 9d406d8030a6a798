internal import DeclarationRules

/// The type of a stored property, as it is spelled.
package struct SourceType: Sendable, Equatable {
    /// The spelling in normalized spacing, without the question mark of an optional.
    package var name: String
    /// The same spelling with the names of the modules, which ``name`` leaves out.
    package var writtenName: String
    package var isOptional = false
    /// The element of `[Element]`, or of `RelatedObjects<Element>`.
    package var element: String?
    /// Whether the type is `RelatedObjects`.
    package var isRelatedObjects = false

    /// Parses the type from tokens. Nil for tuples, functions, types with `any` or `some`, optionals of optionals, and
    /// types that are nested too deeply.
    package init?(_ source: SwiftSource, in range: Range<Int>) {
        var parser = TypeParser(source, range)
        guard let type = parser.type(), parser.isAtEnd else { return nil }
        self = type
    }

    fileprivate init(name: String, written: String, element: String? = nil, isRelatedObjects: Bool = false) {
        self.name = name
        writtenName = written
        self.element = element
        self.isRelatedObjects = isRelatedObjects
    }

    /// The names in the type that the compiler looks up in the scope of the property: `A` and `M` for `[A: M.B]`.
    var namesOfTypes: [String] {
        name.split(whereSeparator: { "[]<>?:, ".contains($0) }).flatMap { $0.split(separator: ".").prefix(1) }
            .map(String.init)
    }

    package var spelling: String { isOptional ? name + "?" : name }
    fileprivate var writtenSpelling: String { isOptional ? writtenName + "?" : writtenName }
}

private struct TypeParser {
    private let source: SwiftSource
    private let end: Int
    private var index: Int
    private var depth = 0

    init(_ source: SwiftSource, _ range: Range<Int>) {
        self.source = source
        index = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { index == end }

    private mutating func take(_ symbol: Unicode.Scalar) -> Bool {
        guard index < end, source.isSymbol(index, symbol) else { return false }
        index += 1
        return true
    }

    mutating func type() -> SourceType? {
        guard depth < 16 else { return nil }
        depth += 1
        defer { depth -= 1 }
        guard var type = take("[") ? collection() : named() else { return nil }
        while take("?") {
            // An optional of an optional is refused, because no column can distinguish its two nils.
            guard !type.isOptional else { return nil }
            type.isOptional = true
        }
        return type
    }

    private mutating func collection() -> SourceType? {
        guard let element = type() else { return nil }
        if take("]") {
            return SourceType(
                name: "[\(element.spelling)]", written: "[\(element.writtenSpelling)]", element: element.spelling)
        }
        guard take(":"), let value = type(), take("]") else { return nil }
        return SourceType(
            name: "[\(element.spelling): \(value.spelling)]",
            written: "[\(element.writtenSpelling): \(value.writtenSpelling)]")
    }

    private mutating func named() -> SourceType? {
        var names: [String] = []
        repeat {
            guard index < end, source.tokens[index].kind == .identifier, !source.isWord(index, "any"),
                !source.isWord(index, "some")
            else { return nil }
            names.append(source.text(source.tokens[index].start..<source.tokens[index].end))
            index += 1
        } while take(".")
        let written = names.joined(separator: ".")
        if let module = names.first, names.count == 2, SourceNames.modules.contains(module) {
            names.removeFirst()
        }
        let name = names.joined(separator: ".")
        guard take("<") else { return SourceType(name: name, written: written) }
        var arguments: [SourceType] = []
        repeat {
            guard let argument = type() else { return nil }
            arguments.append(argument)
        } while take(",")
        guard take(">") else { return nil }
        return generic(name, arguments, written: written)
    }

    private func generic(_ name: String, _ arguments: [SourceType], written: String) -> SourceType? {
        let written = "\(written)<\(arguments.map(\.writtenSpelling).joined(separator: ", "))>"
        switch (name, arguments.count) {
        case ("Optional", 1):
            guard !arguments[0].isOptional else { return nil }
            var type = arguments[0]
            type.isOptional = true
            return type
        case ("Array", 1):
            return SourceType(
                name: "[\(arguments[0].spelling)]", written: written, element: arguments[0].spelling)
        case ("RelatedObjects", 1):
            return SourceType(
                name: "RelatedObjects<\(arguments[0].spelling)>", written: written, element: arguments[0].spelling,
                isRelatedObjects: true)
        default:
            return SourceType(
                name: "\(name)<\(arguments.map(\.spelling).joined(separator: ", "))>", written: written)
        }
    }
}
