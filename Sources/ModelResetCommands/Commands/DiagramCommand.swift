internal import CommandLineWords
internal import ManagedModel

/// Draws the entities of a model.
struct DiagramCommand: Command {
    static let usage = """
        Usage: model-reset diagram MODEL [--version NAME] [--configuration NAME] [--output FILE] [--json]

        Draws the entities of a model, as SVG.

          MODEL                 a .xcdatamodeld bundle, the .xcdatamodel of one version, or a folder or files of Swift
          --version NAME        the version of the model; without it, the current version
          --configuration NAME  the configuration of the model; without it, the whole model
          --output FILE         the file for the drawing (default: standard output)
          --json                prints the answer as JSON, on one line

        """

    let model: ModelArgument
    let output: String?

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(command: words, values: ModelArgument.valueNames.union(["--output"]))
        model = try ModelArgument(words)
        output = words.value("--output")
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let model = try model.read(&warnings, followsVersions: false)
        let svg = SVG(
            EntityGraph(model), title: model.name, subtitle: "Version \(model.version), hash \(model.hash)")
        let text = svg.text
        if let output { try OutputFile(path: output).write(text) }
        let json = JSON.object([
            ("model", .string(model.name)), ("version", .string(model.version)), ("width", .number(svg.width)),
            ("height", .number(svg.height)), ("output", .string(output)),
            ("svg", output == nil ? .string(text) : .null),
        ])
        var report = Report(output.map { ["\($0): \(svg.width) x \(svg.height)"] } ?? [], json)
        if output == nil { report.text = text }
        return report
    }
}
