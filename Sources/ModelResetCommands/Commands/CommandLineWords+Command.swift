internal import CommandLineWords

extension CommandLineWords {
    /// The words after the name of a command. Every command has `--json`.
    init(
        command words: ArraySlice<String>, flags: Set<String> = [], values: Set<String> = [], lists: Set<String> = []
    ) throws {
        try self.init(words, flags: flags.union(["--json"]), values: values, lists: lists)
    }
}
