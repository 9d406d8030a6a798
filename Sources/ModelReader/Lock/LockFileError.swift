/// A lock file that no release of this library has written in this form.
package struct LockFileError: Error, CustomStringConvertible {
    package var file: String
    package var line: Int?
    package static let mergeConflict = "mergeConflict"

    /// A machine-readable word.
    package var code = "malformedLock"
    package var message: String

    package init(file: String, line: Int? = nil, code: String = "malformedLock", message: String) {
        self.file = file
        self.line = line
        self.code = code
        self.message = message
    }

    /// `file:line: error: message`, which editors and build logs understand.
    package var description: String { place("error", message) }

    package func place(_ kind: String, _ message: String) -> String {
        "\(file):\(line.map { "\($0):" } ?? "") \(kind): \(message)"
    }
}

extension ModelDiagnostic {
    /// A lock file that says nothing about names.
    static func ignored(_ error: LockFileError) -> ModelDiagnostic {
        ModelDiagnostic(
            file: error.file, line: error.line ?? 1,
            message: "\(error.message) Until then migrations know only the versions in the bundle.")
    }
}
