import Foundation
import PackagePlugin

/// Generates the Swift source for the models of a target when the target is built.
///
/// The plugin uses the first of these lists that exists:
/// 1. the models in the target's `ModelPlugin.json`. Paths start at the root of the package, and the access level is optional:
///    `{"models": ["Models/Contacts.xcdatamodeld"], "access": "internal"}`;
/// 2. every `.xcdatamodeld` and `.xcdatamodel` in the target's directory;
/// 3. every `.xcdatamodeld` and `.xcdatamodel` in the package's `Models` directory.
///
/// The manifest does not need to mention these files, because SwiftPM treats the inputs of a plugin as handled. A
/// target that lists its sources can exclude `ModelPlugin.json` explicitly: `exclude: ["ModelPlugin.json"]`.
///
/// SwiftPM calls a plugin again only when the manifest changes, or when a file is added to or removed from a target's
/// directory. So two changes make the build fail with an error that says to touch `Package.swift`: an edit of
/// `ModelPlugin.json`, and a new version of a model outside of the target's directory. A new model in `Models` is found
/// only after `touch Package.swift`.
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
