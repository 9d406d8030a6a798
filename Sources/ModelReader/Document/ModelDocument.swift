public import ManagedModel

/// A model from a file, with the reader's warnings.
public struct ModelDocument: Sendable {
    /// The model.
    public var model: ManagedObjectModel
    /// The warnings about ignored or changed values, in the order in which the reader found them.
    public var diagnostics: [ModelDiagnostic]

    /// Makes a document.
    ///
    /// ```swift
    /// let document = ModelDocument(model: model)
    /// ```
    public init(model: ManagedObjectModel, diagnostics: [ModelDiagnostic] = []) {
        self.model = model
        self.diagnostics = diagnostics
    }
}

/// A warning about a model file. The model is loaded nevertheless.
public struct ModelDiagnostic: Sendable, Hashable, CustomStringConvertible {
    /// The file with the fault.
    public var file: String
    /// The line of the faulty element, counted from 1.
    public var line: Int
    /// Describes the fault and how the reader handled it.
    public var message: String

    /// Makes a diagnostic.
    ///
    /// ```swift
    /// let diagnostic = ModelDiagnostic(
    ///     file: "contents", line: 7, message: "The attribute has no type.")
    /// print(diagnostic)  // contents:7: warning: The attribute has no type.
    /// ```
    public init(file: String, line: Int, message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// The warning as `file:line: warning: message`, which editors and build logs understand.
    public var description: String {
        "\(file):\(line): warning: \(message)"
    }
}

extension ModelDiagnostic {
    /// The warning that a migration cannot follow names through an earlier version, because the version is unreadable.
    static func unreadable(_ version: String, _ error: ModelReaderError) -> ModelDiagnostic {
        ModelDiagnostic(
            file: error.file, line: error.line ?? 1,
            message:
                "The earlier version \(version) cannot be read: \(error.message) So a migration from that version, or from an "
                + "older version, knows only the renaming identifiers of the current version.")
    }
}

/// Collects diagnostics up to a limit and counts the others, so that a hostile file cannot flood the log.
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
            ModelDiagnostic(file: file, line: 1, message: "Further warnings that are not listed: \(omittedCount).")
        ]
    }
}
