internal import CommandLineWords

/// One command of the program.
protocol Command {
    /// The output of `--help`. The script `model-reset` reads this string from the source file.
    static var usage: String { get }
    init(_ words: ArraySlice<String>) throws
    /// - Parameter warnings: The list to which the command adds its warnings.
    func run(_ warnings: inout [String]) throws -> Report
}

enum CommandName: String, CaseIterable {
    case hash, diff, status, inspect, reset, restore, check, lock, diagram, convert
    case initialize = "init"

    /// Returns the help for a command line.
    static func usage(for words: [String]) -> String {
        words.lazy.compactMap(CommandName.init).first?.type.usage ?? Usage.text
    }

    static func command(for words: [String]) throws -> any Command {
        guard let index = words.firstIndex(where: { $0 != "--json" }) else {
            throw UsageError("the command is missing; the commands are \(list)")
        }
        guard let name = CommandName(rawValue: words[index]) else {
            throw UsageError("unknown command \(words[index]); the commands are \(list)")
        }
        return try name.type.init((words[..<index] + words[(index + 1)...])[...])
    }

    private var type: any Command.Type {
        switch self {
        case .hash: HashCommand.self
        case .diff: DiffCommand.self
        case .status: StatusCommand.self
        case .inspect: InspectCommand.self
        case .reset: ResetCommand.self
        case .restore: RestoreCommand.self
        case .check: CheckCommand.self
        case .lock: LockCommand.self
        case .diagram: DiagramCommand.self
        case .convert: ConvertCommand.self
        case .initialize: InitCommand.self
        }
    }

    private static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension CommandLineWords {
    /// Parses the words after the name of a command. Every command has the option `--json`.
    init(
        command words: ArraySlice<String>, flags: Set<String> = [], values: Set<String> = [], lists: Set<String> = []
    ) throws {
        try self.init(words, flags: flags.union(["--json"]), values: values, lists: lists)
    }
}
