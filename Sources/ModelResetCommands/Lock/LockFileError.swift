/// A lock file is not as this program wrote it.
struct LockFileError: Error, CustomStringConvertible {
    var file: String
    var line: Int?
    /// A word for programs.
    var code = "malformedLock"
    var message: String

    /// `file:line: error: message`, which editors and build logs understand.
    var description: String { place("error", message) }

    func place(_ kind: String, _ message: String) -> String {
        "\(file):\(line.map { "\($0):" } ?? "") \(kind): \(message)"
    }
}
