import Foundation
import ManagedModel
import ModelReader
import TestSupport
import Testing

/// What was generated is Swift, without a warning, and does what the model says.
@Suite(.enabled(if: Compiler.isAvailable)) struct GeneratedCodeTests {
    @Test(arguments: GoldenCase.all)
    func generatedCodeCompilesWithoutWarnings(_ golden: GoldenCase) async throws {
        let author = golden.folder.appending(component: "Author.swift").path
        let files = [golden.expected.path] + (FileManager.default.fileExists(atPath: author) ? [author] : [])
        let diagnostics = try await Compiler.shared.value.diagnostics(of: files)
        #expect(diagnostics == "")
    }

    /// A type whose raw values are not of the attribute's type would damage rows.
    @Test(arguments: [
        ("TaskState: String", "TaskState: Int", "cannot convert"), ("Effort: Int16", "Effort: Int32", "cannot convert"),
        ("Priority: Int", "Priority: Double", "conform to 'BinaryInteger'"),
        ("rawValue: Int32", "rawValue: Int64", "cannot convert"),
        ("Venue: String, AttributeStorable", "Venue: String", "conform to 'AttributeStorable'"),
    ])
    func aTypeThatDoesNotGoWithItsAttributeDoesNotCompile(_ right: String, _ wrong: String, _ words: String)
        async throws
    {
        let golden = GoldenCase.named("Tasks")
        let author = try String(contentsOf: golden.folder.appending(component: "Author.swift"), encoding: .utf8)
        try #require(author.contains(right))
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(component: "Author.swift")
        try author.replacing(right, with: wrong).write(to: file, atomically: true, encoding: .utf8)
        let diagnostics = try await Compiler.shared.value.diagnostics(of: [golden.expected.path, file.path])
        #expect(diagnostics.contains("Expected.swift") && diagnostics.contains(words), "\(diagnostics)")
    }

    @Test func propertiesReadTheirColumnsAndTheLiteralIsTheModel() async throws {
        let golden = GoldenCase.named("AllTypes")
        let program = PackageFiles.cases.appending(components: "Programs", "UsesAllTypes.swift").path
        let run = try await Compiler.shared.value.run([golden.expected.path, program])
        #expect(run.status == 0)
        let parts = run.output.split(separator: "model:\n", maxSplits: 1)
        try #require(parts.count == 2)
        #expect(
            parts[0] == """
                a new place: true true
                read back: true true Home
                columns: ["b", "Main Street"] true Home
                zero is not nil: true true
                nil again: true true
                after inherited columns: Al
                inherited key paths: createdAt 3
                a key path of the parent: none
                names: class self
                classes: 9 true

                """)
        let fixture = PackageFiles.root.appending(components: "Tests", "Fixtures", "AllTypes.xcdatamodeld")
        let model = try ModelReader.read(fixture).model
        var dumped = ""
        dump([model.entities, model.composites, model.fetchRequests, model.configurations] as [Any], to: &dumped)
        #expect(parts[1] == dumped)
    }
}
