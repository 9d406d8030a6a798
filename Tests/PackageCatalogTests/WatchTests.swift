import Foundation
import TestSupport
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
                "Not in the catalog: nothing", "Enter delete NAME, or add FILE.",
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

    // MARK: While it runs

    private var watch: [String] { ["watch", "--input", program.input.path, "--store", program.store.path] }

    private let changed = [
        ControlPackage(name: "zip"), ControlPackage(name: "zsh"),
        ControlPackage(name: "bash", version: "5.2", section: "shells", summary: "another package"),
    ]

    @Test func theInputIsFollowedWhileItRuns() async throws {
        let more = program.folder.appending(component: "more")
        try [ControlPackage(name: "awk")].text.write(to: more, atomically: true, encoding: .utf8)
        let watching = try program.converse(watch)
        func isAnswer(_ line: String) -> Bool { line.hasPrefix("packages: ") }
        let start = await watching.next { $0.hasPrefix("watching: ") }
        #expect(start.last == "watching: 3 packages, 2 sections")

        try program.replaceInput(changed)
        let replaced = await watching.next(until: isAnswer)
        #expect(
            replaced.dropLast() == [
                "- libzip 1.0 [libs]", "* bash 5.2 [shells]", "+ zip 1.0 [utils]", "> zsh 1.0 [utils]",
            ])
        #expect(replaced.last?.hasPrefix("packages: read=3 inserted=1 updated=2 unchanged=0 deleted=1") == true)

        try watching.send("delete zip")
        #expect(await watching.next(until: isAnswer) == ["- zip 1.0 [utils]", "packages: deleted=1 rows=2"])
        try watching.send("add \(more.path)")
        #expect(await watching.next(until: isAnswer) == ["+ awk 1.0 [utils]", "packages: inserted=1 updated=0"])

        // Written in its place, and after that replaced again.
        try Data(packages.text.utf8).write(to: program.input)
        #expect(await watching.next(until: isAnswer).contains("+ libzip 1.0 [libs]"))
        try program.replaceInput(changed)
        #expect(await watching.next(until: isAnswer).contains("- libzip 1.0 [libs]"))
        #expect(try await watching.end() == 0)
        #expect(try StoreFile(url: program.store).count("Package") == 3)
    }

    #if os(Linux)
    @Test func aTerminalIsPaintedWithMarksAtWhatChanged() async throws {
        let watching = try program.converseAtTerminal(watch, rows: 24, columns: 60)
        let start = await watching.next { screen($0).contains("  bash 5.2 [shells]") }
        #expect(
            start.last.map(screen)?.dropLast(2) == [
                "libs (1)", "  libzip 1.0 [libs]", "shells (2)", "  bash 5.2 [shells]", "  zsh 1.0 [shells]",
            ])

        try program.replaceInput(changed)
        let replaced = await watching.next { screen($0).contains { $0.hasPrefix("packages: read=3") } }
        #expect(
            replaced.last.map(screen)?.dropLast(2) == [
                "shells (1)", "* bash 5.2 [shells]", "utils (2)", "+ zip 1.0 [utils]", "> zsh 1.0 [utils]",
                "- libzip 1.0 [libs]",
            ])
        #expect(replaced.last.map(screen)?.last == "delete NAME, add FILE, quit")

        try watching.send("delete zip")
        let deleted = await watching.next { screen($0).contains("packages: deleted=1 rows=2") }
        #expect(
            deleted.last.map(screen)?.dropLast(2) == [
                "shells (1)", "  bash 5.2 [shells]", "utils (1)", "  zsh 1.0 [utils]", "- zip 1.0 [utils]",
            ])
        try watching.send("quit")
        _ = await watching.next { _ in false }
        #expect(await watching.status() == 0)
    }
    #endif

    /// The lines of a screen, which is painted from its first on.
    private func screen(_ output: String) -> [String] {
        let painted = output.components(separatedBy: "\u{1B}[H").last ?? ""
        let plain = painted.replacing("\u{1B}[K", with: "").unicodeScalars.filter { $0 != "\r" }
        return String(String.UnicodeScalarView(plain)).components(separatedBy: "\n")
    }

    @Test func standardInputIsForCommands() async throws {
        let outcome = try await program.run(["watch", "--input", "-", "--memory"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("watch reads its commands from standard input"))
    }
}
