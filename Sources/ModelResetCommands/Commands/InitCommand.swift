internal import CommandLineWords
internal import Foundation
internal import ModelCodeGenerator
internal import ModelReader

/// Writes the first model of an app.
struct InitCommand: Command {
    static let usage = """
        Usage: model-reset init [NAME] [--entity ENTITY] [--json]

        Writes a first model with one entity and four attributes: a folder of Swift, or a bundle if NAME ends in .xcdatamodeld. It
        overwrites nothing.

          NAME                  the folder to write, or the bundle with its extension (default: Model); it is made
          --entity ENTITY       the name of the entity (default: ItemEntity)
          --json                prints the answer as JSON, on one line

        """

    let path: String
    let entityName: String
    private let isBundle: Bool
    private let name: String

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(command: words, values: ["--entity"])
        path = words.plain.isEmpty ? "Model" : try words.plain("NAME")[0]
        isBundle = path.hasSuffix(Self.suffix)
        let last = URL(filePath: path, directoryHint: .isDirectory).lastPathComponent
        name = isBundle ? String(last.dropLast(Self.suffix.count)) : last
        entityName = words.value("--entity") ?? "ItemEntity"
        guard !name.isEmpty else { throw UsageError("a model needs a name before \(Self.suffix)") }
        guard entityName.wholeMatch(of: /[\p{L}_][\p{L}\p{N}_]*/) != nil else {
            throw UsageError("\(entityName) is not a valid name for an entity; use letters, digits and _")
        }
    }

    func run(_ warnings: inout [String]) throws -> Report {
        let model = FirstModel(name: name, entityName: entityName)
        try NewFiles(folder: path, isWhole: isBundle).write(isBundle ? model.files : swiftFiles(model))
        let attributes = model.attributes.map(\.name)
        let json = JSON.object([
            ("model", .string(path)), ("entity", .string(entityName)), ("attributes", .strings(attributes)),
        ])
        return Report(["wrote \(path): \(entityName) with \(attributes.joined(separator: ", "))"], json)
    }

    private func swiftFiles(_ model: FirstModel) throws -> [(path: String, text: String)] {
        let document = try ModelReader.read(data: Data(model.contents.utf8), name: name)
        return ConvertCommand.distinct(ModelSourceWriter(document.model).files)
    }

    private static let suffix = ".xcdatamodeld"
}
