internal import CommandLineWords
internal import Foundation
internal import ManagedModel
internal import ModelConversion
internal import ModelReader

/// A model on the command line.
struct ModelArgument {
    var path: String
    /// Further Swift files of the model.
    private var furtherFiles: [String] = []
    /// The name of the version; nil for the current version.
    var version: String?

    /// The name of the configuration; nil or empty for the whole model.
    var configuration: String?

    /// Whether the path leads to Swift files, and not to a bundle.
    var isSwift: Bool { SwiftModelReader.isSwift(path) }

    /// The options that select a part of a model.
    static let valueNames: Set = ["--version", "--configuration"]

    /// Makes the argument from the plain words: the path of the model, or the paths of its Swift files.
    init(_ words: CommandLineWords) throws {
        let isOfFiles = words.plain.count > 1 && words.plain.allSatisfy { $0.hasSuffix(".swift") }
        self.init(
            path: isOfFiles ? words.plain[0] : try words.plain("MODEL")[0], version: words.value("--version"),
            configuration: words.value("--configuration"))
        furtherFiles = Array(words.plain.dropFirst())
    }

    init(path: String, version: String? = nil, configuration: String? = nil) {
        self.path = path
        self.version = version
        self.configuration = configuration
    }

    /// Reads the model, and adds a warning for each diagnostic.
    ///
    /// - Parameters:
    ///   - followsVersions: Whether to read the earlier versions of a bundle, which a migration plan needs. A model in Swift
    ///     names its earlier versions itself, because its program does not read the lock file.
    ///   - isReported: Returns whether the caller itself reports the faults of a file. Such a file gets no warnings.
    func read(
        _ warnings: inout [String], followsVersions: Bool = true, isReported: (String) -> Bool = { _ in false }
    ) throws -> ManagedObjectModel {
        let document = try document(followsVersions: followsVersions)
        warnings += document.diagnostics.filter { !isReported($0.file) }.map(\.description)
        return try document.model.part(configuration)
    }

    /// Reads the Swift files at an existing path. Any other path counts as the path of a bundle, so that the error is about a
    /// bundle.
    private func document(followsVersions: Bool) throws -> ModelDocument {
        guard SwiftModelReader.isSwift(path), FileManager.default.fileExists(atPath: path) else {
            return try ModelReader.read(URL(filePath: path), version: version, followsVersions: followsVersions)
        }
        if version != nil { throw UsageError("--version is for bundles: Swift has one version of a model") }
        return try SwiftModelReader.read([path] + furtherFiles)
    }
}

extension ManagedObjectModel {
    /// Returns the model of a configuration from the command line.
    ///
    /// - Parameter configuration: The name of the configuration; nil or empty for the whole model.
    func part(_ configuration: String?) throws -> ManagedObjectModel {
        guard let configuration, !configuration.isEmpty else { return self }
        do { return try restricted(toConfiguration: configuration) } catch { throw UsageError(error.message) }
    }
}
