package import ManagedModel
package import ModelMigration

/// The models in a lock file, as they were when the file was written.
package struct ModelLock: Sendable {
    /// The models, sorted by path.
    package internal(set) var models: [LockedModel] = []

    package init() {}

    package func model(at path: String) -> LockedModel? {
        models.first { $0.path == path }
    }

    /// Adds a model, or replaces the model with the same path.
    package mutating func put(_ model: LockedModel) {
        models.removeAll { $0.path == model.path }
        let index = models.firstIndex { model.path.utf8.lexicographicallyPrecedes($0.path.utf8) } ?? models.endIndex
        models.insert(model, at: index)
    }

    package mutating func remove(_ path: String) {
        models.removeAll { $0.path == path }
    }
}

/// One model in a lock file.
package struct LockedModel: Sendable, Equatable {
    /// The path of the model relative to the lock file's folder.
    package let path: String
    package let version: String
    package let hash: ModelHash
    /// The string from which the hash is made.
    package internal(set) var canonicalForm: String
    /// The rules, which are kept only to show people what changed. The hash does not cover the rules.
    package internal(set) var rules = ModelRules()
    /// The renaming identifiers, which migrations need. The hash does not cover the identifiers.
    package internal(set) var renamingIdentifiers = RenamingIdentifiers()
    /// The types of transformables, which are needed to decode values in a store. The hash does not cover the types.
    package internal(set) var transformableTypes = TransformableTypes()
    /// The configurations for which a store can be made, sorted by name.
    package internal(set) var configurations: [LockedConfiguration] = []
    /// The models that this path had before, newest first; at most ``earlierLimit``. An earlier model has no
    /// ``earlier`` models of its own.
    package internal(set) var earlier: [LockedModel] = []

    /// The maximum number of earlier models. Migrations from older models use only the renaming identifiers of the current
    /// version.
    package static let earlierLimit = 50

    init(path: String, version: String, hash: ModelHash, canonicalForm: String) {
        self.path = path
        self.version = version
        self.hash = hash
        self.canonicalForm = canonicalForm
    }

    package init(_ model: ManagedObjectModel, path: String) {
        self.init(
            path: path, version: model.version, hash: model.hash, canonicalForm: model.canonicalForm)
        rules = ModelRules(of: model)
        renamingIdentifiers = RenamingIdentifiers(of: model)
        transformableTypes = TransformableTypes(of: model)
        configurations = model.configurations.compactMap { LockedConfiguration($0, of: model) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The model, for a comparison with a ``ManagedObjectModel/canonicalModel``. Nil if another release wrote the model in
    /// another format.
    package var model: ManagedObjectModel? {
        guard
            var model = ManagedObjectModel(canonicalForm: canonicalForm, renamingIdentifiers: renamingIdentifiers)
        else { return nil }
        model.configurations = configurations.map {
            EntityConfiguration(name: $0.name, entityNames: $0.entityNames)
        }
        return model
    }

    // MARK: Earlier models

    /// Keeps the previously locked models as ``earlier`` models.
    ///
    /// - Parameter locked: The previously locked model with its earlier models. If the file has a merge conflict, the
    ///   list has such a model for each side, and only the models that both sides contain are kept.
    package mutating func keepEarlierModels(_ locked: [LockedModel]) {
        guard let first = locked.first else { return }
        let histories = locked.map(\.history)
        var earlier = first.history.filter { state in histories.allSatisfy { $0.contains(state) } }
        // Drop the newest earlier model if it has the same hash as this model, and if this model contains all renaming
        // identifiers of the earlier model. A migration then needs no names from the earlier model.
        if let newest = earlier.first, newest.hash == hash,
            Set(newest.renamingIdentifiers.lines).isSubset(of: renamingIdentifiers.lines)
        {
            earlier.removeFirst()
        }
        self.earlier = Array(earlier.prefix(Self.earlierLimit))
    }

    /// This model without its earlier models, and then the earlier models, newest first.
    var history: [LockedModel] {
        var newest = self
        newest.earlier = []
        return [newest] + earlier
    }
}

/// The error for a lock file that this release cannot read.
package struct LockFileError: Error, CustomStringConvertible {
    package var file: String
    package var line: Int?
    package static let mergeConflict = "mergeConflict"

    /// A machine-readable name of the error.
    package var code = "malformedLock"
    package var message: String

    package init(file: String, line: Int? = nil, code: String = "malformedLock", message: String) {
        self.file = file
        self.line = line
        self.code = code
        self.message = message
    }

    /// The error as `file:line: error: message`, which editors and build logs understand.
    package var description: String { diagnostic("error", message) }

    package func diagnostic(_ kind: String, _ message: String) -> String {
        "\(file):\(line.map { "\($0):" } ?? "") \(kind): \(message)"
    }
}

extension ModelDiagnostic {
    /// The warning that a lock file is ignored because it has a fault.
    static func ignored(_ error: LockFileError) -> ModelDiagnostic {
        ModelDiagnostic(
            file: error.file, line: error.line ?? 1,
            message: "\(error.message) Until then migrations know only the versions in the bundle.")
    }
}

extension ModelLock {
    private static let comment = """
        # This file describes the models of an app's stores. Written by: model-reset check --update
        # A hash that changes resets the stores of an app's users, or migrates them. Commit this file with the models.

        """

    /// The contents of the file. Each model has a line with the path, the version and the hash, and indented lines
    /// after this line.
    ///
    /// The indented lines have the canonical form, the rules, the renaming identifiers, the types of transformables, the
    /// configurations with their hashes, and the earlier models. Each earlier model is written as an ``EditScript`` that turns
    /// the lines of the next newer model into the lines of the earlier model.
    package var text: String {
        models.reduce(into: Self.comment) { text, model in
            text += "\nmodel \(model.path.quotedWord) version \(model.version.quotedWord) hash \(model.hash)\n"
            var lines = model.lines
            for line in lines { text += "  \(line)\n" }
            for earlier in model.earlier {
                text += "  earlier version \(earlier.version.quotedWord) hash \(earlier.hash)\n"
                for line in EditScript(from: lines, to: earlier.lines).lines { text += "    \(line)\n" }
                lines = earlier.lines
            }
        }
    }

    /// Parses the ``text`` of a lock file.
    ///
    /// - Throws: An error with the line number of a merge conflict, of a line that is not part of the format, or of a
    ///   model that was edited by hand.
    package init(text: String, file: String) throws(LockFileError) {
        var numbers: [Int] = []
        var scripts: [Int: [(earlier: LockedModel, script: EditScript)]] = [:]
        for (index, bytes) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            var line = Substring(bytes)
            if line.unicodeScalars.last == "\r" { line.unicodeScalars.removeLast() }
            if line.isEmpty || line.hasPrefix("#") { continue }
            if ConflictMarker.starts(line.utf8) {
                throw LockFileError(
                    file: file, line: index + 1, code: LockFileError.mergeConflict,
                    message:
                        "Git left a merge conflict here. Resolve it, or replace the file with model-reset check --update."
                )
            }
            if line.hasPrefix("  "), let last = models.indices.last {
                let line = line.dropFirst(2)
                let isRead: Bool
                if let earlier = LockedModel(earlier: line, path: models[last].path) {
                    scripts[last, default: []].append((earlier, EditScript()))
                    isRead = true
                } else if let count = scripts[last]?.count {
                    isRead = line.hasPrefix("  ") && scripts[last]?[count - 1].script.append(line.dropFirst(2)) == true
                } else {
                    isRead = models[last].parse(line)
                }
                guard isRead else { throw LockFileError(file: file, line: index + 1, message: Self.unknownLine) }
            } else if let model = LockedModel(head: String(line)) {
                models.append(model)
                numbers.append(index + 1)
            } else {
                throw LockFileError(file: file, line: index + 1, message: Self.unknownLine)
            }
        }
        for (index, line) in numbers.enumerated() {
            guard models[index].matchesHash, models[index].restoreEarlierModels(scripts[index] ?? []) else {
                throw LockFileError(
                    file: file, line: line, message: "The hash does not match the lines below it. \(Self.advice)")
            }
        }
    }

    private static let unknownLine = "This line does not belong in a lock file. \(advice)"
    private static let advice = "Restore the file, or replace it with model-reset check --update."
}

extension ModelLock {
    /// Splits a file with Git's merge conflicts into two complete files, with the names of the sides. Returns nil if the file
    /// has no conflict or an incomplete conflict.
    package static func conflictSides(of text: String) -> [(name: String, text: String)]? {
        var sides = [(name: "ours", text: ""), (name: "theirs", text: "")]
        // The sides to which the next line belongs. Lines of the common ancestor belong to no side.
        var present = [0, 1]
        var marks: [Character] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard ConflictMarker.starts(line.utf8) else {
                for side in present { sides[side].text += line + "\n" }
                continue
            }
            if let mark = line.first, mark != "|" { marks.append(mark) }
            let name = line.dropFirst(7).trimmingPrefix(" ")
            switch line.first {
            case "<": present = [0]
            case "|": present = []
            case "=": present = [1]
            default: present = [0, 1]
            }
            if line.first == "<", !name.isEmpty { sides[0].name = String(name) }
            if line.first == ">", !name.isEmpty { sides[1].name = String(name) }
        }
        let isWhole = marks.count.isMultiple(of: 3) && marks.indices.allSatisfy { marks[$0] == Array("<=>")[$0 % 3] }
        return isWhole && !marks.isEmpty ? sides : nil
    }
}

