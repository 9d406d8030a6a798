/// A reference to a package, as in a dependency: `libc6:amd64 (>= 2.34)`.
///
/// Source: the Debian Policy Manual, section 7.1, "Syntax of relationship fields".
public struct PackageReference: Sendable, Hashable {
    public let name: String
    /// The part after the colon: an architecture, `any` or `native`; nil if there is none.
    public let architecture: String?
    public let version: VersionConstraint?
    /// The reference in a uniform notation, with single spaces.
    public let text: String

    /// The allowed versions of a package.
    public struct VersionConstraint: Sendable, Hashable {
        public let relation: Relation
        public let version: String

        public enum Relation: String, Sendable {
            case earlier = "<<"
            case earlierOrEqual = "<="
            case equal = "="
            case laterOrEqual = ">="
            case later = ">>"
        }

        /// Whether a version is allowed.
        public func allows(_ text: String) -> Bool {
            let (other, bound) = (DebianVersion(text), DebianVersion(version))
            return switch relation {
            case .earlier: other < bound
            case .earlierOrEqual: other <= bound
            case .equal: other == bound
            case .laterOrEqual: other >= bound
            case .later: other > bound
            }
        }
    }

    /// Reads one reference; nil if the string is not a valid reference.
    ///
    /// Lists of architectures and build profiles are ignored, because only source packages have them.
    public init?(_ text: some StringProtocol) {
        var rest = Substring(text)
        while let last = rest.last, last == "]" || last == ">" {
            guard let opening = rest.lastIndex(of: last == "]" ? "[" : "<") else { return nil }
            rest = rest[..<opening].trimmed
        }
        rest = rest.trimmed
        var version: VersionConstraint?
        if rest.last == ")" {
            guard let opening = rest.firstIndex(of: "("),
                let constraint = VersionConstraint(rest[rest.index(after: opening)...].dropLast().trimmed)
            else { return nil }
            version = constraint
            rest = rest[..<opening].trimmed
        }
        let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, name.isPackageName, parts.dropFirst().allSatisfy(\.isPackageName) else {
            return nil
        }
        self.name = String(name)
        architecture = parts.count > 1 ? String(parts[1]) : nil
        self.version = version
        let constraint = version.map { " (\($0.relation.rawValue) \($0.version))" } ?? ""
        self.text = String(rest) + constraint
    }

    /// Reads a field like `Depends`: requirements are separated by commas, and the alternatives of a requirement by bars.
    ///
    /// - Returns: The requirements with their alternatives; nil if a reference is not valid.
    public static func requirements(_ field: String) -> [[PackageReference]]? {
        var requirements: [[PackageReference]] = []
        for requirement in field.split(separator: ",") where !requirement.trimmed.isEmpty {
            let parts = requirement.split(separator: "|", omittingEmptySubsequences: false)
            let alternatives = parts.compactMap { PackageReference($0.trimmed) }
            guard alternatives.count == parts.count else { return nil }
            requirements.append(alternatives)
        }
        return requirements
    }
}

extension PackageReference.VersionConstraint {
    /// Reads the part in parentheses: `>= 2.34`.
    fileprivate init?(_ text: Substring) {
        let sign = text.prefix { "<=>".contains($0) }
        let version = text[sign.endIndex...].trimmed
        guard !version.isEmpty, !version.contains(where: \.isWhitespace) else { return nil }
        switch sign {
        // `<` and `>` are old spellings of `<=` and `>=`.
        case "<": relation = .earlierOrEqual
        case ">": relation = .laterOrEqual
        default:
            guard let relation = Relation(rawValue: String(sign)) else { return nil }
            self.relation = relation
        }
        self.version = String(version)
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var rest = self
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }

    fileprivate var isPackageName: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || [0x2B, 0x2D, 0x2E, 0x5F].contains(byte)
            }
    }
}
