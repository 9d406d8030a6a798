internal import CommandLineWords
internal import ManagedModel
internal import ModelReader

/// Compares models with the lock file, so that a reset is no surprise.
struct CheckCommand: Command {
    let models: [ModelArgument]
    let lockFile: LockFile
    let isUpdating: Bool
    /// The lock file of another state of the models, whose paths are relative to the folder of ``lockFile``.
    let other: String?

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(
            command: words, flags: ["--update"], values: ["--lock", "--version", "--against"])
        let version = words.value("--version")
        if version != nil, words.plain.isEmpty { throw UsageError("--version is for one MODEL") }
        models = words.plain.map { ModelArgument(path: $0, version: version) }
        other = words.value("--against")
        lockFile = LockFile(path: words.value("--lock") ?? "Models/model.lock")
        isUpdating = words.flag("--update")
        if version != nil, words.plain.count > 1 { throw UsageError("--version is for one MODEL") }
        if other != nil, isUpdating {
            throw UsageError("--against and --update exclude each other: the file of --against is only read")
        }
        // What was locked would not be what the app is built with.
        if version != nil, isUpdating {
            throw UsageError("--version and --update exclude each other: the lock file has the current version")
        }
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let found = try readLock(&warnings)
        let old = found ?? ModelLock()
        var lock = old
        let models = try self.models.isEmpty ? everyModel(old) : self.models
        var findings: [Finding] = []
        for argument in models {
            let name = lockFile.name(of: argument.path)
            if findings.contains(where: { $0.path == name }) { continue }
            do {
                let model = try argument.read(&warnings)
                findings.append(Finding(model, argument, name, old.model(at: name)))
                lock.put(LockedModel(model, path: name))
            } catch let error as ModelReaderError {
                // The other models are compared all the same.
                findings.append(Finding(unreadable: argument, name, error, old.model(at: name)))
            }
        }
        for locked in old.models
        where !findings.contains(where: { $0.path == locked.path }) && !lockFile.isThere(locked.path) {
            findings.append(Finding(gone: locked))
            lock.remove(locked.path)
        }
        let isReadable = findings.allSatisfy { $0.error == nil }
        if isUpdating, isReadable { try lockFile.write(lock) }
        return report(findings, isFirst: found == nil, isUpdated: isUpdating && isReadable)
    }

    /// Those that are in the lock file and still exist, and those in its folder.
    private func everyModel(_ lock: ModelLock) throws -> [ModelArgument] {
        let names = Set(lock.models.map(\.path).filter(lockFile.isThere)).union(lockFile.modelsInFolder())
        if names.isEmpty, lock.models.isEmpty {
            throw UsageError("MODEL is missing, because there is no model in the lock file or its folder")
        }
        return names.sorted().map { ModelArgument(path: lockFile.path(of: $0)) }
    }

    /// Nil if there is none. A lock file that is about to be written may contain anything, such as a merge conflict.
    private func readLock(_ warnings: inout [String]) throws -> ModelLock? {
        if let other {
            guard let lock = try LockFile(path: other).read() else {
                throw LockFileError(file: other, message: "There is no lock file here. Check the path.")
            }
            return lock
        }
        do { return try lockFile.read() } catch let error as LockFileError where isUpdating {
            warnings.append(error.place("warning", "The lock file cannot be read, so it is replaced."))
            return ModelLock()
        }
    }

    private func report(_ findings: [Finding], isFirst: Bool, isUpdated: Bool) -> Report {
        let errors = findings.compactMap(\.error)
        let differs = findings.contains { $0.state != .unchanged && $0.state != .unreadable }
        let json = JSON.object([
            ("lock", .string(other ?? lockFile.path)), ("differs", .flag(differs)), ("updated", .flag(isUpdated)),
            ("models", .list(findings.map(\.json))),
        ])
        var lines = findings.flatMap { $0.lines(isFirst: isFirst) }
        if isUpdated {
            lines.append("\(lockFile.path) was written.")
        } else if isUpdating {
            lines.append("\(lockFile.path) was not written, because not all models can be read.")
        } else if isFirst {
            lines.append(
                "There is no lock file \(lockFile.path) yet. To make it, run the same command with --update, and commit it."
            )
        } else if differs, let other {
            lines.append("Compared with \(other).")
        } else if differs, let version = models.first?.version {
            lines.append("The lock file changes when \(version) is the current version.")
        } else if differs {
            lines.append("If this is intended, run the same command with --update, and commit \(lockFile.path).")
        }
        let isFine = isUpdated || !differs
        var report = Report(lines, json, status: errors.isEmpty ? isFine ? .fine : .differs : .unreadableModel)
        report.errors = errors.map(\.description)
        return report
    }
}
