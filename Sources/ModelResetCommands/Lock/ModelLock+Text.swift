internal import ManagedModel
internal import ModelMigration
internal import ModelReader

extension ModelLock {
    private static let comment = """
        # The models as stores are made for them, written by: model-reset check --update
        # A hash that changes resets the stores of an app's users, or migrates them. Commit this file with the models.

        """

    /// The file: a line for each model with its version and hash, followed by indented lines: the text that the hash covers, the
    /// renaming identifiers, and the configurations, each with its hash.
    var text: String {
        models.reduce(into: Self.comment) { text, model in
            text += "\nmodel \(model.path.quotedWord) version \(model.version.quotedWord) hash \(model.hash)\n"
            for line in model.canonicalForm.utf8.split(separator: UInt8(ascii: "\n")) {
                text += "  " + Substring(line) + "\n"
            }
            for line in model.renamingIdentifiers.lines + model.configurations.map(\.line) { text += "  \(line)\n" }
        }
    }

    /// Reads ``text`` back.
    ///
    /// - Throws: An error with the faulty line: a merge conflict, a line that this program would not write, or the first line
    ///   of a model whose text was edited by hand.
    init(text: String, file: String) throws(LockFileError) {
        var numbers: [Int] = []
        for (index, bytes) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            var line = Substring(bytes)
            if line.unicodeScalars.last == "\r" { line.unicodeScalars.removeLast() }
            if line.isEmpty || line.hasPrefix("#") { continue }
            if ConflictMarker.starts(line.utf8) {
                throw LockFileError(
                    file: file, line: index + 1, code: "mergeConflict",
                    message:
                        "Git left a merge conflict here. Resolve it, or replace the file with model-reset check --update."
                )
            }
            if line.hasPrefix("  "), let last = models.indices.last {
                guard models[last].take(line.dropFirst(2)) else {
                    throw LockFileError(file: file, line: index + 1, message: Self.unknownLine)
                }
            } else if let model = LockedModel(head: String(line)) {
                models.append(model)
                numbers.append(index + 1)
            } else {
                throw LockFileError(file: file, line: index + 1, message: Self.unknownLine)
            }
        }
        for (model, line) in zip(models, numbers) where model.hash != ModelHash(hashing: model.canonicalForm) {
            throw LockFileError(
                file: file, line: line, message: "The hash does not match the lines below it. \(Self.advice)")
        }
    }

    private static let unknownLine = "This line does not belong in a lock file. \(advice)"
    private static let advice = "Restore the file, or replace it with model-reset check --update."
}

extension LockedModel {
    /// Reads a line of the model; false if it does not belong there.
    fileprivate mutating func take(_ line: Substring) -> Bool {
        if RenamingIdentifiers.isLine(line) { return renamingIdentifiers.append(String(line)) }
        if LockedConfiguration.isLine(line) {
            guard let configuration = LockedConfiguration(String(line)) else { return false }
            configurations.append(configuration)
            return true
        }
        canonicalForm += line + "\n"
        return true
    }

    /// A model whose text is still to be read.
    fileprivate init?(head line: String) {
        guard let words = TextWords(line)?.words, words.count == 6, words[0] == .word("model"),
            case .name(let path) = words[1], words[2] == .word("version"), case .name(let version) = words[3],
            words[4] == .word("hash"), case .word(let digits) = words[5], let hash = ModelHash(digits)
        else { return nil }
        self.init(path: path, version: version, hash: hash, canonicalForm: "")
    }
}
