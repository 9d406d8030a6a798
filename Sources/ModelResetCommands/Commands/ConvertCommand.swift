internal import CommandLineWords
internal import Foundation
internal import ManagedModel
internal import ModelCodeGenerator
internal import ModelConversion
internal import ModelReader

/// Writes a bundle as Swift files, or Swift files as a bundle.
struct ConvertCommand: Command {
    static let usage = """
        Usage: model-reset convert BUNDLE --output FOLDER [--version NAME] [--json]
               model-reset convert SWIFT --output BUNDLE [--json]

        Writes the model of a bundle as Swift files, or the model of Swift files as a bundle. The hash stays the same,
        so the bundle and the Swift open the same stores. The command overwrites nothing, and lists the parts that cannot be
        written. If the command fails, it leaves no files.

          BUNDLE          a .xcdatamodeld bundle, or the .xcdatamodel of one version
          SWIFT           a folder or files of Swift with one ManagedObjectModel("Name") { ... }
          --output PATH   the folder for the Swift files, or the .xcdatamodeld to write; the command makes it
          --version NAME  the version of the bundle; without it, the current version
          --json          prints the answer as JSON, on one line

        Exit status: 0 the model was written; 1 the model was written, but with another hash.

        """

    let model: ModelArgument
    let output: String

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(command: words, values: ["--output", "--version"])
        model = try ModelArgument(words)
        guard let output = words.value("--output") else { throw UsageError("--output is missing") }
        self.output = output
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let isBundle = output.hasSuffix(".xcdatamodeld") || output.hasSuffix(".xcdatamodeld/")
        guard isBundle == model.isSwift else {
            throw UsageError(
                isBundle
                    ? "a bundle is written as Swift; --output must be a folder"
                    : "Swift is written as a bundle; --output must end in .xcdatamodeld")
        }
        let name = URL(filePath: output, directoryHint: .isDirectory).deletingPathExtension().lastPathComponent
        let model = try model.read(&warnings, forBundle: isBundle ? name : nil)
        let files: [(path: String, text: String)]
        if isBundle {
            files = ModelMarkup(model).files
        } else {
            let writer = ModelSourceWriter(model)
            files = ConvertCommand.distinct(writer.files)
            warnings += writer.losses.map { "\(self.model.path): warning: \($0)" }
        }
        let written = try NewFiles(folder: output, isWhole: isBundle).write(files) { try readBack(&warnings) }
        return report(model, written, files.map(\.path))
    }

    private func report(_ model: ManagedObjectModel, _ written: ManagedObjectModel, _ files: [String]) -> Report {
        let isSame = written.hash == model.hash
        let others = otherVersions(than: model.version)
        let json = JSON.object([
            ("model", .string(model.name)), ("version", .string(model.version)), ("output", .string(output)),
            ("hash", .string(written.hash.description)), ("isSame", .flag(isSame)), ("files", .strings(files)),
            ("otherVersions", .strings(others)),
        ])
        let result =
            isSame ? "the hash is the same" : "the hash was \(model.hash), so the written model differs"
        var rest: [String] = []
        if !others.isEmpty {
            let names =
                model.earlierVersions.isEmpty ? "" : "; the argument earlierVersions has the names that migrations need"
            rest.append(
                "not written: \(others.joined(separator: ", ")), because Swift has one version of a model\(names)")
        }
        if let hint = hintAboutUnusedArguments(model) { rest.append(hint) }
        return Report(
            [
                "wrote \(output): \(files.count == 1 ? "1 file" : "\(files.count) files")",
                "\(written.hash)  \(model.name): \(result)",
            ] + rest, json, status: isSame ? .success : .differs)
    }

    /// Says why the files have arguments that the compiler warns about; nil if there are none.
    private func hintAboutUnusedArguments(_ model: ManagedObjectModel) -> String? {
        if self.model.isSwift { return nil }
        let owners = model.entities.map { ($0.name, $0.attributes) } + model.composites.map { ($0.name, $0.attributes) }
        let arguments = owners.flatMap { owner, attributes in
            attributes.flatMap { attribute in
                attribute.unusedArguments.map { "\($0) of \(owner).\(attribute.name)" }
            }
        }
        guard !arguments.isEmpty else { return nil }
        return
            "written only for the way back to a bundle: \(arguments.joined(separator: ", ")); "
            + "the compiler warns about such an argument until you remove it"
    }

    /// The versions of the bundle that are not converted.
    private func otherVersions(than version: String) -> [String] {
        guard !model.isSwift else { return [] }
        do { return try ModelBundle(at: URL(filePath: model.path)).versions.filter { $0 != version } } catch {
            return []
        }
    }

    /// Reads the written files. If this throws an error, the caller removes the files again.
    private func readBack(_ warnings: inout [String]) throws -> ManagedObjectModel {
        do {
            return try ModelArgument(path: output).read(&warnings, followsVersions: false)
        } catch var error as ModelReaderError {
            error.message +=
                " The written files were read together with the other files in \(output). Because of this error, the command has removed the files that it wrote."
            throw error
        }
    }

    /// Makes file names that differ in more than their case, because some file systems ignore the case.
    static func distinct(_ files: [ModelSourceWriter.File]) -> [(path: String, text: String)] {
        var taken: Set<String> = []
        return files.map { file in
            var name = file.name
            var number = 2
            while !taken.insert(name.lowercased()).inserted {
                name = file.name.replacing(".swift", with: "\(number).swift")
                number += 1
            }
            return (name, file.text)
        }
    }
}

extension AttributeDescription {
    /// The labels of the macro's arguments that are written, but have no effect in this library.
    fileprivate var unusedArguments: [String] {
        [
            ("transformer", valueTransformerName != nil),
            ("isPreservedAfterDeletion", preservesValueInHistoryOnDeletion),
            ("isCloudEncrypted", allowsCloudEncryption),
            ("isIndexedBySpotlight", isIndexedBySpotlight),
        ].filter(\.1).map(\.0)
    }
}
