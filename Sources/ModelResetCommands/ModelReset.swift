internal import ManagedModel
internal import ModelReader
internal import RowStore

/// The program `model-reset`. Its functions return the output and the exit code, and do not affect the process.
///
/// The folder `Arguments` parses the command line, `Commands` has a file for each command, and `Output` formats the
/// results.
package enum ModelReset {
    /// Runs the command that is named on the command line.
    ///
    /// **Isolation**: none. The call blocks its thread while it reads and writes files.
    ///
    /// - Parameter print: Prints a part of the output. Only a command that runs until the program is ended calls this function.
    package static func run(_ words: [String], print: (Outcome) -> Void = { _ in }) -> Outcome {
        if words.contains("--help") || words.contains("-h") { return Outcome(output: CommandName.usage(for: words)) }
        // After the name of a command, `--version NAME` selects the version of the model.
        if words.filter({ $0 != "--json" }) == ["--version"] {
            return Outcome(Release.report, asJSON: words.contains("--json"), warnings: [])
        }
        var warnings: [String] = []
        do {
            let command = try CommandName.command(for: words)
            let report = try command.run(&warnings)
            let outcome = Outcome(report, asJSON: words.contains("--json"), warnings: warnings)
            guard let follow = report.follow else { return outcome }
            print(outcome)
            warnings = []
            try follow { print(Outcome($0, asJSON: words.contains("--json"), warnings: [])) }
            return Outcome(output: "")
        } catch {
            return Outcome(Failure(error), asJSON: words.contains("--json"), warnings: warnings)
        }
    }
}

/// The result of a run.
package struct Outcome: Sendable {
    package var output: String
    package var errors: String = ""
    package var status: Int32 = ExitStatus.success.rawValue

    init(output: String) {
        self.output = output
    }

    init(_ report: Report, asJSON: Bool, warnings: [String]) {
        output = asJSON ? report.json.text + "\n" : report.text
        errors = (warnings + report.errors).map { $0 + "\n" }.joined()
        status = report.status.rawValue
    }

    init(_ failure: Failure, asJSON: Bool, warnings: [String]) {
        output = asJSON ? failure.json.text + "\n" : ""
        errors = (warnings + [failure.text]).map { $0 + "\n" }.joined()
        status = failure.status.rawValue
    }
}

/// The release of the program.
package enum Release {
    /// The version of the program, which is changed by hand for each release. Stores do not depend on this version, but
    /// on ``ManagedObjectModel/schemaFormat``.
    package static let version = "0.1.0"

    static var report: Report {
        Report(
            ["model-reset \(version)"],
            .object([("version", .string(version)), ("schemaFormat", .number(ManagedObjectModel.schemaFormat))]))
    }
}
