// Finds the models of a target as the plugin does: find-models PACKAGE TARGET-DIRECTORY
import Foundation
import PackagePlugin

struct App: Target {
    var name: String { "App" }
    var directoryURL: URL
}

@main struct FindModels {
    static func main() {
        let folders = CommandLine.arguments.dropFirst().map { URL(filePath: $0, directoryHint: .isDirectory) }
        do {
            let models = try TargetModels(of: App(directoryURL: folders[1]), in: Package(directoryURL: folders[0]))
            for model in models.urls { print(model.path) }
            if !models.options.isEmpty { print(models.options.joined(separator: " ")) }
        } catch {
            print("\(error)")
        }
    }
}
