import Foundation
import TestSupport
import Testing

/// What the README shows is what is built and run here.
struct ReadmeTests {
    @Test func theProgramOfTheReadmeIsTheOneThatIsTested() throws {
        let example = PackageFiles.tests.appending(path: "Programs/ReadmeExample/main.swift")
        let program = try String(contentsOf: example, encoding: .utf8)
        #expect(
            try readme.components(separatedBy: "```swift\n").dropFirst().contains { $0.hasPrefix(program + "```\n") })
    }

    @Test func theProgramOfTheReadmeFindsAtItsNextStartWhatItStored() async throws {
        let directory = try TemporaryDirectory()
        let example = PackageFiles.products.appending(component: "readme-example").path
        let first = try await Subprocess(example, [], in: directory.url)
        #expect(first.errors == "")
        #expect(first.status == 0)
        #expect(
            first.output == """
                startup: firstLaunch, 0 contacts
                added: 2
                1 Guan Yu
                2 Zhang Fei
                synced: 1 new, 1 changed, 1 gone

                """)
        let second = try await Subprocess(example, [], in: directory.url)
        #expect(second.errors == "")
        #expect(
            second.output == """
                startup: current, 2 contacts
                added: 1
                1 Guan Yu
                2 Zhang Fei
                3 Zhao Yun
                synced: 0 new, 1 changed, 1 gone

                """)
    }

    @Test func theProgramThatFollowsAListPrintsEverySave() async throws {
        let program = PackageFiles.products.appending(component: "follow-example").path
        let run = try await Subprocess(program, [])
        #expect(run.errors == "")
        #expect(run.status == 0)
        #expect(
            run.output == """
                initial: []
                save: ["Guan Yu"]
                  insert at 0
                save: ["Guan Yu", "Zhang Fei"]
                  insert at 1

                """)
        #expect(try readme.contains("```\n\(run.output)```\n"))
    }

    /// Each promise of the article is an item of a list. The tests that prove the promise are listed below it.
    @Test func theTestsThatTheGuaranteesNameExist() throws {
        let article = try text("Sources/CoreDataSource/CoreDataSource.docc/Guarantees.md")
        let named = article.matches(of: /`([A-Za-z]+(?:Tests|Promises))\/([A-Za-z]+)`/).map {
            "\($0.output.1)/\($0.output.2)"
        }
        try #require(named.count > 100)
        let declared = try Set(testSources().flatMap(tests(in:)))
        for test in named { #expect(declared.contains(test), "There is no test \(test)") }
    }

    /// Each function of a file with each type that the file declares or extends, as `Type/function`. The file is read once, because a
    /// search for each of 800 names in each file takes more than a minute in a debug build.
    private func tests(in source: String) -> [String] {
        let spaces = Array(" :(".utf8)
        var types: [Substring] = []
        var functions: [Substring] = []
        for line in source.utf8.split(separator: UInt8(ascii: "\n")) {
            var words = line.split { spaces.contains($0) }[...]
            while let word = words.popFirst(), let name = words.first {
                switch Substring(word) {
                case "struct", "extension": types.append(Substring(name))
                case "func": functions.append(Substring(name))
                default: break
                }
            }
        }
        return types.flatMap { type in functions.map { "\(type)/\($0)" } }
    }

    @Test func theReadmeIsShortEnoughForTwoMinutes() throws {
        #expect(try readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 181)
    }

    @Test func theArticlesThatTheReadmeNamesExist() throws {
        let named = try readme.matches(of: /\]\((Sources\/[^)]+)\)/).map { String($0.output.1) }
        try #require(!named.isEmpty)
        for path in named {
            #expect(FileManager.default.fileExists(atPath: PackageFiles.root.appending(path: path).path), "\(path)")
        }
    }

    private var readme: String {
        get throws { try text("README.md") }
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: PackageFiles.root.appending(path: path), encoding: .utf8)
    }

    private func testSources() throws -> [String] {
        let files = FileManager.default.enumerator(at: PackageFiles.tests, includingPropertiesForKeys: nil)
        return try (files?.allObjects ?? []).compactMap { $0 as? URL }
            .filter { url in ["Tests.swift", "Promises.swift"].contains { url.lastPathComponent.hasSuffix($0) } }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }
}
