/// The exit codes of the program.
enum ExitStatus: Int32 {
    case fine = 0
    case differs = 1
    case usage = 2
    case unreadableModel = 3
    case storeError = 4
}

/// The result of a command, for people and for programs.
struct Report {
    /// Whole lines.
    var text: String
    var json: JSON
    var status: ExitStatus
    /// What could not be done, one line each.
    var errors: [String] = []
    /// Continues after the report was printed, until the program is ended. It calls the handler with more output.
    var follow: (((Report) -> Void) throws -> Void)?

    init(_ lines: [String], _ json: JSON, status: ExitStatus = .fine) {
        text = lines.map { $0 + "\n" }.joined()
        self.json = json
        self.status = status
    }
}
