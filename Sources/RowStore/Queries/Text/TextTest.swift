/// A text operator with its right side, prepared for many texts.
package final class TextTest: Sendable, Hashable {
    package let comparison: TextOperator
    package let pattern: String
    package let options: TextOptions
    private let form: Form

    private enum Form: Sendable {
        /// The bytes to look for, folded.
        case bytes([UInt8])
        case characters(CharacterTest)
        case wildcards(WildcardPattern)
        case expression(PatternTest)
    }

    /// - Throws: `invalidPredicate` for a regular expression that is none.
    package init(
        _ comparison: TextOperator, _ pattern: String, _ options: TextOptions
    ) throws(DataSourceError) {
        self.comparison = comparison
        self.pattern = pattern
        self.options = options
        switch comparison {
        case .contains where options.contains(.characters), .beginsWith where options.contains(.characters),
            .endsWith where options.contains(.characters):
            form = .characters(CharacterTest(comparison, pattern, options))
        case .contains, .beginsWith, .endsWith: form = .bytes(TextFolding.bytes(pattern, options))
        case .like: form = .wildcards(WildcardPattern(pattern, options))
        case .matches: form = .expression(try PatternTest.of(pattern, options))
        }
    }

    /// Whether the text passes.
    package func accepts(_ text: UnsafeRawBufferPointer) -> Bool {
        switch form {
        case .bytes(let wanted):
            guard options.folds else { return TextTest.find(wanted, in: text, comparison) }
            return TextFolding.bytes(text, options).withUnsafeBytes { TextTest.find(wanted, in: $0, comparison) }
        case .characters(let test): return test.accepts(text)
        case .wildcards(let pattern): return pattern.accepts(text)
        case .expression(let test): return test.accepts(text)
        }
    }

    /// Throws if a text could not be tested since the last time.
    package func checkTexts() throws(DataSourceError) {
        if case .expression(let test) = form { try test.checkTexts() }
    }

    private static func find(
        _ wanted: [UInt8], in text: UnsafeRawBufferPointer, _ comparison: TextOperator
    ) -> Bool {
        wanted.withUnsafeBytes { find($0, in: text, comparison) }
    }

    /// Byte by byte.
    static func find(
        _ wanted: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer, _ comparison: TextOperator
    ) -> Bool {
        switch comparison {
        case .beginsWith: ByteSearch.begins(text, with: wanted)
        case .endsWith: ByteSearch.ends(text, with: wanted)
        default: ByteSearch.contains(wanted, in: text)
        }
    }

    package static func == (one: TextTest, other: TextTest) -> Bool {
        one.comparison == other.comparison && one.options == other.options
            && one.pattern.utf8.elementsEqual(other.pattern.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(comparison)
        hasher.combine(options)
        var pattern = pattern
        pattern.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
