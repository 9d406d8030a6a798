/// A pattern in which `?` is any one character and `*` any number of them; `\` takes the next character for itself.
///
/// A character is what a person sees as one, marks and all. The time is at most the product of both lengths.
struct WildcardPattern: Sendable {
    private enum Token: Hashable {
        case one, any
        /// The bytes of a character, folded.
        case character([UInt8])
    }

    private let tokens: [Token]
    private let options: TextOptions

    init(_ pattern: String, _ options: TextOptions) {
        self.options = options
        var tokens: [Token] = []
        var literal = ""
        var isEscaped = false
        func end() {
            if literal.isEmpty { return }
            let folded = TextFolding.bytes(literal, options)
            folded.withUnsafeBytes { bytes in
                tokens += WildcardPattern.characters(bytes).map { .character(Array(bytes[$0])) }
            }
            literal = ""
        }
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "?" where !isEscaped, "*" where !isEscaped:
                end()
                let token = scalar == "?" ? Token.one : .any
                // Two runs in a row are one.
                if token == .one || tokens.last != .any { tokens.append(token) }
            default: literal.unicodeScalars.append(scalar)
            }
            isEscaped = false
        }
        if isEscaped { literal.append("\\") }
        end()
        self.tokens = tokens
    }

    func accepts(_ text: UnsafeRawBufferPointer) -> Bool {
        guard options.folds else { return matches(text) }
        return TextFolding.bytes(text, options).withUnsafeBytes(matches)
    }

    /// Goes forward greedily, and back to the last run of any characters when that fails.
    private func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        let characters = WildcardPattern.characters(text)
        var token = 0
        var position = 0
        var retry: (token: Int, position: Int)?
        while position < characters.count {
            if token < tokens.count {
                switch tokens[token] {
                case .any:
                    token += 1
                    retry = (token, position)
                    continue
                case .one:
                    token += 1
                    position += 1
                    continue
                case .character(let bytes):
                    if UnsafeRawBufferPointer(rebasing: text[characters[position]]).elementsEqual(bytes) {
                        token += 1
                        position += 1
                        continue
                    }
                }
            }
            guard let last = retry else { return false }
            retry = (last.token, last.position + 1)
            token = last.token
            position = last.position + 1
        }
        return tokens[token...].allSatisfy { $0 == .any }
    }

    /// Where each character is.
    static func characters(_ text: UnsafeRawBufferPointer) -> [Range<Int>] {
        // Only a carriage return can be part of a longer character of ASCII.
        if text.allSatisfy({ $0 < 0x80 && $0 != 0x0D }) { return text.indices.map { $0..<$0 + 1 } }
        var characters: [Range<Int>] = []
        var start = 0
        let string = String(decoding: text, as: UTF8.self)
        guard string.utf8.count == text.count else { return text.indices.map { $0..<$0 + 1 } }
        for character in string {
            let end = start + character.utf8.count
            characters.append(start..<end)
            start = end
        }
        return characters
    }
}
