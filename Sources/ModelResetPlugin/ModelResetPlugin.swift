import Foundation
import PackagePlugin

/// Runs `model-reset` for a package that depends on this package:
///
///     swift package --allow-writing-to-package-directory model-reset check Models/Contacts.xcdatamodeld
///
/// Paths are relative to the package. The plugin can write only inside of the package, and cannot use the network. For servers
/// and for stores outside of the package, use the executable: `swift run model-reset`.
@main
struct ModelResetPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        if let path = arguments.first(where: { isOutside($0, context.package.directoryURL) }) {
            Diagnostics.error(
                "\(path) is outside the package, where a plugin reaches no files. Run: swift run model-reset "
                    + arguments.joined(separator: " "))
            return
        }
        let process = Process()
        process.executableURL = try context.tool(named: "model-reset").url
        process.arguments = arguments
        process.currentDirectoryURL = context.package.directoryURL
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus != 0 else { return }
        Diagnostics.error("model-reset ended with exit status \(process.terminationStatus)")
    }

    /// Whether an argument is the address of a server, or a path outside of the package.
    private func isOutside(_ argument: String, _ package: URL) -> Bool {
        // The value of an option can follow an equals sign.
        let value = argument.hasPrefix("--") ? argument.drop { $0 != "=" }.dropFirst() : argument[...]
        if value.contains("://") { return true }
        let path = URL(filePath: String(value), relativeTo: package).standardizedFileURL.path
        return path != package.standardizedFileURL.path && !path.hasPrefix(package.standardizedFileURL.path + "/")
    }
}
