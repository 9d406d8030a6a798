internal import CommandLineWords
internal import Foundation
internal import ManagedModel
internal import ModelCodeGenerator
internal import ModelConversion

/// Writes the first model of a new app.
struct InitCommand: Command {
    static let usage = """
        Usage: model-reset init [NAME] [--entity ENTITY] [--json]

        Writes a first model with one entity and four attributes: a folder of Swift, or a bundle if NAME ends in .xcdatamodeld.
        The command overwrites nothing.

          NAME                  the folder to write, or the bundle with its extension (default: Model); the command makes it
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
        let model = ManagedObjectModel(name: name, entities: [entity])
        let files = isBundle ? ModelMarkup(model).files : ConvertCommand.distinct(ModelSourceWriter(model).files)
        try NewFiles(folder: path, isWhole: isBundle).write(files) {}
        let attributes = entity.attributes.map(\.name)
        let json = JSON.object([
            ("model", .string(path)), ("entity", .string(entityName)), ("attributes", .strings(attributes)),
        ])
        return Report(["wrote \(path): \(entityName) with \(attributes.joined(separator: ", "))"], json)
    }

    private var entity: EntityDescription {
        EntityDescription(
            name: entityName, className: entityName,
            attributes: [
                AttributeDescription(name: "createdAt", type: .date, isOptional: true),
                AttributeDescription(name: "name", type: .string, defaultValue: .string("")),
                AttributeDescription(name: "note", type: .string, isOptional: true),
                AttributeDescription(name: "uid", type: .string),
            ], uniquenessConstraints: [["uid"]], codeGeneration: .class)
    }

    private static let suffix = ".xcdatamodeld"
}
