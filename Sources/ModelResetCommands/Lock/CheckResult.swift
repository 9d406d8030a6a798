internal import ManagedModel
internal import ModelMigration
internal import ModelReader

/// The result of comparing models with a lock file, or with both sides of a merge conflict in the file.
struct CheckResult {
    /// The path of the file that the models are compared with.
    let base: String
    /// Whether there is no lock file yet.
    let isFirst: Bool
    var isUpdated = false
    /// Whether warnings make the command fail.
    var isRefused = false
    /// The errors from reading models and the lock file.
    var errors: [String] = []
    private(set) var differs = false
    /// Warnings about changes that do not reset a store, but can lose values.
    private(set) var warnings: [String] = []
    private var lines: [String] = []
    private var models: [JSON] = []
    /// The error from reading the lock file, as JSON.
    private var failure: [(String, JSON)] = []

    init(base: String, isFirst: Bool) {
        self.base = base
        self.isFirst = isFirst
    }

    /// - Parameter side: The side of a merge conflict; nil without a conflict.
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

    /// - Parameter last: The lines to add after the findings.
    func report(lines last: [String]) -> Report {
        let members: [(String, JSON)] = [
            ("lock", .string(base)), ("differs", .flag(differs)), ("updated", .flag(isUpdated)),
            ("models", .list(models)),
        ]
        let json = JSON.object(members + failure)
        let isFine = (isUpdated || !differs) && !isRefused
        var report = Report(
            lines + last, json, status: errors.isEmpty ? isFine ? .success : .differs : .unreadableModel)
        report.errors = errors
        return report
    }
}

/// The result of comparing one configuration of a model with the lock file.
struct ConfigurationFinding {
    private let name: String
    let state: Finding.State
    private let hash: ModelHash?
    private let lockedHash: ModelHash?
    private var difference: LockDifference?

    /// Returns a finding for each configuration that can have a store now, or could have a store when the lock file was
    /// written. The findings are sorted by name.
    static func all(_ model: ManagedObjectModel, _ locked: LockedModel) -> [ConfigurationFinding] {
        let present = LockedModel(model, path: locked.path).configurations
        let names = Set((present + locked.configurations).map(\.name)).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        return names.map { name in
            ConfigurationFinding(
                name: name, model: model, hash: present.first { $0.name == name }?.hash, locked: locked,
                lockedHash: locked.configurations.first { $0.name == name }?.hash)
        }
    }

    private init(
        name: String, model: ManagedObjectModel, hash: ModelHash?, locked: LockedModel, lockedHash: ModelHash?
    ) {
        self.name = name
        self.hash = hash
        self.lockedHash = lockedHash
        guard let hash, let lockedHash else {
            state = hash == nil ? .gone : .new
            return
        }
        state = hash == lockedHash ? .unchanged : .changed
        guard state == .changed else { return }
        difference = LockDifference(from: part(of: locked.model), to: part(of: model.canonicalModel))
    }

    /// Returns the part of a model for the configuration; nil if another release wrote the model.
    private func part(of model: ManagedObjectModel?) -> ManagedObjectModel? {
        do { return try model?.restricted(toConfiguration: name) } catch { return nil }
    }

    /// - Parameter isModelChanged: Whether the changes of the whole model are listed, too. These changes include the
    ///   changes of the configuration, so the changes of the configuration are not listed again.
    func lines(isModelChanged: Bool) -> [String] {
        switch state {
        case .new: return ["  configuration \(name): new"]
        case .gone: return ["  configuration \(name): gone; its stores can no longer be opened"]
        case .changed where isModelChanged: return ["  configuration \(name): changed, too"]
        case .changed:
            return ["  configuration \(name): its earlier stores are reset, unless they are migrated:"]
                + (difference?.lines ?? []).map { "  \($0)" }
        case .unchanged, .unreadable: return []
        }
    }

    var json: JSON {
        .object([
            ("name", .string(name)), ("state", .string(state.rawValue)), ("hash", .string(hash?.description)),
            ("lockedHash", .string(lockedHash?.description)), ("changes", .strings(difference?.changes ?? [])),
            ("migration", difference?.migrationJSON ?? .null),
        ])
    }
}
