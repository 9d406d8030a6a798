internal import Foundation
package import ManagedModel

/// Folds strings. Strings are compared in their folded form if case or diacritics are ignored.
///
/// The folded form is the canonical decomposition of the string. If requested, case is folded and combining marks are removed.
/// The form is the same on every machine and in every locale: `ß` becomes `ss`, `İ` becomes `i` with a dot above, and `ı` stays
/// unchanged. Bytes that are not valid UTF-8 count as U+FFFD.
package enum TextFolding {
    /// Appends the folded form of a string, as UTF-8.
    package static func append(
        _ text: UnsafeRawBufferPointer, _ options: StringOptions, to folded: inout [UInt8]
    ) {
        let options = options.intersection([.caseInsensitive, .diacriticInsensitive])
        let plain = asciiPrefix(text)
        appendASCII(UnsafeRawBufferPointer(rebasing: text[..<plain]), options, to: &folded)
        if plain == text.count { return }
        // The rest may start with a mark that belongs to the last letter of the prefix. The mark can be folded without this
        // letter.
        appendScalars(UnsafeRawBufferPointer(rebasing: text[plain...]), options, to: &folded)
    }

    /// Returns the folded form of a string. Returns the string's own bytes if no option folds strings.
    package static func bytes(_ text: UnsafeRawBufferPointer, _ options: StringOptions) -> [UInt8] {
        guard options.folds else { return Array(text) }
        var folded: [UInt8] = []
        folded.reserveCapacity(text.count + text.count / 8)
        append(text, options, to: &folded)
        return folded
    }

    package static func bytes(_ text: String, _ options: StringOptions) -> [UInt8] {
        var text = text
        return text.withUTF8 { bytes(UnsafeRawBufferPointer($0), options) }
    }

    /// Returns the folded form of a string, as a string.
    package static func string(_ text: String, _ options: StringOptions) -> String {
        String(decoding: bytes(text, options), as: UTF8.self)
    }

    private static func appendASCII(
        _ text: UnsafeRawBufferPointer, _ options: StringOptions, to folded: inout [UInt8]
    ) {
        guard options.contains(.caseInsensitive) else { return folded.append(contentsOf: text) }
        let start = folded.count
        folded.append(contentsOf: text)
        folded.withUnsafeMutableBufferPointer { bytes in
            for index in start..<bytes.count where (0x41...0x5A).contains(bytes[index]) { bytes[index] |= 0x20 }
        }
    }

    private static func appendScalars(
        _ text: UnsafeRawBufferPointer, _ options: StringOptions, to folded: inout [UInt8]
    ) {
        var marks: [ScalarFolding.Part] = []
        // Keep the last folding, because letters are often repeated.
        var last: (scalar: Unicode.Scalar, folding: [ScalarFolding.Part])?
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
            if scalar.isASCII {
                flush(&marks, to: &folded)
                let isUpper = (0x41...0x5A).contains(scalar.value) && options.contains(.caseInsensitive)
                folded.append(isUpper ? UInt8(scalar.value) | 0x20 : UInt8(scalar.value))
                continue
            }
            let folding = last?.scalar == scalar ? last?.folding ?? [] : ScalarFolding.folding(scalar, options)
            last = (scalar, folding)
            for part in folding {
                // Sort marks by their combining class, so that equal strings have equal bytes.
                if part.order != 0 {
                    if !part.isMark || !options.contains(.diacriticInsensitive) { marks.append(part) }
                    continue
                }
                flush(&marks, to: &folded)
                folded.append(contentsOf: UTF8.encode(part.scalar).unsafelyUnwrapped)
            }
        }
        flush(&marks, to: &folded)
    }

    private static func flush(_ marks: inout [ScalarFolding.Part], to folded: inout [UInt8]) {
        if marks.isEmpty { return }
        // Marks of the same combining class keep their order, because `sort` is stable.
        if marks.count > 1 { marks.sort { $0.order < $1.order } }
        for mark in marks { folded.append(contentsOf: UTF8.encode(mark.scalar).unsafelyUnwrapped) }
        marks.removeAll(keepingCapacity: true)
    }

    private static func asciiPrefix(_ text: UnsafeRawBufferPointer) -> Int {
        var position = 0
        while position + 8 <= text.count,
            text.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
            position += 8
        }
        while position < text.count, text[position] < 0x80 { position += 1 }
        return position
    }
}

