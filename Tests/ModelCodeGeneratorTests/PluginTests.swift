import Foundation
import TestSupport
import Testing

/// Where the plugin looks for models, and what it says if there are none. Its source is compiled as a program for this.
@Suite(.enabled(if: Compiler.isAvailable)) struct PluginTests {
    private let directory: TemporaryDirectory
    private let package: URL
    private let target: URL

    init() throws {
        directory = try TemporaryDirectory()
        package = directory.url
        target = package.appending(components: "Sources", "App")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
    }

    @Test func theSentenceForAMissingModelNamesEveryPlaceThatIsSearched() async throws {
        let answer = try await answer()
        #expect(answer.hasPrefix("ModelPlugin found no model for the target App: put the .xcdatamodeld into "))
        // A model in any of these places is found.
        let places = answer.matches(of: /into ([^,\n]*),/).map { String($0.1) }
        #expect(places == [target.path, package.appending(component: "Models").path])
        for place in places.reversed() {
            let model = URL(filePath: place).appending(component: "Shop.xcdatamodeld")
            try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
            #expect(try await self.answer() == model.path + "\n")
        }
        let file = target.appending(component: "ModelPlugin.json")
        #expect(answer.contains("or name the model in \(file.path)"))
        try Data(#"{"models": ["Models/Shop.xcdatamodeld"]}"#.utf8).write(to: file)
        #expect(try await self.answer() == places[1] + "/Shop.xcdatamodeld\n")
    }

    @Test func theAccessThatTheFileNamesIsPassedOn() async throws {
        let model = target.appending(component: "Shop.xcdatamodeld")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        func answer(_ access: String) async throws -> String {
            let text = #"{"models": ["Sources/App/Shop.xcdatamodeld"], "access": "\#(access)"}"#
            try Data(text.utf8).write(to: target.appending(component: "ModelPlugin.json"))
            return try await self.answer()
        }
        for access in ["public", "package", "internal"] {
            #expect(try await answer(access) == "\(model.path)\n--access \(access)\n")
        }
        #expect(try await answer("open").hasSuffix(": access is public, package or internal, not open\n"))
    }

    private func answer() async throws -> String {
        try await Subprocess(PluginProgram.shared.value.path, [package.path, target.path]).output
    }
}

/// The plugin's search for models as a program.
private enum PluginProgram {
    static let shared = Task { try await build() }

    private static func build() async throws -> URL {
        let products = PackageFiles.products.appending(component: "PluginTests")
        try FileManager.default.createDirectory(at: products, withIntermediateDirectories: true)
        let folder = PackageFiles.cases.appending(component: "Plugin")
        let module = ["-emit-module", "-emit-library", "-static", "-module-name", "PackagePlugin"]
        try await compile(module + [folder.appending(component: "PackagePlugin.swift").path], in: products)
        let program = products.appending(component: "find-models")
        let sources = [
            folder.appending(component: "FindModels.swift").path,
            PackageFiles.root.appending(components: "Sources", "ModelPlugin", "TargetModels.swift").path,
        ]
        let libraries = ["-I", products.path, "-L", products.path, "-lPackagePlugin"]
        try await compile(["-o", program.path] + libraries + sources, in: products)
        return program
    }

    private static func compile(_ arguments: [String], in directory: URL) async throws {
        let run = try await Subprocess("swiftc", ["-parse-as-library"] + arguments, in: directory)
        try #require(run.status == 0, "\(run.errors)")
    }
}
