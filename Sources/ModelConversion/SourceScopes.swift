internal import ModelSource

/// The types that files declare, by their paths. The path of a type has the names of its enclosing types and its own name, as
/// in `Library.Shelf`.
///
/// The look-up of a name follows the rules of the compiler: from the innermost type outwards, and in each type also
/// through its superclasses.
struct SourceScopes {
    enum Lookup {
        case type(String)
        case alias(SourceFolder.File, offset: Int)
        case missing
    }

    private var types: Set<String> = []
    private var aliases: [String: (file: SourceFolder.File, offset: Int)] = [:]
    /// The superclass or the first protocol of each class, in the spelling of the source, by the path of the class.
    private var superclasses: [String: String] = [:]
    /// The paths of superclasses that the files declare.
    private var parents: [String: String] = [:]
    private static let nestingLimit = 32

    static func path(_ name: String, in scope: String) -> String { scope.isEmpty ? name : "\(scope).\(name)" }

    /// The path of the enclosing type; empty for a type outside of all other types.
    static func scope(of path: String) -> String {
        path.lastIndex(of: ".").map { String(path[..<$0]) } ?? ""
    }

    mutating func add(_ declaration: Declaration, at path: String, _ source: SwiftSource) {
        // An extension can be the only part of its type in these files, so the types in its name are added, too.
        var part = path
        while !part.isEmpty, types.insert(part).inserted { part = Self.scope(of: part) }
        guard declaration.kind == .class, let first = declaration.inherited.first else { return }
        superclasses[path] = SourceType(source, in: first)?.name
    }

    /// Adds the typealiases in a range of tokens, but not those inside of braces.
    mutating func addAliases(_ file: SourceFolder.File, _ range: Range<Int>, in scope: String) {
        let source = file.source
        var index = range.lowerBound
        while index < range.upperBound {
            if source.isWord(index, "typealias"), index + 1 < range.upperBound,
                source.tokens[index + 1].kind == .identifier
            {
                aliases[Self.path(source.text(of: index + 1), in: scope)] = (file, source.tokens[index + 1].start)
            }
            let partner = source.matchingBrackets[index]
            index = partner > index ? partner + 1 : index + 1
        }
    }

    /// Finds the superclasses. Call this function after all types were added.
    mutating func resolveSuperclasses() {
        // Find the superclasses of the enclosing types first: the superclass of a nested class can be declared in a superclass
        // of an enclosing type.
        let classes = superclasses.sorted {
            ($0.key.count { $0 == "." }, $0.key) < ($1.key.count { $0 == "." }, $1.key)
        }
        for (path, superclass) in classes {
            if case .type(let parent) = lookup(superclass, in: Self.scope(of: path)) { parents[path] = parent }
        }
    }

    /// Looks up a type by its name.
    ///
    /// - Parameters:
    ///   - name: The name in the spelling of the source.
    ///   - scope: The path of the type in which the name is used.
    func lookup(_ name: String, in scope: String) -> Lookup {
        var parts = name.replacing("`", with: "").split(separator: ".").map(String.init)[...]
        guard let first = parts.popFirst() else { return .missing }
        var scope = scope
        while true {
            if let found = member(first, of: scope) {
                return parts.reduce(found) { found, part in
                    guard case .type(let path) = found else { return found }
                    return member(part, of: path) ?? .missing
                }
            }
            if scope.isEmpty { return .missing }
            scope = Self.scope(of: scope)
        }
    }

    /// Finds a type in another type or in its superclasses; nil if there is none.
    private func member(_ name: String, of type: String) -> Lookup? {
        var type = type
        for _ in 0..<Self.nestingLimit {
            let path = Self.path(name, in: type)
            if let alias = aliases[path] { return .alias(alias.file, offset: alias.offset) }
            if types.contains(path) { return .type(path) }
            guard let parent = parents[type] else { return nil }
            type = parent
        }
        return nil
    }
}
