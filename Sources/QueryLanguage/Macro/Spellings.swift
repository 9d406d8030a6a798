internal import Foundation

extension String {
    /// All strings that are canonically equivalent to this string, and so equal in Swift, including the string itself.
    ///
    /// - Returns: Nil if the string has more than 512 bytes, if there are more than 16 spellings, or if it is uncertain
    ///   that Swift treats the spellings as equal.
    package var spellings: [String]? {
        if hasSingleSpelling { return [self] }
        guard utf8.count <= Spelling.maxLength else { return nil }
        let scalars = Array(decomposedStringWithCanonicalMapping.unicodeScalars)
        guard scalars.allSatisfy(Spelling.isCertain) else { return nil }
        var search = Spelling.Search(compositions: scalars.allSatisfy(\.isASCII) ? Spelling.ofASCII : Spelling.all)
        guard search.extend([], with: scalars[...]), search.found.allSatisfy({ $0 == self }) else { return nil }
        return search.found
    }
}

/// The rules by which consecutive scalars can be written as other scalars.
private enum Spelling {
    static let maxLength = 512
    static let maxSpellings = 16
    /// U+FFFD also replaces bytes that are not UTF-8. U+0F71 begins Tibetan marks that count as letters, but the parts of these
    /// marks do not. So the preceding scalars determine whether Swift treats such a mark and its parts as equal.
    private static let uncertain: Set<Unicode.Scalar> = ["\u{FFFD}", "\u{F71}"]

    /// Whether Swift is certain to treat a scalar as equal to its canonically equivalent scalars. Swift's tables contradict
    /// each other for marks that are new in Unicode.
    static func isCertain(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return true }
        guard let age = scalar.properties.age, age.major <= 14 else { return false }
        return !uncertain.contains(scalar)
    }

    /// A scalar that is canonically equivalent to other scalars.
    struct Composition {
        var scalar: Unicode.Scalar
        var parts: [Unicode.Scalar]
    }

    /// The compositions of ASCII scalars, by their first part. An ASCII string needs only this table.
    static let ofASCII: [Unicode.Scalar: [Composition]] = [
        ";": [Composition(scalar: "\u{37E}", parts: [";"])],
        "K": [Composition(scalar: "\u{212A}", parts: ["K"])],
        "`": [Composition(scalar: "\u{1FEF}", parts: ["`"])],
    ]

    /// All compositions by their first part, except Hangul syllables, which are calculated.
    static let all: [Unicode.Scalar: [Composition]] = {
        // All scalars that can be decomposed are in these ranges. One call decomposes all of them, which is many times
        // faster than one call for each.
        let ranges: [ClosedRange<UInt32>] = [
            0xA0...0x33FF, 0xA000...0xABFF, 0xF900...0xFFFC, 0x1_0000...0x1_FFFF, 0x2_F800...0x2_FAFF,
        ]
        let scalars = ranges.joined().compactMap(Unicode.Scalar.init)
        let text = String(String.UnicodeScalarView(scalars.flatMap { [$0, "\n"] }))
        let decompositions = text.decomposedStringWithCanonicalMapping.unicodeScalars.split(separator: "\n")
        var compositions: [Unicode.Scalar: [Composition]] = [:]
        for (scalar, parts) in zip(scalars, decompositions) where parts.first != scalar {
            guard let first = parts.first else { continue }
            compositions[first, default: []].append(Composition(scalar: scalar, parts: Array(parts)))
        }
        return compositions
    }()

    /// The Hangul syllables that the first scalars can be written as.
    static func syllables(_ scalars: ArraySlice<Unicode.Scalar>) -> [Composition] {
        let parts = scalars.prefix(3)
        let values = parts.map(\.value)
        guard values.count > 1, (0x1100...0x1112).contains(values[0]), (0x1161...0x1175).contains(values[1]) else {
            return []
        }
        let open = 0xAC00 + ((values[0] - 0x1100) * 21 + values[1] - 0x1161) * 28
        var syllables = [(open, 2)]
        if values.count == 3, (0x11A8...0x11C2).contains(values[2]) { syllables.append((open + values[2] - 0x11A7, 3)) }
        return syllables.compactMap { value, count in
            Unicode.Scalar(value).map { Composition(scalar: $0, parts: Array(parts.prefix(count))) }
        }
    }

    /// Finds all spellings of a decomposed string.
    struct Search {
        let compositions: [Unicode.Scalar: [Composition]]
        private(set) var found: [String] = []

        init(compositions: [Unicode.Scalar: [Composition]]) {
            self.compositions = compositions
        }

        /// Adds the strings that consist of a start and any spelling of the rest.
        ///
        /// - Returns: False if there are too many.
        mutating func extend(_ start: [Unicode.Scalar], with rest: ArraySlice<Unicode.Scalar>) -> Bool {
            if rest.isEmpty {
                found.append(String(String.UnicodeScalarView(start)))
                return found.count <= Spelling.maxSpellings
            }
            for index in available(rest) {
                let scalar = rest[index]
                let single = Composition(scalar: scalar, parts: [scalar])
                for next in [single] + (compositions[scalar] ?? [])
                    + (index == rest.startIndex ? Spelling.syllables(rest) : [])
                {
                    guard let left = removing(next.parts, from: rest) else { continue }
                    if !extend(start + [next.scalar], with: left) { return false }
                }
            }
            return true
        }

        /// The positions of the scalars that can be written next. Marks of different combining classes can have any order.
        private func available(_ rest: ArraySlice<Unicode.Scalar>) -> [Int] {
            var indexes: [Int] = []
            var last: Unicode.CanonicalCombiningClass?
            for index in rest.indices {
                let own = rest[index].properties.canonicalCombiningClass
                if own == .notReordered { return indexes.isEmpty ? [index] : indexes }
                // Marks of the same class keep their order.
                if own != last { indexes.append(index) }
                last = own
            }
            return indexes
        }

        /// The scalars that are left of `rest` after the parts were written in their order; nil if the parts cannot be
        /// written.
        private func removing(
            _ parts: [Unicode.Scalar], from rest: ArraySlice<Unicode.Scalar>
        ) -> ArraySlice<Unicode.Scalar>? {
            var rest = rest
            for part in parts {
                guard let index = available(rest).first(where: { rest[$0] == part }) else { return nil }
                rest.remove(at: index)
            }
            return rest
        }
    }
}

/// The name of a node in the source of a predicate, for messages.
func constructName(_ expression: any PredicateExpression) -> String {
    let type = "\(type(of: expression))".prefix { $0 != "<" }
    let name = type.split(separator: ".").last.map(String.init) ?? String(type)
    return sourceNames[name] ?? name
}

/// The spelling in the predicate's source for each node that Foundation names differently.
private let sourceNames = [
    "CollectionIndexSubscript": "a subscript",
    "CollectionRangeSubscript": "a subscript",
    "DictionaryKeyDefaultValueSubscript": "a subscript",
    "DictionaryKeySubscript": "a subscript",
    "ExpressionEvaluate": ".evaluate",
    "Filter": ".filter",
    "PredicateEvaluate": ".evaluate",
    "SequenceMaximum": ".max()",
    "SequenceMinimum": ".min()",
    "StringCaseInsensitiveCompare": ".caseInsensitiveCompare",
    "StringContainsRegex": ".contains of a regular expression",
    "StringLocalizedCompare": ".localizedCompare",
    "StringLocalizedStandardContains": ".localizedStandardContains",
    "TypeCheck": "is",
]
