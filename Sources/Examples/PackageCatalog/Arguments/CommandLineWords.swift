/// The words of a command line, sorted into options and others, to be read one by one.
///
/// An option's value is the next word, or follows after `=`. After `--`, words are not read as options.
struct CommandLineWords {
    private var flags: Set<String> = []
    private var values: [String: String] = [:]
    private var words: ArraySlice<String> = []

    private static let flagNames: Set = ["--help", "--memory", "--maintainer", "--shared"]
    private static let valueNames: Set = [
        "--input", "--store", "--database-key", "--section", "--search", "--limit", "--rdepends",
    ]

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            if word == "--" {
                words += rest
                break
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if word == "-h" || Self.flagNames.contains(word) {
                flags.insert(word == "-h" ? "--help" : word)
            } else if Self.valueNames.contains(parts[0]) {
                guard let value = parts.count == 2 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                    throw UsageError(message: "\(parts[0]) needs a value")
                }
                if values.updateValue(value, forKey: parts[0]) != nil {
                    throw UsageError(message: "\(parts[0]) is given twice")
                }
            } else if word.hasPrefix("-") {
                throw UsageError(message: "There is no option \(word)")
            } else {
                words.append(word)
            }
        }
    }

    mutating func takeFlag(_ name: String) -> Bool { flags.remove(name) != nil }

    mutating func takeValue(_ name: String) -> String? { values.removeValue(forKey: name) }

    mutating func takeNumber(_ name: String) throws -> Int? {
        guard let text = takeValue(name) else { return nil }
        guard let number = Int(text), number >= 0 else {
            throw UsageError(message: "\(name) needs a number, not \(text)")
        }
        return number
    }

    mutating func takeWord() -> String? { words.popFirst() }

    mutating func takeWords() -> [String] {
        defer { words = [] }
        return Array(words)
    }

    /// Checks that everything was read: what is left does not belong to the command.
    func checkEmpty() throws {
        if let name = flags.union(values.keys).min() {
            throw UsageError(message: "\(name) does not belong to this command")
        }
        if let word = words.first { throw UsageError(message: "\(word) is an unexpected argument") }
    }
}
