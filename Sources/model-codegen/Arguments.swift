internal import CommandLineWords
internal import ManagedModel
internal import ModelCodeGenerator

/// The parsed command line.
struct Arguments: Sendable {
    var model: String
    var output: String
    /// The other output files. The entities are divided among all output files, so that an edit of one entity
    /// recompiles only a few files.
    var parts: [String]
    var version: String?
    var generator = ModelCodeGenerator()
    /// The files of the model at the time when the build was planned; nil without the option `--watched`.
    var watch: WatchedFiles?

    static let usage = """
        usage: model-codegen MODEL --output FILE [options]

        Writes the Swift source for a model: its classes, its composites, and the model as a value.

          MODEL                    a .xcdatamodeld bundle, or the .xcdatamodel of one version
          --output FILE            the Swift file to write
          --part FILE              another Swift file, for a part of the entities; can be repeated. An edit of one entity then
                                   compiles only a few of the files again
          --version NAME           the version of the model; without it, the current version
          --access LEVEL           public (default), package or internal
          --watched FILE           a file of the model that the build system watches; can be repeated. If given, every other file
                                   of the model is an error, because its edits would go unnoticed
          --settings FILE          the file from which the build system read the options
          --settings-text TEXT     the contents of that file when they were read; other contents are an error
          --code-generation KIND   class, category or manual, for every entity; without it, as in the model
          --help                   shows this text

        Exit codes: 0 written, 1 cannot write the file, 2 wrong usage, 3 cannot read the model,
        4 a file was edited or added after the build was planned.
        """

    init(_ words: [String]) throws {
        let words = try CommandLineWords(
            words,
            values: [
                "--output", "--part", "--version", "--access", "--code-generation", "--watched", "--settings",
                "--settings-text",
            ], lists: ["--watched", "--part"])
        model = try words.plain("MODEL")[0]
        output = try words.required("--output")
        parts = words.list("--part")
        version = words.value("--version")
        let watched = words.list("--watched")
        if !watched.isEmpty {
            watch = WatchedFiles(
                model: model, files: watched, settings: words.value("--settings"),
                settingsText: words.value("--settings-text") ?? "")
        }
        if let level = words.value("--access") { generator.access = try Self.access(level) }
        if let kind = words.value("--code-generation") { generator.codeGeneration = try Self.codeGeneration(kind) }
    }

    private static func access(_ word: String) throws -> AccessLevel {
        guard let level = AccessLevel(rawValue: word) else {
            throw UsageError("--access must be public, package or internal, not \(word)")
        }
        return level
    }

    private static func codeGeneration(_ word: String) throws -> CodeGeneration {
        guard let kind = CodeGeneration(rawValue: word) else {
            throw UsageError("--code-generation must be class, category or manual, not \(word)")
        }
        return kind
    }
}
