internal import CommandLineWords
internal import ManagedModel
internal import ModelReader

/// Compares models with the lock file, so that the author of a change notices whether the change resets stores.
struct CheckCommand: Command {
    static let usage = """
        Usage: model-reset check [MODEL]... [--lock FILE] [--update] [--strict] [--json]
               model-reset check [MODEL]... [--lock FILE] --against FILE [--strict] [--json]
               model-reset check MODEL --version NAME [--lock FILE] [--strict] [--json]

        Compares models and each of their configurations with the committed lock file, and explains changes as diff does. If the
        lock file has a merge conflict, models are compared with both sides.

          MODEL                 a .xcdatamodeld bundle, the .xcdatamodel of one version, a folder of Swift, or files of Swift;
                                all files are one model; without MODEL, all models that the lock file names, and all bundles
                                in its folder and below
          --lock FILE           the lock file (default: Models/model.lock)
          --update              writes the lock file, and creates its folder; removes the entries of models that no longer exist;
                                records anew the models that differ between the sides of a merge conflict; keeps all other entries
          --against FILE        compares with this lock file instead, such as the lock file of the base branch or of the last
                                release; its paths are relative to the folder of --lock
          --version NAME        the version to compare; without it, the current version
          --strict              fails on warnings, too: an ignored part of a model file, a removed renaming identifier of an element
                                that still exists, and a transformable with another type
          --json                prints the answer as JSON, on one line

        Exit status: 0 nothing differs, or the lock file was written; 1 something differs, or --strict found a warning; 3 a model
        or the lock file cannot be read.

        """

