import Foundation
import TestSupport
import Testing

/// Several processes have one catalog open.
@Suite struct SharedCatalogTests {
    /// Where it is.
    enum Place: String, CaseIterable, Sendable {
        case file
        case server

        static var all: [Place] {
            #if PostgreSQL
            PostgreSQLServer.isInstalled ? allCases : [.file]
            #else
            [.file]
            #endif
        }
    }

    private let program: CatalogProgram
    private let packages = [
        ControlPackage(name: "zsh", section: "shells"), ControlPackage(name: "libzip", section: "libs"),
        ControlPackage(name: "bash", version: "5.2", section: "shells"),
    ]

    init() throws {
        program = try CatalogProgram()
        try packages.text.write(to: program.input, atomically: true, encoding: .utf8)
    }

    private func options(_ place: Place) throws -> [String] {
        switch place {
        case .file: return ["--store", program.store.path, "--shared"]
        case .server:
            let server = try PostgreSQLServer.shared
            return ["--store", server.connectionString(database: try server.makeDatabase())]
        }
    }

    @Test(arguments: Place.all)
    func aWatchFollowsWhatOtherProcessesDo(place: Place) async throws {
        let options = try options(place)
        let watching = try program.converse(["watch", "--input", program.input.path] + options)
        #expect(await watching.next { $0.hasPrefix("watching: ") }.last == "watching: 3 packages, 2 sections")

        let other = try CatalogProgram()
        let deleted = try await other.run(["delete", "libzip"] + options)
        #expect(deleted.lines == ["packages: deleted=1 rows=2"], "\(deleted.errors)")
        #expect(await watching.next() == "- libzip 1.0 [libs]")

        let changed = [
            ControlPackage(name: "zip"),
            ControlPackage(name: "bash", version: "5.2", section: "shells", summary: "another package"),
        ]
        try changed.text.write(to: other.input, atomically: true, encoding: .utf8)
        let updated = try await other.run(["--input", other.input.path] + options)
        #expect(updated.status == 0, "\(updated.errors)")
        var seen: Set<String> = []
        while seen.count < 3, let line = await watching.next() { seen.insert(line) }
        #expect(seen == ["* bash 5.2 [shells]", "+ zip 1.0 [utils]", "- zsh 1.0 [shells]"])

        // The one that watches writes, too.
        try watching.send("delete zip")
        #expect(
            await watching.next { $0.hasPrefix("packages: ") } == ["- zip 1.0 [utils]", "packages: deleted=1 rows=1"])
        #expect(try await watching.end() == 0)
        let listed = try await other.run(["list"] + options)
        #expect(listed.output.contains("bash") && !listed.output.contains("zip"))
    }
}
