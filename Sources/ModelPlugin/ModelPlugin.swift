import Foundation
import PackagePlugin

/// Generates the Swift source for a target's models when the target is built.
///
/// The first of these lists that exists is used:
/// 1. the models in the target's `ModelPlugin.json`, with an optional access level and paths from the package's root:
///    `{"models": ["Models/Contacts.xcdatamodeld"], "access": "internal"}`;
/// 2. every `.xcdatamodeld` and `.xcdatamodel` in the target's directory;
/// 3. every `.xcdatamodeld` and `.xcdatamodel` in the package's `Models` directory.
///
/// These files need no entry in the manifest, because SwiftPM treats the inputs of a plugin as handled. If a target lists its
/// sources, `exclude: ["ModelPlugin.json"]` makes that explicit.
///
/// SwiftPM calls a plugin again only when the manifest changes, or when a file is added to or removed from a target's
/// directory. The build fails after an edit of `ModelPlugin.json`, or after a new version of a model in another directory: the
/// error says to touch `Package.swift`. A new model in `Models` is found only after that.
@main
struct ModelPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let models: TargetModels
        do {
            models = try TargetModels(of: target, in: context.package)
        } catch {
            Diagnostics.error("\(error)")
            return []
        }
        let tool = try context.tool(named: "model-codegen").url
        return models.urls.map { model in
            let name = model.deletingPathExtension().lastPathComponent
            let output = context.pluginWorkDirectoryURL.appending(component: "\(name).model.swift")
            let files = regularFiles(in: model)
            let parts = partNames(of: name, entityCount: entityCount(in: files)).map {
                context.pluginWorkDirectoryURL.appending(component: $0)
            }
            let inputs = [model] + files + models.configurationFiles
            return .buildCommand(
                displayName: "Generating the Swift of \(model.lastPathComponent)",
                executable: tool,
                arguments: [model.path, "--output", output.path] + models.options + models.settings
                    + parts.flatMap { ["--part", $0.path] } + files.flatMap { ["--watched", $0.path] },
                inputFiles: inputs + lockFiles(above: model, in: context.package.directoryURL),
                outputFiles: [output] + parts)
        }
    }
}
