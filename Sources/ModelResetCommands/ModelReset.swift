internal import ManagedModel
internal import ModelReader
internal import RowStore

/// The program `model-reset`: its output and exit code, without side effects on the process.
///
/// `Arguments` parses the command line, `Commands` has one file for each command, `Output` formats the results.
package enum ModelReset {
    /// Runs the command on the command line.
    ///
    /// **Isolation**: none. The call blocks on the disk.
    ///
    /// - Parameter print: Called with each part of the output of a command that runs until the program is ended.
    package static func run(_ words: [String], print: (Outcome) -> Void = { _ in }) -> Outcome {
        if words.contains("--help") || words.contains("-h") { return Outcome(output: CommandName.usage(for: words)) }
        // After a command, --version is the version of the model.
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
    package var status: Int32 = ExitStatus.fine.rawValue

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
    /// Change the version by hand with each release. Stores depend on ``ManagedObjectModel/schemaFormat``, and not on this
    /// version.
    package static let version = "0.1.0"

    static var report: Report {
        Report(
            ["model-reset \(version)"],
            .object([("version", .string(version)), ("schemaFormat", .number(ManagedObjectModel.schemaFormat))]))
    }
}
