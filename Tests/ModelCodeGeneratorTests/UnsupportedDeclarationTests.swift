import Foundation
import ManagedModel
import TestSupport
import Testing

/// The build warns of what a model says and this library does not do, and goes on.
struct UnsupportedDeclarationTests {
    @Test(arguments: UnsupportedDeclaration.allCases) func theToolWarnsOfEachAndWritesItsCode(
        _ declaration: UnsupportedDeclaration
    ) async throws {
        let model = try #require(UnsupportedModel.all["\(declaration)"])
        let directory = try TemporaryDirectory()
        let folder = directory.url.appending(component: "M.xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(model.contents.utf8).write(to: folder.appending(component: "contents"))
        let output = directory.url.appending(component: "Output.swift")
        let run = try await Subprocess.tool([folder.path, "--output", output.path])
        #expect(run.status == 0)
        #expect(FileManager.default.fileExists(atPath: output.path))
        let lines = run.errors.split(separator: "\n")
        #expect(lines.count == 1, "\(run.errors)")
        #expect(lines.first?.contains("/contents:") == true && lines.first?.contains(": warning: ") == true)
        #expect(lines.first?.hasSuffix(declaration.effect.filter { $0 != "`" }) == true, "\(run.errors)")
    }
}
