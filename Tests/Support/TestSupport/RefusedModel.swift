public import Foundation

/// A model with one rule that cannot be read.
public enum RefusedModel: String, CaseIterable, Sendable {
    case pattern, derivation

    /// The line of the rule in ``contents``.
    public static let line = 4

    /// The text of a model file.
    public var contents: String {
        let rule =
            switch self {
            case .pattern: "regularExpressionString=\"[a-z\""
            case .derivation: "derived=\"YES\" derivationExpression=\"lowercase:other\""
            }
        return """
            <model type="com.apple.IDECoreDataModeler.DataModel">
            <entity name="E">
            <attribute name="other" optional="YES" attributeType="String"/>
            <attribute name="a" optional="YES" attributeType="String" \(rule)/>
            </entity>
            </model>
            """
    }

    /// The begin of the error's message.
    public var message: String {
        switch self {
        case .pattern:
            "The pattern [a-z of E.a is not a regular expression. Correct the pattern, or remove it."
        case .derivation: "E.a is derived from lowercase:other, which is not a known derivation. Use "
        }
    }

    /// Writes a bundle with the model as its only version.
    ///
    /// - Returns: The file of the version.
    @discardableResult
    public func write(to bundle: URL) throws -> URL {
        let contents = bundle.appending(path: "M.xcdatamodel/contents")
        try FileManager.default.createDirectory(
            at: contents.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(self.contents.utf8).write(to: contents)
        return contents
    }
}
