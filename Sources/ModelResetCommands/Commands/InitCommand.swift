internal import CommandLineWords
internal import Foundation

/// Writes the first model of an app.
struct InitCommand: Command {
    static let usage = """
        Usage: model-reset init [NAME] [--entity ENTITY] [--json]

        Writes a first model, NAME.xcdatamodeld, with one entity and four attributes. It overwrites nothing.

          NAME                  the bundle to write, with or without its extension (default: Model); its folder is made
          --entity ENTITY       the name of the entity (default: ItemEntity)
          --json                prints the answer as JSON, on one line

        """

    let bundle: URL
    let path: String
    let entityName: String

    init(_ words: ArraySlice<String>) throws {
        let words = try CommandLineWords(command: words, values: ["--entity"])
        let name = words.plain.isEmpty ? "Model" : try words.plain("NAME")[0]
        path = name.hasSuffix(Self.suffix) ? name : name + Self.suffix
        bundle = URL(filePath: path, directoryHint: .isDirectory)
        entityName = words.value("--entity") ?? "ItemEntity"
        guard bundle.lastPathComponent != Self.suffix else {
            throw UsageError("a model needs a name before \(Self.suffix)")
        }
        guard entityName.wholeMatch(of: /[\p{L}_][\p{L}\p{N}_]*/) != nil else {
            throw UsageError("\(entityName) is not a valid name for an entity; use letters, digits and _")
        }
    }

    func run(_ warnings: inout [String]) throws -> Report {
        try makeBundle()
        let model = FirstModel(name: bundle.deletingPathExtension().lastPathComponent, entityName: entityName)
        do {
            for (file, text) in model.files { try OutputFile(path: bundle.appending(path: file).path).write(text) }
        } catch {
            // A partial model would make the next attempt fail.
            try? FileManager.default.removeItem(at: bundle)
            throw error
        }
        let attributes = model.attributes.map(\.name)
        let json = JSON.object([
            ("model", .string(path)), ("entity", .string(entityName)), ("attributes", .strings(attributes)),
        ])
        return Report(["wrote \(path): \(entityName) with \(attributes.joined(separator: ", "))"], json)
    }

    /// Fails if the bundle exists, so that nothing is overwritten.
    private func makeBundle() throws {
        do {
            let folder = bundle.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: false)
        } catch {
            if FileManager.default.fileExists(atPath: bundle.path) {
                throw OutputError("\(path) already exists; choose another name, or delete it first")
            }
            throw OutputError("the folder \(path) cannot be made (\(error.localizedDescription))")
        }
    }

    private static let suffix = ".xcdatamodeld"
}