    let models: [ModelArgument]
    let lockFile: LockFile
    let isUpdating: Bool
    /// Whether the command fails on warnings.
    let isStrict: Bool
    /// The path of another lock file to compare with. Paths in this file are relative to the folder of ``lockFile``.
    let againstPath: String?

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(
            command: words, flags: ["--update", "--strict"], values: ["--lock", "--version", "--against"])
        let version = words.value("--version")
        if version != nil, words.plain.count != 1 { throw UsageError("--version is for one MODEL") }
        // All files together are one model, as in the other commands.
        let files = words.plain.filter(ModelArgument.isSwiftFile)
        let others = words.plain.filter { !ModelArgument.isSwiftFile($0) }
        models = (others + (files.isEmpty ? [] : [files.joined(separator: ",")])).map {
            ModelArgument(path: $0, version: version)
        }
        againstPath = words.value("--against")
        lockFile = LockFile(path: words.value("--lock") ?? "Models/model.lock")
        isUpdating = words.flag("--update")
        isStrict = words.flag("--strict")
        if againstPath != nil, isUpdating {
            throw UsageError("--against and --update exclude each other: the file of --against is only read")
        }
        // The lock file must record the current version, because the app is built with the current version.
        if version != nil, isUpdating {
            throw UsageError("--version and --update exclude each other: the lock file records the current version")
        }
    }

    /// What the models are compared with: a lock file, or both sides of a merge conflict.
    private enum Base {
        case lock(ModelLock?)
        case conflict(LockConflict)
    }

    /// A model, or the error if the model cannot be read.
    private struct Candidate {
        let argument: ModelArgument
        let name: String
        let model: Result<ManagedObjectModel, ModelReaderError>
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let base = try readBase(&warnings)
        var (lock, isFirst) = (ModelLock(), false)
        var bases: [(name: String?, lock: ModelLock)] = []
        var conflictingPaths: [String] = []
        switch base {
        case .lock(let found):
            (lock, isFirst) = (found ?? lock, found == nil)
            bases = [(nil, lock)]
        case .conflict(let conflict):
            (lock, conflictingPaths) = (conflict.agreedModels, conflict.conflictingPaths.filter(lockFile.modelExists))
            bases = conflict.sides.map { ($0.name, $0.lock) }
        }
        let candidates = try candidates(lock, conflictingPaths, &warnings)
        var result = CheckResult(base: againstPath ?? lockFile.path, isFirst: isFirst)
        for (name, lock) in bases { result.add(findings(candidates, lock), comparedWith: name) }
        warnings += result.warnings
        result.isRefused = isStrict && !warnings.isEmpty
        if isUpdating, result.errors.isEmpty, !result.isRefused {
            for candidate in candidates {
                guard case .success(let model) = candidate.model else { continue }
                var locked = LockedModel(model, path: candidate.name)
                locked.keepEarlierModels(bases.compactMap { $0.lock.model(at: candidate.name) })
                lock.put(locked)
            }
            for locked in lock.models where !lockFile.modelExists(locked.path) { lock.remove(locked.path) }
            try lockFile.write(lock)
            result.isUpdated = true
        } else if case .conflict(let conflict) = base {
            result.add(conflict.error)
        }
        return result.report(lines: lastLines(result))
    }

    private func candidates(
        _ lock: ModelLock, _ conflictingPaths: [String], _ warnings: inout [String]
    ) throws -> [Candidate] {
        var arguments = models
        if models.isEmpty { arguments = try allModels(lock, conflictingPaths) }
        arguments += conflictingPaths.map(lockFile.model)
        var candidates: [Candidate] = []
        for argument in arguments {
            let name = lockFile.name(of: argument)
            if candidates.contains(where: { $0.name == name }) { continue }
            do {
                let model = try argument.read(&warnings, isReported: lockFile.isSameFile)
                candidates.append(Candidate(argument: argument, name: name, model: .success(model)))
            } catch let error as ModelReaderError {
                // An unreadable model does not stop the comparison of the other models.
                candidates.append(Candidate(argument: argument, name: name, model: .failure(error)))
            }
        }
        return candidates
    }

    /// The models in the lock file that still exist, and the bundles in the folder of the lock file and below.
    private func allModels(_ lock: ModelLock, _ conflictingPaths: [String]) throws -> [ModelArgument] {
        let names = Set(lock.models.map(\.path).filter(lockFile.modelExists)).union(lockFile.modelsInFolder())
        if names.isEmpty, lock.models.isEmpty, conflictingPaths.isEmpty {
            throw UsageError("MODEL is missing, the lock file names no model, and its folder has no bundle")
        }
        return names.sorted().map(lockFile.model)
    }

    private func findings(_ candidates: [Candidate], _ lock: ModelLock) -> [Finding] {
        let found = candidates.map { candidate in
            switch candidate.model {
            case .success(let model):
                Finding(model, candidate.argument, path: candidate.name, locked: lock.model(at: candidate.name))
            case .failure(let error):
                Finding(unreadable: candidate.argument, candidate.name, error, lock.model(at: candidate.name))
            }
        }
        let names = Set(candidates.map(\.name))
        return found
            + lock.models.filter { !names.contains($0.path) && !lockFile.modelExists($0.path) }.map {
                Finding(gone: $0)
            }
    }

    /// Reads what the models are compared with. With `--update`, an unreadable lock file is not an error, because the
    /// command replaces the file.
    private func readBase(_ warnings: inout [String]) throws -> Base {
        if let againstPath {
            guard let lock = try LockFile(path: againstPath).read() else {
                throw LockFileError(file: againstPath, message: "There is no lock file here. Check the path.")
            }
            return .lock(lock)
        }
        do { return .lock(try lockFile.read()) } catch let error as LockFileError {
            if let conflict = try lockFile.conflict(error) {
                if isUpdating {
                    warnings.append(
                        error.diagnostic(
                            "warning",
                            "The models that differ between the two sides of this conflict are recorded anew."))
                }
                return .conflict(conflict)
            }
            guard isUpdating else { throw error }
            warnings.append(error.diagnostic("warning", "The lock file cannot be read, and is replaced."))
            return .lock(ModelLock())
        }
    }

    private func lastLines(_ result: CheckResult) -> [String] {
        let refusal = result.isRefused ? ["The warnings are errors, because of --strict."] : []
        if result.isUpdated { return ["\(lockFile.path) was written."] }
        if isUpdating, result.isRefused { return ["\(lockFile.path) was not written."] + refusal }
        if isUpdating { return ["\(lockFile.path) was not written, because not all models can be read."] }
        return refusal + advice(result)
    }

    private func advice(_ result: CheckResult) -> [String] {
        if result.isFirst {
            return [
                "There is no lock file \(lockFile.path) yet. Run the same command with --update, and commit the new file."
            ]
        }
        guard result.differs else { return [] }
        if let againstPath { return ["Compared with \(againstPath)."] }
        if let version = models.first?.version {
            return ["To record these changes, make \(version) the current version, and run model-reset check --update."]
        }
        return ["If the changes are intended, run the same command with --update, and commit \(lockFile.path)."]
    }
}
