import Foundation
import Testing

/// What cannot be done is said in a sentence, and changes nothing.
@Suite struct RefusalTests {
    private let program: CatalogProgram

    init() throws {
        program = try CatalogProgram()
    }

    @Test(arguments: ["", "\n\n", "Package: broken\n", "no control file"])
    func anInputWithoutPackagesDeletesNothing(text: String) async throws {
        _ = try await program.update(ControlPackage.many(5).text)
        let outcome = try await program.update(text, "--database-key", "2")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("contains no package. Nothing was changed."))
        #expect(outcome.output.isEmpty)
        #expect(try StoreFile(url: program.store).count("Package") == 5)
    }

    @Test(arguments: ["missing", "."])
    func anInputThatCannotBeReadIsNamed(path: String) async throws {
        let outcome = try await program.run(["--input", path, "--store", program.store.path])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("package-catalog: \(path) cannot be read."))
        #expect(!FileManager.default.fileExists(atPath: program.store.path))
    }

    @Test func aFileThatIsNoStoreStaysAsItIs() async throws {
        let text = Data(repeating: UInt8(ascii: "x"), count: 5000)
        try text.write(to: program.store)
        let outcome = try await program.update(ControlPackage.many(5).text)
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("package-catalog: notADatabase: "))
        #expect(try Data(contentsOf: program.store) == text)
    }

    @Test func aFolderIsNoStore() async throws {
        try FileManager.default.createDirectory(at: program.store, withIntermediateDirectories: true)
        let outcome = try await program.update(ControlPackage.many(5).text)
        #expect(outcome.status == 1)
        #expect(outcome.errors.hasPrefix("package-catalog: notAFile: "))
    }

    @Test(
        arguments: [
            ["--wrong"], ["wrong"], ["--input"], ["--limit", "1"], ["list", "--limit", "x"], ["list", "--limit=-1"],
            ["list", "--input", "-"], ["list", "more"], ["delete"], ["--memory", "--store", "x"], ["--memory=1"],
            ["--store", "x", "--store", "y"], ["--store="],
        ])
    func argumentsThatMakeNoSenseAreRefused(arguments: [String]) async throws {
        let outcome = try await program.run(arguments, environment: ["XDG_DATA_HOME": program.folder.path])
        #expect(outcome.status == 2)
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("package-catalog: "))
        #expect(outcome.errors.hasSuffix("Try package-catalog --help.\n"))
    }

    @Test(arguments: [["--help"], ["-h"], ["list", "--help"]])
    func helpIsNoError(arguments: [String]) async throws {
        let outcome = try await program.run(arguments)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("Usage: package-catalog "))
        #expect(outcome.errors.isEmpty)
    }
}
