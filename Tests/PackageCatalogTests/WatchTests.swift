import Foundation
import Testing

/// Following the catalog. Standard output is no terminal here, so each change is a line.
@Suite struct WatchTests {
    private let program: CatalogProgram
    private let packages = [
        ControlPackage(name: "zsh", section: "shells"), ControlPackage(name: "libzip", section: "libs"),
        ControlPackage(name: "bash", version: "5.2", section: "shells"),
    ]

    init() throws {
        program = try CatalogProgram()
        try packages.text.write(to: program.input, atomically: true, encoding: .utf8)
    }

    private func run(_ commands: String, _ options: String...) async throws -> CatalogProgram.Outcome {
        let file = program.folder.appending(component: "commands")
        try commands.write(to: file, atomically: true, encoding: .utf8)
        return try await program.run(
            ["watch", "--input", program.input.path, "--store", program.store.path] + options, standardInput: file)
    }

    @Test func deletesAndAddsAreShownLineByLine() async throws {
        let more = program.folder.appending(component: "more")
        let added = [ControlPackage(name: "zip"), ControlPackage(name: "zsh", section: "utils")]
        try added.text.write(to: more, atomically: true, encoding: .utf8)
        let outcome = try await run("delete libzip\nadd \(more.path)\ndelete nothing\njump\n")
        #expect(outcome.status == 0)
        #expect(
            outcome.lines.dropFirst(3) == [
                "watching: 3 packages, 2 sections", "- libzip 1.0 [libs]", "packages: deleted=1 rows=2",
                "+ zip 1.0 [utils]", "> zsh 1.0 [utils]", "packages: inserted=1 updated=1",
                "Not in the catalog: nothing", "A line is delete NAME, or add FILE.",
            ])
        let store = StoreFile(url: program.store)
        #expect(try store.count("Package") == 3)
        #expect(try store.count("Maintainer") == 1)
        #expect(try store.integrity() == "ok")
    }

    @Test func oneSectionCanBeWatched() async throws {
        let outcome = try await run("delete libzip\ndelete bash\n", "--section", "shells")
        #expect(
            outcome.lines.dropFirst(3) == [
                "watching: 2 packages, 1 sections", "packages: deleted=1 rows=2", "- bash 5.2 [shells]",
                "packages: deleted=1 rows=1",
            ])
    }

    @Test func standardInputIsForCommands() async throws {
        let outcome = try await program.run(["watch", "--input", "-", "--memory"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("watch reads its commands from standard input"))
    }
}
