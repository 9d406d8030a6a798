import CoreDataSource
import Foundation
import ManagedModel
import ModelReader
import TestSupport
import Testing

/// A container says what its model says and this library does not do.
struct UnsupportedDeclarationTests {
    @Test(arguments: UnsupportedDeclaration.allCases) func aContainerNamesWhatItsModelHas(
        _ declaration: UnsupportedDeclaration
    ) async throws {
        let unsupported = try #require(UnsupportedModel.all["\(declaration)"])
        let model = try ModelReader.read(data: Data(unsupported.contents.utf8), name: "M").model
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let sentences = container.unsupportedDeclarations
        // What only a file says, the reader of the file has said.
        #expect(sentences.count == (unsupported.swift == nil ? 0 : 1))
        let effect = declaration.effect.filter { $0 != "`" }
        #expect(sentences.allSatisfy { $0.hasSuffix(effect) }, "\(sentences)")
    }
}
