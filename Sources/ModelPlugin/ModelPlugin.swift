import Foundation
import PackagePlugin

/// Generates the Swift of a target's models when the target is built.
///
/// The models are, in this order:
/// 1. those that `ModelPlugin.json` in the target's directory lists, with the access level that it may name:
///    `{"models": ["Models/Contacts.xcdatamodeld"], "access": "internal"}`, paths from the package's root;
/// 2. every `.xcdatamodeld` and `.xcdatamodel` in the target's directory;
/// 3. every one in the package's `Models` directory.
///
/// SwiftPM treats the inputs of a plugin as handled, so none of these files needs an entry in the manifest. If a target lists
/// its sources, `exclude: ["ModelPlugin.json"]` makes that explicit.
///
/// SwiftPM calls a plugin again only when the manifest changes, or a file is added to or removed from a target's directory. After an
/// edit of `ModelPlugin.json`, or a version that was added elsewhere, the build fails and says to touch `Package.swift`. A model that
/// was added to `Models` is seen only then.
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
