/// Comparing texts character by character, as Swift does: a letter and its mark are one, and what is canonically equivalent is
/// equal.
struct CharacterTest: Sendable {
    private let comparison: TextOperator
    private let wanted: String
    private let options: TextOptions
    /// Its bytes, if each is a character of its own.
    private let plain: [UInt8]?

    init(_ comparison: TextOperator, _ wanted: String, _ options: TextOptions) {
        self.comparison = comparison
        self.wanted = CharacterTest.form(wanted, options)
        self.options = options
        let bytes = Array(self.wanted.utf8)
        plain = bytes.withUnsafeBytes(CharacterTest.isPlain) ? bytes : nil
    }

    func accepts(_ text: UnsafeRawBufferPointer) -> Bool {
        if options == .characters, let plain, CharacterTest.isPlain(text) {
            return plain.withUnsafeBytes { TextTest.find($0, in: text, comparison) }
        }
        let text = CharacterTest.form(String(decoding: text, as: UTF8.self), options)
        return switch comparison {
        case .beginsWith: text.starts(with: wanted)
        case .endsWith: text.reversed().starts(with: wanted.reversed())
        default: CharacterTest.holds(text, wanted)
        }
    }

    /// Negative, 0 or positive.
    static func compare(_ one: String, _ other: String, _ options: TextOptions) -> Int {
        let (one, other) = (form(one, options), form(other, options))
        return one == other ? 0 : one < other ? -1 : 1
    }

    private static func form(_ text: String, _ options: TextOptions) -> String {
        options == .characters ? text : String(decoding: TextFolding.bytes(text, options), as: UTF8.self)
    }

    /// ASCII without a carriage return, which a line feed would join.
    private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
        text.allSatisfy { $0 < 0x80 && $0 != 0x0D }
    }

    /// As a collection of characters: texts have other functions of that name.
    private static func holds<Text: Collection>(_ text: Text, _ part: Text) -> Bool where Text.Element: Equatable {
        text.contains(part)
    }
}
