internal import ManagedModel

/// Compares models with the lock file, so that nobody is surprised by a reset.
struct CheckCommand: Command {
    let models: [ModelArgument]
    let lockFile: LockFile
    let isUpdating: Bool

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(words, flags: ["--update"], values: ["--lock"])
        guard !words.plain.isEmpty else { throw UsageError("MODEL is missing") }
        models = words.plain.map { ModelArgument(path: $0) }
        lockFile = LockFile(path: words.value("--lock") ?? "Models/model.lock")
        isUpdating = words.flag("--update")
    }

    func run(_ warnings: inout [String]) throws -> Report {
        var lock = try readLock(&warnings)
        var findings: [Finding] = []
        for argument in models {
            let model = try argument.read(&warnings)
            let name = lockFile.name(of: argument.path)
            findings.append(Finding(model, name, lock.model(at: name)))
            lock.put(LockedModel(model, path: name))
        }
        for locked in lock.models where !lockFile.isThere(locked.path) {
            findings.append(Finding(gone: locked))
            lock.remove(locked.path)
        }
        if isUpdating { try lockFile.write(lock) }
        return report(findings)
    }

    /// A lock file that is to be written anew may hold anything, such as the marks of a merge conflict.
    private func readLock(_ warnings: inout [String]) throws -> ModelLock {
        do { return try lockFile.read() ?? ModelLock() } catch let error as LockFileError where isUpdating {
            warnings.append(error.place("warning", "The lock file could not be read and is written anew."))
            return ModelLock()
        }
    }

    private func report(_ findings: [Finding]) -> Report {
        let differs = findings.contains { $0.state != .unchanged }
        let json = JSON.object([
            ("lock", .string(lockFile.path)), ("differs", .flag(differs)), ("updated", .flag(isUpdating)),
            ("models", .list(findings.map(\.json))),
        ])
        var lines = findings.flatMap(\.lines)
        if isUpdating {
            lines.append("\(lockFile.path) is written.")
        } else if differs {
            lines.append("If this is meant, run model-reset check --update and commit \(lockFile.path).")
        }
        return Report(lines, json, status: differs && !isUpdating ? .differs : .fine)
    }
}
