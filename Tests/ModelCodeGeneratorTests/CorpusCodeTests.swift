import Foundation
import ManagedModel
import ModelCodeGenerator
import ModelReader
import TestSupport
import Testing

/// What is generated for the models of real apps compiles, whatever names those have.
///
/// `COREDATASOURCE_COMPILED_MODELS` says how many bundles are tried.
@Suite(
    .enabled(
        if: Compiler.isAvailable && !CorpusModels.all.isEmpty,
        "no compiler, or no models found: set COREDATASOURCE_MODELS to their directory"))
struct CorpusCodeTests {
    @Test(arguments: CorpusModels.chosen)
    func classesOfAllEntitiesCompile(_ model: URL) async throws {
        let document = try ModelReader.read(model)
        let directory = try TemporaryDirectory()
        let types = directory.url.appending(component: "Types.swift")
        try Data(AppTypes.declarations(for: [document.model]).utf8).write(to: types)
        for parts in [1, 4] {
            let sources = ModelCodeGenerator(codeGeneration: .class).sources(for: document.model, parts: parts)
            let files = try sources.enumerated().map { number, source in
                let file = directory.url.appending(component: "Generated \(number).swift")
                try Data(source.utf8).write(to: file)
                return file.path
            }
            let diagnostics = try await Compiler.shared.value.diagnostics(of: files + [types.path])
            #expect(diagnostics == "", "\(parts) parts")
        }
    }
}
