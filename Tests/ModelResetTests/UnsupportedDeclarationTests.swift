import Foundation
import ManagedModel
import TestSupport
import Testing

/// A check warns of what a model says and this library does not do. The warnings fail it with `--strict` alone.
struct UnsupportedDeclarationTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    private func checkWarns(_ declaration: UnsupportedDeclaration, _ path: String, at place: String) async throws {
        let words = ["check", path, "--lock", "model.lock", "--update"]
        let outcome = try await program.run(words)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 1, "\(outcome.errors)")
        #expect(lines.first?.contains(place) == true && lines.first?.contains(": warning: ") == true)
        #expect(lines.first?.hasSuffix(declaration.effect.filter { $0 != "`" }) == true, "\(outcome.errors)")
        #expect(try await program.run(words + ["--strict"]).status == 1)
    }

    @Test(arguments: UnsupportedDeclaration.allCases) func aCheckOfAFileWarns(
        _ declaration: UnsupportedDeclaration
    ) async throws {
        let model = try #require(UnsupportedModel.all["\(declaration)"])
        let contents = program.file("M.xcdatamodeld/M.xcdatamodel/contents")
        try FileManager.default.createDirectory(
            at: contents.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(model.contents.utf8).write(to: contents)
        try await checkWarns(declaration, "M.xcdatamodeld", at: "M.xcdatamodeld/M.xcdatamodel/contents:")
    }

    @Test(arguments: UnsupportedDeclaration.allCases.filter { UnsupportedModel.all["\($0)"]?.swift != nil })
    func aCheckOfClassesWarns(_ declaration: UnsupportedDeclaration) async throws {
        let text = try #require(UnsupportedModel.all["\(declaration)"]?.swift)
        try text.write(to: program.file("M.swift"), atomically: true, encoding: .utf8)
        try await checkWarns(declaration, "M.swift", at: "M.swift:")
    }
}
