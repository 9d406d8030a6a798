internal import ModelReader
internal import RowStore

/// The program `model-reset`: what it prints and how it exits, without doing either.
///
/// `Arguments` sorts the command line, `Commands` has one file per command, `Output` is what they make.
package enum ModelReset {
    /// Runs the command that the words name.
    ///
    /// **Isolation**: none. It blocks on the disk.
    ///
    /// - Parameter print: Called with each part of the output of a command that goes on until the program is ended.
    package static func run(_ words: [String], print: (Outcome) -> Void = { _ in }) -> Outcome {
        if words.contains("--help") || words.contains("-h") { return Outcome(output: Usage.text) }
        // Behind a command, --version is that of the model.
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

/// What the program leaves behind.
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
