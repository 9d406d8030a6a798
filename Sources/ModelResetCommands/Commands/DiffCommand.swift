internal import CommandLineWords
internal import ManagedModel
internal import ModelMigration

/// Shows the differences between two models, or between two versions of one bundle.
struct DiffCommand: Command {
    static let usage = """
        Usage: model-reset diff OLD NEW [--configuration NAME] [--json]
               model-reset diff BUNDLE OLD-VERSION NEW-VERSION [--configuration NAME] [--json]

        Lists the differences between two models, and shows what a migration would keep and lose. Rules and default values that
        changed are listed, too, although no store is reset because of them. A lock file is no model: model-reset check lists
        the differences between a model and a lock file.

          OLD, NEW              models: .xcdatamodeld bundles, the .xcdatamodel of one version, or folders or files of Swift;
                                several files of one model have commas between them, as in Model.swift,Item.swift
          BUNDLE                a .xcdatamodeld bundle with both versions
          --configuration NAME  the configuration of both models; without it, the whole models
          --json                prints the answer as JSON, on one line

        Exit status: 0 the models have the same persisted shape; 1 the models differ.

        """

    let old: ModelArgument
    let new: ModelArgument

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(command: words, values: ["--configuration"])
        let configuration = words.value("--configuration")
        if words.plain.count > 2, words.plain.allSatisfy(ModelArgument.isSwiftFile) {
            throw UsageError(
                "diff compares two models; write the files of each model with commas between them, as in Model.swift,Item.swift"
            )
        }
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
        let (old, new) = try models(&warnings)
        let rules = ModelRules(of: old).changes(to: ModelRules(of: new), of: [old, new])
        let differs = old.hash != new.hash
        let comparison = ModelComparison(from: old, to: new)
        let json = JSON.object([
            ("differs", .flag(differs)), ("old", DiffCommand.json(old)), ("new", DiffCommand.json(new)),
            ("changes", comparison.changesJSON), ("rules", .strings(rules)),
            ("migration", comparison.migrationJSON),
        ])
        guard differs else {
            return Report(
                ["The models have the same persisted shape: no store is reset."] + rules.map { "  \($0)" }, json)
        }
        return Report(comparison.lines + ModelRules.lines(rules), json, status: .differs)
    }

    /// Reads both models. If both models cause the same warning, it is reported only once.
    private func models(_ warnings: inout [String]) throws -> (ManagedObjectModel, ManagedObjectModel) {
        var (before, after): ([String], [String]) = ([], [])
        defer {
            let known = Set(after.map(Self.problem))
            warnings += before.filter { !known.contains(Self.problem($0)) } + after
        }
        let old = try old.read(&before, followsVersions: false)
        return (old, try new.read(&after))
    }

    /// Returns a warning without its location.
    private static func problem(_ warning: String) -> Substring {
        warning.firstRange(of: ": warning: ").map { warning[$0.upperBound...] } ?? warning[...]
    }

    private static func json(_ model: ManagedObjectModel) -> JSON {
        .object([
            ("model", .string(model.name)), ("version", .string(model.version)),
            ("hash", .string(model.hash.description)),
        ])
    }
}
