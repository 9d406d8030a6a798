internal import ManagedModel

extension ModelReaderError {
    /// The error for an invalid model, with the place in the file that declares the faulty element.
    init(_ error: ModelError, file: String, lines: SourceLines) {
        self.init(
            error.code, file: file, line: lines.line(of: error.propertyName, in: error.entityName), error.message)
    }
}
