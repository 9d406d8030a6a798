import Foundation
import ModelResetCommands
import TestSupport
import Testing

@Suite struct UsageTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    @Test(arguments: [
        (["--help"], "COMMAND [ARGUMENT]..."), (["hash", "-h"], "hash MODEL"),
        (["reset", "a", "--help"], "reset MODEL"),
        (["--help", "check"], "check [MODEL]..."), (["--json", "init", "-h"], "init [NAME]"),
        (["hush", "-h"], "COMMAND"),
    ])
    func helpIsAnAnswer(_ words: [String], _ beginning: String) async throws {
        let outcome = try await program.run(words)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("Usage: model-reset \(beginning)"))
        #expect(outcome.errors == "")
    }

    /// The options of a command's help are those that it takes.
    @Test(arguments: ["hash", "diff", "status", "inspect", "reset", "restore", "check", "lock", "diagram", "init"])
    func eachOptionOfTheHelpIsOneOfTheCommand(_ command: String) async throws {
        let help = try await program.run(command, "--help").output
        #expect(help.hasSuffix("\n") && !help.hasSuffix("\n\n"))
        let options = Set(help.matches(of: /--[a-z-]+/).map { String($0.output) })
        #expect(options.contains("--json"))
        for option in options {
            let outcome = try await program.run(command, "a", "b", "c", "d", option)
            #expect(!outcome.errors.contains("unknown option"), "\(option)")
        }
    }

    @Test func theScriptPrintsTheHelpOfTheToolWithoutBuildingIt() async throws {
        let folder = try TemporaryDirectory()
        let compiler = folder.url.appending(component: "swift")
        try Data("#!/bin/sh\nexit 99\n".utf8).write(to: compiler)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: compiler.path)
        let path = "PATH=\(folder.url.path):/usr/bin:/bin"
        for words in [["--help"], ["check", "-h"], ["init", "a", "--help"], ["hush", "--help"]] {
            let script = try await Subprocess(path, ["Scripts/model-reset"] + words)
            #expect(script.status == 0 && script.errors == "")
            #expect(try await program.run(words).output == script.output)
        }
    }

    /// They are not in the store.
    @Test func helpSaysWhereTheReasonsOfListsAre() async throws {
        let output = try await program.run(["inspect", "--help"]).output
        #expect(
            output.contains(
                "Only the process that shows a list knows why the list changed: print the list's lastUpdateReason")
        )
    }

    @Test(arguments: [
        (
            [],
            "the command is missing; the commands are hash, diff, status, inspect, reset, restore, check, lock, diagram, convert, init"
        ),
        (
            ["hush"],
            "unknown command hush; the commands are hash, diff, status, inspect, reset, restore, check, lock, diagram, convert, init"
        ),
        (["hash"], "MODEL is missing"),
        (["diff", "a"], "NEW is missing"),
        (["hash", "a", "b"], "unexpected argument b"),
        (["hash", "a", "--version"], "--version needs a value"),
        (["hash", "a", "--version=1", "--version", "2"], "duplicate option --version"),
        (["hash", "a", "--store", "s"], "unknown option --store"),
        (["status", "a", "--database-key", "1"], "--store is missing"),
        (["reset", "a", "--database-key", "1"], "--store is missing"),
        (["check"], "MODEL is missing, the lock file names no model, and its folder has no bundle"),
        (["check", "--version", "2"], "--version is for one MODEL"),
        (
            ["check", "--against", "a", "--update"],
            "--against and --update exclude each other: the file of --against is only read"
        ),
        (["inspect", "--follow"], "STORE is missing"),
        (["inspect", "a", "--name", "b"], "--name is for a store on a server"),
        (["inspect", "postgresql://localhost/app"], UsageTests.server),
        (["status", "a", "--store", "postgresql://localhost/app", "--database-key", "1"], UsageTests.server),
        (["restore", "a"], "STORE is missing"),
        (["restore", "a", "b", "--backup"], "unknown option --backup"),
        (["diff", "a", "b", "c", "d"], "unexpected argument c"),
        (["check", "a", "--version"], "--version needs a value"),
        (["check", "a", "b", "--version", "2"], "--version is for one MODEL"),
        (
            ["check", "a", "--version", "2", "--update"],
            "--version and --update exclude each other: the lock file records the current version"
        ),
        (["init", "a", "b"], "unexpected argument b"),
        (["init", ".xcdatamodeld"], "a model needs a name before .xcdatamodeld"),
        (
            ["init", "Notes", "--entity", "my note"],
            "my note is not a valid name for an entity; use letters, digits and _"
        ),
    ])
    func argumentsThatMakeNoSenseAreNamed(_ words: [String], _ message: String) async throws {
        let outcome = try await program.run(words)
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.errors == "model-reset: error: \(message)\nTry model-reset --help.\n")
    }

    /// What an address without a name is answered.
    private static var server: String {
        #if PostgreSQL
        "--name is missing"
        #else
        "this program was built without server support; build the program with --traits PostgreSQL"
        #endif
    }

    @Test func theProgramSaysItsVersion() async throws {
        let outcome = try await program.run("--version")
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(outcome.output == "model-reset \(Release.version)\n")
        #expect(Release.version.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
        #expect(try await program.json("--version")["version"] as? String == Release.version)
        #expect(try await program.run("--version", "hash").status == 2)
    }

    @Test func anErrorIsJSONTooIfThatIsAskedFor() async throws {
        let error = try await program.json("hash")["error"] as? [String: String]
        #expect(error == ["code": "usage", "message": "MODEL is missing"])
    }
}
