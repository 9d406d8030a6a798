internal import ManagedModel

extension ModelReaderError {
    /// The error for an invalid model, with the place in the file that declares the faulty element.
    init(_ error: ModelError, file: String, lines: SourceLines) {
        let code: Code =
            switch error.code {
            case .duplicateName: .duplicateName
            case .invalidName: .invalidName
            case .inheritanceCycle: .inheritanceCycle
            case .tooLarge: .tooLarge
            case .tooDeep: .tooDeep
            default: .unknownReference
            }
        self.init(code, file: file, line: lines.line(of: error.propertyName, in: error.entityName), error.message)
    }
}
