import Foundation
import Testing

/// Looking at what is stored, and deleting it.
@Suite struct CommandTests {
    private let program: CatalogProgram

    init() async throws {
        program = try CatalogProgram()
        let packages = [
            ControlPackage(name: "zsh", section: "shells", summary: "a shell with lots of features"),
            ControlPackage(
                name: "libzip", section: "libs", maintainer: "Ann <ann@example.org>", summary: "reads archives"),
            ControlPackage(name: "bash", version: "5.2", section: "shells", summary: "GNU Bourne Again SHell"),
            ControlPackage(name: "zip", summary: "makes archives"),
        ]
        _ = try await program.update(packages.text)
    }

    @Test func aListHasEverythingByName() async throws {
        #expect(try await names("list") == ["bash", "libzip", "zip", "zsh"])
        #expect(try await program.command("list").lines.first == "bash\t5.2\tall\tshells\tGNU Bourne Again SHell")
    }

    @Test func aListCanBeNarrowed() async throws {
        #expect(try await names("list", "--section", "shells") == ["bash", "zsh"])
        #expect(try await names("list", "--search", "shell") == ["bash", "zsh"])
        #expect(try await names("list", "--search=ZIP") == ["libzip", "zip"])
        #expect(try await names("list", "--search", "zip", "--section", "utils") == ["zip"])
        #expect(try await names("list", "--limit", "2") == ["bash", "libzip"])
        #expect(try await names("list", "--search", "archives", "--limit", "1") == ["libzip"])
        #expect(try await names("list", "--limit", "0").isEmpty)
    }

    @Test func deletedPackagesAreGoneWithTheirMaintainers() async throws {
        #expect(try await program.command("delete", "libzip", "bash").lines == ["packages: deleted=2 rows=2"])
        #expect(try await names("list") == ["zip", "zsh"])
        let store = StoreFile(url: program.store)
        #expect(try store.count("Maintainer") == 1)
        #expect(try store.integrity() == "ok")
    }

    @Test func anUnknownNameIsReported() async throws {
        let outcome = try await program.command("delete", "zip", "nothing")
        #expect(outcome.status == 1)
        #expect(outcome.lines == ["packages: deleted=1 rows=3"])
        #expect(outcome.errors == "package-catalog: Not in the catalog: nothing\n")
    }

    @Test func aDeletedPackageComesBackWithTheNextUpdate() async throws {
        _ = try await program.command("delete", "zip")
        let lines = try await program.run(["--input", program.input.path, "--store", program.store.path]).lines
        #expect(lines[1].contains("inserted=1 updated=0 unchanged=3 deleted=0 "))
        #expect(lines[2].contains("inserted=0 updated=1 unchanged=1 deleted=0 "))
    }

    @Test func aCommandDoesNotResetTheStore() async throws {
        let outcome = try await program.command("list", "--database-key", "2")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("the database key changed"))
        #expect(try await names("list").count == 4)
    }

    @Test func aCommandDoesNotMakeAStore() async throws {
        let outcome = try await program.run(["list", "--store", "missing"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("There is no store"))
        #expect(!FileManager.default.fileExists(atPath: program.folder.appending(component: "missing").path))
    }

    @Test func inMemoryTheInputIsReadFirst() async throws {
        let outcome = try await program.run(["list", "--memory", "--input", program.input.path, "--limit", "1"])
        #expect(outcome.lines.count == 4)
        #expect(outcome.lines.last?.hasPrefix("bash\t") == true)
    }

    @Test func theStoreIsInTheUsersDataDirectory() async throws {
        let data = program.folder.appending(path: "data/of/mine")
        let outcome = try await program.run(["--input", program.input.path], environment: ["XDG_DATA_HOME": data.path])
        #expect(outcome.status == 0)
        #expect(try StoreFile(url: data.appending(path: "package-catalog/packages.sqlite")).count("Package") == 4)
    }

    private func names(_ words: String...) async throws -> [String] {
        let outcome = try await program.run(words + ["--store", program.store.path])
        return outcome.lines.map { String($0.prefix { $0 != "\t" }) }
    }
}
