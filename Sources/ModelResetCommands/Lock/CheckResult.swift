internal import ModelReader

/// What a comparison of models with a lock file has found, or with both sides of one that has a merge conflict.
struct CheckResult {
    /// The file that the models are compared with.
    let base: String
    /// Whether there is no lock file yet.
    let isFirst: Bool
    var isUpdated = false
    /// Whether there are warnings that are errors.
    var isRefused = false
    /// What could not be read.
    var errors: [String] = []
    private(set) var differs = false
    /// What may lose values without a reset.
    private(set) var warnings: [String] = []
    private var lines: [String] = []
    private var models: [JSON] = []
    /// Why the lock file itself cannot be read, as JSON.
    private var failure: [(String, JSON)] = []

    init(base: String, isFirst: Bool) {
        self.base = base
        self.isFirst = isFirst
    }

    /// - Parameter side: The side of a merge conflict; nil if there is none.
    mutating func add(_ findings: [Finding], comparedWith side: String?) {
        if let side { lines.append("Compared with \(side):") }
        lines += findings.flatMap { $0.lines(isFirst: isFirst) }
        differs = differs || findings.contains { $0.state != .unchanged && $0.state != .unreadable }
        for warning in findings.flatMap({ finding in finding.warnings.map { "\(finding.path): warning: \($0)" } })
        where !warnings.contains(warning) {
            warnings.append(warning)
        }
        for error in findings.compactMap(\.error?.description) where !errors.contains(error) { errors.append(error) }
        models += findings.map { finding in
            .object((side.map { [("side", .string($0))] } ?? []) + finding.members)
        }
    }

    mutating func add(_ error: LockFileError) {
        errors.append(error.description)
        if case .object(let members) = Failure(error).json { failure = members }
    }

    /// - Parameter last: The lines after the findings.
    func report(lines last: [String]) -> Report {
        let members: [(String, JSON)] = [
            ("lock", .string(base)), ("differs", .flag(differs)), ("updated", .flag(isUpdated)),
            ("models", .list(models)),
        ]
        let json = JSON.object(members + failure)
        let isFine = (isUpdated || !differs) && !isRefused
        var report = Report(lines + last, json, status: errors.isEmpty ? isFine ? .fine : .differs : .unreadableModel)
        report.errors = errors
        return report
    }
}
