internal import ManagedModel
internal import ModelCodeGenerator

/// The parsed command line.
struct Arguments: Sendable {
    var model: String
    var output: String
    var version: String?
    var generator = ModelCodeGenerator()

    static let usage = """
        usage: model-codegen MODEL --output FILE [options]

        Writes the Swift of a model: its classes, its composites, and the model as a value.

          MODEL                    a .xcdatamodeld bundle, or the .xcdatamodel of one version
          --output FILE            the Swift file to write
          --version NAME           the version of the model; without it, the current one
          --access LEVEL           public (default), package or internal
          --code-generation KIND   class, category or manual, for every entity; without it, what the model says
          --help                   shows this text

        Exit codes: 0 written, 1 cannot write the file, 2 wrong usage, 3 cannot read the model.
        """

    /// An invalid command line, and why.
    struct UsageError: Error {
        var message: String
    }

    init(_ words: [String]) throws(UsageError) {
        var positional: [String] = []
        var options: [String: String] = [:]
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else {
                positional.append(word)
                continue
            }
            guard Self.options.contains(word) else { throw UsageError(message: "unknown option \(word)") }
            guard let value = rest.popFirst() else { throw UsageError(message: "\(word) needs a value") }
            guard options.updateValue(value, forKey: word) == nil else {
                throw UsageError(message: "duplicate option \(word)")
            }
        }
        guard let model = positional.first else { throw UsageError(message: "MODEL is missing") }
        guard positional.count == 1 else { throw UsageError(message: "unexpected argument \(positional[1])") }
        guard let output = options["--output"] else { throw UsageError(message: "--output is missing") }
        self.model = model
        self.output = output
        version = options["--version"]
        if let level = options["--access"] { generator.access = try Self.access(level) }
        if let kind = options["--code-generation"] { generator.codeGeneration = try Self.codeGeneration(kind) }
    }

    private static let options: Set<String> = ["--output", "--version", "--access", "--code-generation"]

    private static func access(_ word: String) throws(UsageError) -> AccessLevel {
        guard let level = AccessLevel(rawValue: word) else {
            throw UsageError(message: "--access must be public, package or internal, not \(word)")
        }
        return level
    }

    private static func codeGeneration(_ word: String) throws(UsageError) -> CodeGeneration {
        guard let kind = CodeGeneration(rawValue: word) else {
            throw UsageError(message: "--code-generation must be class, category or manual, not \(word)")
        }
        return kind
    }
}