extension StringTransformation {
    /// Transforms a string. Derived attributes, and the functions of predicates with the same names, use this function.
    ///
    /// A canonical string is folded as in a comparison that ignores case and diacritics. If it is folded again, it does not
    /// change, even with only one of these options. ``ColumnLayout/isFolded`` relies on this.
    package func callAsFunction(_ text: String) -> String {
        switch self {
        case .uppercase: text.uppercased()
        case .lowercase: text.lowercased()
        case .canonical: TextFolding.string(text, [.caseInsensitive, .diacriticInsensitive])
        }
    }
}

extension StringOptions {
    /// Whether strings are compared in a folded form.
    package var folds: Bool {
        !isDisjoint(with: [.caseInsensitive, .diacriticInsensitive, .localized, .characters])
    }

    /// Whether strings are compared as Swift compares strings.
    var isSwift: Bool {
        contains(.characters) && isDisjoint(with: [.caseInsensitive, .diacriticInsensitive, .localized])
    }
}

/// A cache for the folded forms of characters that are not ASCII.
private enum ScalarFolding {
    struct Part {
        let scalar: Unicode.Scalar
        /// Whether the part combines with the previous letter.
        let isMark: Bool
        /// The sort order among the marks of a letter; 0 for a character that starts a new sequence. An iota subscript keeps
        /// its order even if it is folded to a letter.
        let order: UInt8

        init(_ scalar: Unicode.Scalar, foldedFrom origin: Unicode.Scalar) {
            self.scalar = scalar
            let own = scalar.properties.canonicalCombiningClass
            let other = origin.properties.canonicalCombiningClass
            isMark = own != .notReordered
            order = other == .notReordered ? own.rawValue : other.rawValue
        }
    }

    private struct Key: Hashable {
        let scalar: Unicode.Scalar
        let options: StringOptions
    }

    private static let known = Guarded<[Key: [Part]]>([:])
    /// The maximum number of cached characters. When the cache is full, it is emptied.
    private static let limit = 8192

    static func folding(_ scalar: Unicode.Scalar, _ options: StringOptions) -> [Part] {
        let key = Key(scalar: scalar, options: options)
        if let folding = known.withLock({ $0[key] }) { return folding }
        let folding = fold(scalar, options)
        known.withLock { known in
            if known.count >= limit { known.removeAll(keepingCapacity: true) }
            known[key] = folding
        }
        return folding
    }

    private static func fold(_ scalar: Unicode.Scalar, _ options: StringOptions) -> [Part] {
        let decomposed = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars
        guard options.contains(.caseInsensitive) else { return decomposed.map { Part($0, foldedFrom: $0) } }
        return decomposed.flatMap { origin in
            origin.caseFolding.decomposedStringWithCanonicalMapping.unicodeScalars
                .map { Part($0, foldedFrom: origin) }
        }
    }
}

extension Unicode.Scalar {
    /// The full case folding of Unicode, calculated by converting to upper case and then to lower case, twice. This conversion
    /// would turn only one letter into another letter: the dotless i. So the dotless i is returned unchanged.
    fileprivate var caseFolding: String {
        if value == 0x131 { return String(self) }
        var text = String(self)
        for _ in 0..<2 {
            text = text.unicodeScalars.map(\.properties.uppercaseMapping).joined()
            text = text.unicodeScalars.map(\.properties.lowercaseMapping).joined()
        }
        return text
    }
}
