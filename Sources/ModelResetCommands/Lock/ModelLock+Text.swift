internal import ManagedModel

extension ModelLock {
    private static let comment = """
        # The models as stores are made for them, written by: model-reset check --update
        # A line that changes resets the stores of an app's users. Commit this file with the models.

        """

    /// The file: a line per model with its version and hash, and below it, indented, the text that the hash covers.
    var text: String {
        models.reduce(into: Self.comment) { text, model in
            text += "\nmodel \(model.path.quotedWord) version \(model.version.quotedWord) hash \(model.hash)\n"
            for line in model.canonicalForm.utf8.split(separator: UInt8(ascii: "\n")) {
                text += "  " + Substring(line) + "\n"
            }
        }
    }

    /// Reads ``text`` back.
    ///
    /// - Throws: An error with the line at fault: one that is not understood, such as the mark of a merge conflict, or the
    ///   first of a model whose text was edited by hand.
    init(text: String, file: String) throws(LockFileError) {
        var numbers: [Int] = []
        for (index, line) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
        {
            var line = Substring(line)
            if line.unicodeScalars.last == "\r" { line.unicodeScalars.removeLast() }
            if line.isEmpty || line.hasPrefix("#") { continue }
            if line.hasPrefix("  "), !models.isEmpty {
                models[models.count - 1].canonicalForm += line.dropFirst(2) + "\n"
            } else if let model = LockedModel(head: String(line)) {
                models.append(model)
                numbers.append(index + 1)
            } else {
                throw LockFileError(
                    file: file, line: index + 1, message: "This line is not understood. \(Self.advice)")
            }
        }
        for (model, line) in zip(models, numbers) where model.hash != ModelHash(hashing: model.canonicalForm) {
            throw LockFileError(
                file: file, line: line, message: "The hash is not that of the lines below it. \(Self.advice)")
        }
    }

    private static let advice = "Restore the file, or write it anew with model-reset check --update."
}

extension LockedModel {
    /// A model with its text still to come.
    fileprivate init?(head line: String) {
        guard let words = TextWords(line)?.words, words.count == 6, words[0] == .word("model"),
            case .name(let path) = words[1], words[2] == .word("version"), case .name(let version) = words[3],
            words[4] == .word("hash"), case .word(let digits) = words[5], let hash = ModelHash(digits)
        else { return nil }
        self.init(path: path, version: version, hash: hash, canonicalForm: "")
    }
}
