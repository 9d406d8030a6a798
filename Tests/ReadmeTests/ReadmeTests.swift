import Foundation
import TestSupport
import Testing

/// What the README shows is what is built and run here.
struct ReadmeTests {
    @Test func theProgramOfTheReadmeIsTheOneThatIsTested() throws {
        let example = PackageFiles.tests.appending(components: "ReadmeExample", "main.swift")
        let program = try String(contentsOf: example, encoding: .utf8)
        #expect(
            try readme.components(separatedBy: "```swift\n").dropFirst().contains { $0.hasPrefix(program + "```\n") })
    }

    @Test func theLoopOfTheReadmeIsTheOneThatIsTested() throws {
        let example = PackageFiles.tests.appending(components: "FollowExample", "main.swift")
        let program = try String(contentsOf: example, encoding: .utf8)
        let loop = try #require(try blocks.first { $0.hasPrefix("for await") })
        #expect(program.hasSuffix("\n" + loop))
    }

    @Test func theKeysOfTheReadmeAreThoseThatAreTested() throws {
        let path = PackageFiles.tests.appending(components: "CoreDataSourceTests", "DataSource", "ReadmeKeyTests.swift")
        let test = try String(contentsOf: path, encoding: .utf8)
        let source = try #require(try blocks.first { $0.hasPrefix("final class ContactDataSource: Keyed") })
        for line in source.split(separator: "\n") { #expect(test.contains("    \(line)\n"), "\(line)") }
    }

    @Test func theQueriesOfTheReadmeAreThoseThatAreTested() throws {
        let path = PackageFiles.tests.appending(
            components: "CoreDataSourceTests", "Query", "ReadmeQueryTests.swift")
        let test = try String(contentsOf: path, encoding: .utf8)
        let queries = try #require(try blocks.first { $0.hasPrefix("let grown") })
        for line in queries.split(separator: "\n") { #expect(test.contains("        \(line)\n"), "\(line)") }
    }

    /// What stands in the fences of Swift.
    private var blocks: [String] {
        get throws {
            try readme.components(separatedBy: "```swift\n").dropFirst().map { block in
                block.components(separatedBy: "```")[0]
            }
        }
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

    @Test func theProgramThatFollowsAListHearsOfEverySave() async throws {
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
                save: ["Guan Yu", "Zhang Fei", "Zhao Yun"]
                  insert at 2

                """)
    }

    /// A claim stands in a table with the test that proves it.
    @Test func theTestsThatTheReadmeNamesExist() throws {
        let named = try readme.matches(of: /`([A-Za-z]+Tests)\/([A-Za-z]+)`/).map { ($0.output.1, $0.output.2) }
        try #require(!named.isEmpty)
        let sources = try testSources()
        for (suite, test) in named {
            #expect(
                sources.contains { source in
                    ["struct \(suite) ", "struct \(suite):"].contains { source.contains($0) }
                        && source.contains("func \(test)(")
                },
                "There is no test \(suite)/\(test)")
        }
    }

    @Test func theCommandsThatTheReadmeNamesExist() throws {
        let named = Set(try readme.matches(of: /Scripts\/[a-z-]+/).map { String($0.output) })
        try #require(!named.isEmpty)
        for script in named {
            #expect(FileManager.default.isExecutableFile(atPath: PackageFiles.root.appending(path: script).path))
        }
    }

    private var readme: String {
        get throws { try String(contentsOf: PackageFiles.root.appending(component: "README.md"), encoding: .utf8) }
    }

    private func testSources() throws -> [String] {
        let files = FileManager.default.enumerator(at: PackageFiles.tests, includingPropertiesForKeys: nil)
        return try (files?.allObjects ?? []).compactMap { $0 as? URL }
            .filter { $0.lastPathComponent.hasSuffix("Tests.swift") }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }
}
