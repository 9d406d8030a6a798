/// A lock file that this program has not written in this form.
struct LockFileError: Error, CustomStringConvertible {
    var file: String
    var line: Int?
    static let mergeConflict = "mergeConflict"

    /// A machine-readable word.
    var code = "malformedLock"
    var message: String

    /// `file:line: error: message`, which editors and build logs understand.
    var description: String { place("error", message) }

    func place(_ kind: String, _ message: String) -> String {
        "\(file):\(line.map { "\($0):" } ?? "") \(kind): \(message)"
    }
}
