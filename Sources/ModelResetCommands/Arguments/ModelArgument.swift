internal import CommandLineWords
internal import Foundation
internal import ManagedModel
internal import ModelConversion
internal import ModelReader

/// A model on the command line.
struct ModelArgument {
    var path: String
    /// The name of the version; nil for the current version.
    var version: String?

    /// The name of the configuration; nil, or empty, for the whole model.
    var configuration: String?

    /// The options that name a part of a model.
    static let valueNames: Set = ["--version", "--configuration"]

    /// The model whose path is the only plain word.
    init(_ words: CommandLineWords) throws {
        self.init(
            path: try words.plain("MODEL")[0], version: words.value("--version"),
            configuration: words.value("--configuration"))
    }

    init(path: String, version: String? = nil, configuration: String? = nil) {
        self.path = path
        self.version = version
        self.configuration = configuration
    }

    /// Reads the model. Its diagnostics become warnings.
    ///
    /// - Parameters:
    ///   - followsVersions: Whether the model is used to plan a migration.
    ///   - isReported: Returns whether the caller reports the faults of a file. Their diagnostics become no warnings.
    func read(
        _ warnings: inout [String], followsVersions: Bool = true, isReported: (String) -> Bool = { _ in false }
    ) throws -> ManagedObjectModel {
        let document = try document(followsVersions: followsVersions)
        warnings += document.diagnostics.filter { !isReported($0.file) }.map(\.description)
        return try document.model.part(configuration)
    }

    /// A path that is neither a bundle nor there is taken for a bundle, as most are.
    private func document(followsVersions: Bool) throws -> ModelDocument {
        guard SwiftModelReader.isSwift(path), FileManager.default.fileExists(atPath: path) else {
            return try ModelReader.read(URL(filePath: path), version: version, followsVersions: followsVersions)
        }
        if version != nil { throw UsageError("--version is for bundles: Swift has one version of a model") }
        var document = try SwiftModelReader.read(path)
        if followsVersions { document.followLockedVersions(of: URL(filePath: path)) }
        return document
    }
}

extension ManagedObjectModel {
    /// The model of a configuration on the command line.
    ///
    /// - Parameter configuration: Nil, or empty, for the whole model.
    func part(_ configuration: String?) throws -> ManagedObjectModel {
        guard let configuration, !configuration.isEmpty else { return self }
        do { return try restricted(toConfiguration: configuration) } catch { throw UsageError(error.message) }
    }
}
