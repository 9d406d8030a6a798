internal import CommandLineWords
internal import ManagedModel

/// Shows the differences between two models, or between two versions of one bundle.
struct DiffCommand: Command {
    static let usage = """
        Usage: model-reset diff OLD NEW [--configuration NAME] [--json]
               model-reset diff BUNDLE OLD-VERSION NEW-VERSION [--configuration NAME] [--json]

        Lists the differences between two models, and shows what a migration would keep and lose.

          OLD, NEW              models: .xcdatamodeld bundles, the .xcdatamodel of one version, or folders or files of Swift
          BUNDLE                a .xcdatamodeld bundle with both versions
          --configuration NAME  the configuration of both models; without it, the whole models
          --json                prints the answer as JSON, on one line

        Exit status: 0 the models have the same persisted shape, 1 the models differ.

        """

    let old: ModelArgument
    let new: ModelArgument

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(command: words, values: ["--configuration"])
        let configuration = words.value("--configuration")
        if words.plain.count == 3 {
            old = ModelArgument(path: words.plain[0], version: words.plain[1], configuration: configuration)
            new = ModelArgument(path: words.plain[0], version: words.plain[2], configuration: configuration)
        } else {
            let paths = try words.plain("OLD", "NEW")
            old = ModelArgument(path: paths[0], configuration: configuration)
            new = ModelArgument(path: paths[1], configuration: configuration)
        }
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let old = try old.read(&warnings, followsVersions: false)
        let new = try new.read(&warnings)
        let differs = old.hash != new.hash
        let comparison = ModelComparison(from: old, to: new)
        let json = JSON.object([
            ("differs", .flag(differs)), ("old", DiffCommand.json(old)), ("new", DiffCommand.json(new)),
            ("changes", comparison.changesJSON), ("migration", comparison.migrationJSON),
        ])
        guard differs else {
            return Report(["The models have the same persisted shape: no store is reset."], json)
        }
        return Report(comparison.lines, json, status: .differs)
    }

    private static func json(_ model: ManagedObjectModel) -> JSON {
        .object([
            ("model", .string(model.name)), ("version", .string(model.version)),
            ("hash", .string(model.hash.description)),
        ])
    }
}
