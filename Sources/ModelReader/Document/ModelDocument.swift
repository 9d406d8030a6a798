public import ManagedModel

/// A model that was read, and the diagnostics of its file.
public struct ModelDocument: Sendable {
    /// The model.
    public var model: ManagedObjectModel
    /// What the reader ignored or changed, in the order of the stages of reading.
    public var diagnostics: [ModelDiagnostic]

    /// Makes a document.
    public init(model: ManagedObjectModel, diagnostics: [ModelDiagnostic] = []) {
        self.model = model
        self.diagnostics = diagnostics
    }
}

/// A remark about a model file that could be loaded nevertheless.
public struct ModelDiagnostic: Sendable, Hashable, CustomStringConvertible {
    /// The file that the remark is about.
    public var file: String
    /// The line of the element at fault, counted from 1.
    public var line: Int
    /// What was unusual, and what the reader did about it.
    public var message: String

    /// Makes a remark.
    public init(file: String, line: Int, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// `file:line: warning: message`, which editors and build logs understand.
    public var description: String {
        "\(file):\(line): warning: \(message)"
    }
}

extension ModelDiagnostic {
    /// An earlier version that says nothing about names, since it cannot be read.
    static func unreadable(_ version: String, _ error: ModelReaderError) -> ModelDiagnostic {
        ModelDiagnostic(
            file: error.file, line: error.line ?? 1,
            message:
                "The earlier version \(version) cannot be read: \(error.message) So a migration from it, or from an older one, "
                + "knows only the renaming identifiers of the current version.")
    }
}

/// Collects diagnostics. Beyond a limit only their number is kept, so that a hostile file cannot flood the log.
struct DiagnosticLog {
    let file: String
    private var diagnostics: [ModelDiagnostic] = []
    private var omittedCount = 0

    static let limit = 1_000

    init(file: String) {
        self.file = file
    }

    mutating func warn(_ line: Int, _ message: String) {
        guard diagnostics.count < Self.limit else {
            omittedCount += 1
            return
        }
        diagnostics.append(ModelDiagnostic(file: file, line: line, message: message))
    }

    var all: [ModelDiagnostic] {
        guard omittedCount > 0 else { return diagnostics }
        return diagnostics + [
            ModelDiagnostic(file: file, line: 1, message: "\(omittedCount) more warnings are left out.")
        ]
    }
}
