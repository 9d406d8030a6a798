/// The words of a command line, sorted into flags, options with a value, and plain words.
///
/// The value of an option is the next word, or the part of the option's word after `=`. All words after `--` are plain.
package struct CommandLineWords {
    /// The words that are neither options nor their values.
    package private(set) var plain: [String] = []
    private var flags: Set<String> = []
    private var values: [String: [String]] = [:]

    /// - Parameters:
    ///   - words: The words after the name of the program.
    ///   - flagNames: The options without a value.
    ///   - valueNames: The options with a value.
    ///   - listNames: Those of `valueNames` that a command line can repeat.
    /// - Throws: An error for an unknown option, an option without its value, or a second value of an option that is
    ///   not in `listNames`.
    package init(
        _ words: some Sequence<String>, flags flagNames: Set<String> = [], values valueNames: Set<String> = [],
        lists listNames: Set<String> = []
    ) throws(UsageError) {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if word == "--" {
                plain += rest
                break
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if flagNames.contains(word) {
                flags.insert(word)
            } else if let name = parts.first, valueNames.contains(name) {
                // An empty word is a valid value, because a database key can be empty.
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                    throw UsageError("\(name) needs a value")
                }
                guard values[name] == nil || listNames.contains(name) else {
                    throw UsageError("duplicate option \(name)")
                }
                values[name, default: []].append(value)
            } else if word.hasPrefix("-") {
                throw UsageError("unknown option \(word)")
            } else {
                plain.append(word)
            }
        }
    }

    package func flag(_ name: String) -> Bool { flags.contains(name) }

    package func value(_ name: String) -> String? { values[name]?.first }

    package func list(_ name: String) -> [String] { values[name] ?? [] }

    package func required(_ name: String) throws(UsageError) -> String {
        guard let value = value(name) else { throw UsageError("\(name) is missing") }
        return value
    }

    /// Returns the plain words, and checks that there is exactly one for each name. Error messages show the names.
    package func plain(_ names: String...) throws(UsageError) -> [String] {
        if plain.count < names.count { throw UsageError("\(names[plain.count]) is missing") }
        if plain.count > names.count { throw UsageError("unexpected argument \(plain[names.count])") }
        return plain
    }

    /// Checks that the command line has no options except these, for a command with only some of the program's options.
    package func allow(only names: Set<String>) throws(UsageError) {
        if let name = flags.union(values.keys).subtracting(names).min() {
            throw UsageError("\(name) does not belong to this command")
        }
    }
}

/// An error in the command line arguments.
package struct UsageError: Error {
    package let message: String

    package init(_ message: String) {
        self.message = message
    }
}
