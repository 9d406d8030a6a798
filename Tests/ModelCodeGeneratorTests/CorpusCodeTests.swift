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
        let file = directory.url.appending(component: "Generated.swift")
        let source = ModelCodeGenerator(codeGeneration: .class).source(for: document.model)
        try Data(source.utf8).write(to: file)
        let complaints = try await Compiler.shared.value.complaints(about: [file.path])
        #expect(complaints == "")
    }
}
