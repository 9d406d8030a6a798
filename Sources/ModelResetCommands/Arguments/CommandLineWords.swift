/// The words after the name of a command, sorted into flags, options with a value, and the rest.
///
/// An option's value is the next word, or follows after `=`. After `--`, words are not read as options.
struct CommandLineWords {
    private(set) var plain: [String] = []
    private var flags: Set<String> = []
    private var values: [String: [String]] = [:]

    /// - Parameter listNames: The options with a value that may be given several times.
    /// - Throws: A usage error for an option that the command does not have.
    init(
        _ words: some Sequence<String>, flags flagNames: Set<String>, values valueNames: Set<String>,
        lists listNames: Set<String> = []
    ) throws {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if word == "--" {
                plain += rest
                break
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if flagNames.contains(word) || word == "--json" {
                flags.insert(word)
            } else if let name = parts.first, valueNames.contains(name) {
                // A database key may be empty, so an empty word is a valid value.
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

    func flag(_ name: String) -> Bool { flags.contains(name) }

    func value(_ name: String) -> String? { values[name]?.first }

    func list(_ name: String) -> [String] { values[name] ?? [] }

    func required(_ name: String) throws -> String {
        guard let value = value(name) else { throw UsageError("\(name) is missing") }
        return value
    }

    /// The plain words, one for each name.
    func plain(_ names: String...) throws -> [String] {
        if plain.count < names.count { throw UsageError("\(names[plain.count]) is missing") }
        if plain.count > names.count { throw UsageError("unexpected argument \(plain[names.count])") }
        return plain
    }
}

/// The arguments are invalid.
struct UsageError: Error {
    var message: String

    init(_ message: String) {
        self.message = message
    }
}
