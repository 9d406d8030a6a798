/// Writes the lock file: `check` with `--update`.
struct LockCommand: Command {
    static let usage = """
        Usage: model-reset lock [MODEL]... [--lock FILE] [--strict] [--json]

        Records models in the committed lock file, as check --update does. Lists first what changed, as check does.

          MODEL                 a .xcdatamodeld bundle, the .xcdatamodel of one version, a folder of Swift, or files of Swift;
                                all files are one model; without MODEL, all models that the lock file names, and all bundles
                                in its folder and below
          --lock FILE           the lock file (default: Models/model.lock)
          --strict              writes nothing if there are warnings
          --json                prints the answer as JSON, on one line

        Exit status: 0 the lock file was written; 1 --strict found a warning; 3 a model or the lock file cannot be read.

        """

    private let check: CheckCommand

    init(_ words: ArraySlice<String>) throws {
        check = try CheckCommand((["--update"] + words)[...])
    }

    func run(_ warnings: inout [String]) throws -> Report { try check.run(&warnings) }
}
