internal import CommandLineWords
internal import Foundation
internal import ManagedModel
internal import ModelConversion
internal import ModelReader

/// A model on the command line: a bundle, a folder of Swift, or several files and folders of Swift with commas between them.
struct ModelArgument {
    /// The words of the command line, with commas between them.
    var path: String
    /// The paths of the bundle, or of the files and folders.
    let paths: [String]
    /// The name of the version; nil for the current version.
    var version: String?
    /// The name of the configuration; nil or empty for the whole model.
    var configuration: String?

    /// Whether the paths lead to Swift files, and not to a bundle.
    var isSwift: Bool { paths.allSatisfy(SwiftModelReader.isSwift) }

    /// The options that select a part of a model.
    static let valueNames: Set = ["--version", "--configuration"]

    /// Makes the argument from the plain words: the path of the model, or the paths of its Swift files.
    init(_ words: CommandLineWords) throws {
        let isOfFiles = words.plain.count > 1 && words.plain.allSatisfy(Self.isSwiftFile)
        self.init(
            path: isOfFiles ? words.plain.joined(separator: ",") : try words.plain("MODEL")[0],
            version: words.value("--version"), configuration: words.value("--configuration"))
    }

    init(path: String, version: String? = nil, configuration: String? = nil) {
        self.path = path
        paths = Self.paths(path) { FileManager.default.fileExists(atPath: $0) }
        self.version = version
        self.configuration = configuration
    }

    static func isSwiftFile(_ path: String) -> Bool { path.hasSuffix(".swift") }

    /// Splits a word into the paths of files and folders. If the whole word is the path of an existing file or folder, its
    /// commas do not divide it.
    ///
    /// - Parameter exists: Whether a path leads to a file or folder.
    static func paths(_ word: String, exists: (String) -> Bool) -> [String] {
        if exists(word) || !word.contains(",") { return [word] }
        let parts = word.split(separator: ",").map(String.init)
        return parts.allSatisfy(SwiftModelReader.isSwift) ? parts : [word]
    }

    /// Reads the model, and adds a warning for each diagnostic.
    ///
    /// - Parameters:
    ///   - followsVersions: Whether to read the earlier versions of a bundle, which a migration plan needs. A model in Swift
    ///     names its earlier versions itself, because its program does not read the lock file.
    ///   - bundleName: The name of the bundle that a model in Swift is written to; nil if it is not written.
    ///   - isReported: Returns whether the caller itself reports the faults of a file. Such a file gets no warnings.
    func read(
        _ warnings: inout [String], followsVersions: Bool = true, forBundle bundleName: String? = nil,
        isReported: (String) -> Bool = { _ in false }
    ) throws -> ManagedObjectModel {
        let document = try document(followsVersions: followsVersions, bundleName)
        warnings += document.diagnostics.filter { !isReported($0.file) }.map(\.description)
        return try document.model.part(configuration)
    }

    /// Reads the Swift files at existing paths. Any other path counts as the path of a bundle, so that the error is about a
    /// bundle.
    private func document(followsVersions: Bool, _ bundleName: String?) throws -> ModelDocument {
        guard isSwift, paths.count > 1 || FileManager.default.fileExists(atPath: path) else {
            return try ModelReader.read(URL(filePath: path), version: version, followsVersions: followsVersions)
        }
        if version != nil { throw UsageError("--version is for bundles: Swift has one version of a model") }
        return try SwiftModelReader.read(paths, forBundle: bundleName)
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
