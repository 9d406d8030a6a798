internal import ManagedModel
internal import ModelMigration
internal import ModelReader

extension ModelLock {
    private static let comment = """
        # The models as stores are made for them, written by: model-reset check --update
        # A hash that changes resets the stores of an app's users, or migrates them. Commit this file with the models.

        """

    /// The file: a line for each model with its version and hash, followed by indented lines: the text that the hash covers, the
    /// renaming identifiers, the types of transformables, and the configurations, each with its hash.
    var text: String {
        models.reduce(into: Self.comment) { text, model in
            text += "\nmodel \(model.path.quotedWord) version \(model.version.quotedWord) hash \(model.hash)\n"
            for line in model.canonicalForm.utf8.split(separator: UInt8(ascii: "\n")) {
                text += "  " + Substring(line) + "\n"
            }
            let others =
                model.renamingIdentifiers.lines + model.transformableTypes.lines + model.configurations.map(\.line)
            for line in others { text += "  \(line)\n" }
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
                    file: file, line: index + 1, code: LockFileError.mergeConflict,
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

extension ModelLock {
    /// The two texts of a file in which Git left a merge conflict, each under the name of its side; nil if the marks are not those of
    /// whole conflicts.
    static func sides(of text: String) -> [(name: String, text: String)]? {
        var sides = [(name: "ours", text: ""), (name: "theirs", text: "")]
        // The sides that the next line is of; none for what both come from.
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
    /// Reads a line of the model; false if it does not belong there.
    fileprivate mutating func take(_ line: Substring) -> Bool {
        if RenamingIdentifiers.isLine(line) { return renamingIdentifiers.append(String(line)) }
        if TransformableTypes.isLine(line) { return transformableTypes.append(String(line)) }
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
