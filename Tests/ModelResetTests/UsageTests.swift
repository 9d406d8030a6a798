import TestSupport
import Testing

@Suite struct UsageTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    @Test(arguments: [["--help"], ["hash", "-h"], ["reset", "a", "--help"]])
    func helpIsAnAnswer(_ words: [String]) async throws {
        let outcome = try await program.run(words)
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("Usage: model-reset hash MODEL"))
        #expect(outcome.errors == "")
    }

    @Test(arguments: [
        ([], "a command is missing: hash, diff, status, reset, check, diagram"),
        (["hush"], "there is no command hush; there are hash, diff, status, reset, check, diagram"),
        (["hash"], "MODEL is missing"),
        (["diff", "a"], "NEW is missing"),
        (["hash", "a", "b"], "b is one word too many"),
        (["hash", "a", "--version"], "--version needs a value"),
        (["hash", "a", "--version=1", "--version", "2"], "--version is there twice"),
        (["hash", "a", "--store", "s"], "there is no option --store here"),
        (["status", "a", "--database-key", "1"], "--store is missing"),
        (["reset", "a", "--store", "s"], "--database-key is missing"),
        (["check"], "MODEL is missing"),
    ])
    func argumentsThatMakeNoSenseAreNamed(_ words: [String], _ message: String) async throws {
        let outcome = try await program.run(words)
        #expect(outcome.status == 2)
        #expect(outcome.output == "")
        #expect(outcome.errors == "model-reset: error: \(message)\nTry model-reset --help.\n")
    }

    @Test func anErrorIsJSONTooIfThatIsAskedFor() async throws {
        let error = try await program.json("hash")["error"] as? [String: String]
        #expect(error == ["code": "usage", "message": "MODEL is missing"])
    }
}