extension LockedModel {
    /// The indented lines of the model.
    fileprivate var lines: [String] {
        canonicalForm.utf8.split(separator: UInt8(ascii: "\n")).map { String(Substring($0)) }
            + rules.lines + renamingIdentifiers.lines + transformableTypes.lines + configurations.map(\.line)
    }

    fileprivate var matchesHash: Bool { hash == ModelHash(hashing: canonicalForm) }

    /// Parses an indented line of the model. Returns false if the line is not part of a model.
    fileprivate mutating func parse(_ line: some StringProtocol) -> Bool {
        if ModelRules.recognizes(line) { return rules.append(String(line)) }
        if RenamingIdentifiers.recognizes(line) { return renamingIdentifiers.append(String(line)) }
        if TransformableTypes.recognizes(line) { return transformableTypes.append(String(line)) }
        if LockedConfiguration.recognizes(line) {
            guard let configuration = LockedConfiguration(String(line)) else { return false }
            configurations.append(configuration)
            return true
        }
        canonicalForm += line + "\n"
        return true
    }

    /// Builds each earlier model from the lines of the next newer model. Returns false if a script does not fit the
    /// lines, or if a model does not match its hash.
    fileprivate mutating func restoreEarlierModels(_ scripts: [(earlier: LockedModel, script: EditScript)]) -> Bool {
        var lines = lines
        for (earlier, script) in scripts {
            var model = earlier
            guard let earlierLines = script.applied(to: lines), earlierLines.allSatisfy({ model.parse($0) }),
                model.matchesHash
            else { return false }
            lines = earlierLines
            self.earlier.append(model)
        }
        return true
    }

    /// Parses the first line of a model. The indented lines are added later.
    fileprivate init?(head line: String) {
        guard var words = WordParser(line), words.consume("model"), let path = words.consumeName() else { return nil }
        self.init(&words, path: path)
    }

    /// Parses the first line of an earlier model. ``restoreEarlierModels(_:)`` adds the indented lines.
    fileprivate init?(earlier line: Substring, path: String) {
        guard line.hasPrefix("earlier "), var words = WordParser(String(line)), words.consume("earlier") else {
            return nil
        }
        self.init(&words, path: path)
    }

    private init?(_ words: inout WordParser, path: String) {
        guard let version = words.consumeName(after: "version"), words.consume("hash"),
            let hash = words.consumeWord().flatMap({ ModelHash($0) }), words.isAtEnd
        else { return nil }
        self.init(path: path, version: version, hash: hash, canonicalForm: "")
    }
}
