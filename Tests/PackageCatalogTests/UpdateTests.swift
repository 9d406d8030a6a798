import Foundation
import Testing

/// Making the store equal to a control file, and what is said about it.
@Suite struct UpdateTests {
    private let program: CatalogProgram

    init() throws {
        program = try CatalogProgram()
    }

    @Test func anUpdateInsertsEveryRecordOnce() async throws {
        let text = ControlPackage.many(300).text
        #expect(
            try await program.update(text).lines == [
                "startup: first launch",
                "packages: read=300 inserted=300 updated=0 unchanged=0 deleted=0 duplicates=0 broken=0 rows=300",
                "maintainers: read=7 inserted=7 updated=0 unchanged=0 deleted=0 duplicates=0 broken=0 rows=7",
            ])
        #expect(
            try await program.update(text).lines == [
                "startup: current",
                "packages: read=300 inserted=0 updated=0 unchanged=300 deleted=0 duplicates=0 broken=0 rows=300",
                "maintainers: read=7 inserted=0 updated=0 unchanged=7 deleted=0 duplicates=0 broken=0 rows=7",
            ])
        let store = StoreFile(url: program.store)
        #expect(try store.count("Package") == 300)
        #expect(try store.count("Maintainer") == 7)
        #expect(try store.integrity() == "ok")
    }

    @Test func anEditedInputReportsExactlyTheEdits() async throws {
        var packages = ControlPackage.many(50)
        _ = try await program.update(packages.text)
        packages[3].summary = "another summary"
        packages[4].section = "oldlibs"
        packages[5].version = "2.0"
        packages.remove(at: 20)
        packages.append(ControlPackage(name: "new", maintainer: "Ann <ann@example.org>"))
        #expect(
            try await program.update(packages.text).lines.dropFirst() == [
                "packages: read=50 inserted=2 updated=2 unchanged=46 deleted=2 duplicates=0 broken=0 rows=50",
                "maintainers: read=8 inserted=1 updated=1 unchanged=6 deleted=0 duplicates=0 broken=0 rows=8",
            ])
        #expect(try StoreFile(url: program.store).count("Package") == 50)
    }

    @Test func anotherDatabaseKeyEmptiesTheStoreAndFillsItAgain() async throws {
        let text = ControlPackage.many(20).text
        _ = try await program.update(text)
        let lines = try await program.update(text, "--database-key", "2").lines
        #expect(lines.first == "startup: reset, the database key changed; rows dropped: 89")
        #expect(lines.dropFirst().first?.contains("inserted=20 ") == true)
        #expect(try await program.update(text, "--database-key=2").lines.first == "startup: current")
    }

    @Test func theLastOfDuplicatesStands() async throws {
        let text = [
            ControlPackage(name: "a", summary: "first"), ControlPackage(name: "b"),
            ControlPackage(name: "a", maintainer: "Ann <ann@example.org>", summary: "last"),
        ].text
        #expect(
            try await program.update(text).lines.dropFirst() == [
                "packages: read=3 inserted=2 updated=0 unchanged=0 deleted=0 duplicates=1 broken=0 rows=2",
                "maintainers: read=2 inserted=2 updated=0 unchanged=0 deleted=0 duplicates=0 broken=0 rows=2",
            ])
        #expect(try await program.command("list").output.contains("\tlast\n"))
        #expect(
            try await program.update(text).lines[1].contains("inserted=0 updated=0 unchanged=2 deleted=0 duplicates=1 ")
        )
    }

    @Test func repeatedAndBrokenRecordsAreCounted() async throws {
        let good = ControlPackage.many(5).text
        let text =
            good + "Package: x\nVersion: 1\n\n" + "Version: 1\n\n" + "Package:\n\n" + good + "Package: y\nrubbish\n"
        let outcome = try await program.update(text)
        #expect(outcome.status == 0)
        #expect(
            outcome.lines[1]
                == "packages: read=13 inserted=5 updated=0 unchanged=0 deleted=0 duplicates=5 broken=3 rows=5")
        #expect(text.split(separator: "\n").count { $0.hasPrefix("Package:") } == 13)
        #expect(outcome.errors.contains("line 71: x: Architecture is missing\n"))
        #expect(outcome.errors.contains("line 74: a record without a name: Package is missing\n"))
        #expect(outcome.errors.contains(": y: this line is neither a field nor a continuation\n"))
    }

    @Test func ofManyBrokenRecordsTheFirstAreNamed() async throws {
        let text = ControlPackage(name: "a").text + String(repeating: "Package: b\n\n", count: 100)
        let outcome = try await program.update(text)
        #expect(outcome.lines[1].contains("broken=100 "))
        #expect(outcome.errors.split(separator: "\n").count == 21)
        #expect(outcome.errors.hasSuffix("… more broken records: 80\n"))
    }

    @Test func standardInputIsAnInput() async throws {
        try Data(ControlPackage.many(9).text.utf8).write(to: program.input)
        let outcome = try await program.run(["--memory", "--input", "-"], standardInput: program.input)
        #expect(outcome.lines[1].contains("read=9 inserted=9 "))
        #expect(!FileManager.default.fileExists(atPath: program.store.path))
    }

    @Test func bytesThatAreNotUTF8AreRepaired() async throws {
        var bytes = Data(ControlPackage(name: "a", summary: "caf").text.utf8)
        let place = try #require(bytes.firstRange(of: Data("caf\n".utf8)))
        bytes.insert(0xE9, at: place.upperBound - 1)
        #expect(try await program.update(bytes).lines[1].contains("inserted=1 "))
        #expect(try await program.command("list").output.hasSuffix("\tcaf\u{FFFD}\n"))
        #expect(try await program.update(bytes).lines[1].contains("unchanged=1 "))
    }

    @Test func lineEndsOfAnotherSystemChangeNothing() async throws {
        let text = ControlPackage.many(10).text
        _ = try await program.update(text)
        #expect(try await program.update(text.replacing("\n", with: "\r\n")).lines[1].contains("unchanged=10 "))
    }

    @Test(.enabled(if: FileManager.default.isReadableFile(atPath: "/var/lib/dpkg/status")))
    func thePackagesOfThisMachineAreAccountedFor() async throws {
        let bytes = try Data(contentsOf: URL(filePath: "/var/lib/dpkg/status"))
        let count = bytes.split(separator: UInt8(ascii: "\n")).count { $0.starts(with: Data("Package:".utf8)) }
        let first = try await program.run(["--store", program.store.path]).lines[1]
        #expect(first.hasPrefix("packages: read=\(count) "))
        let again = try await program.run(["--store", program.store.path]).lines[1]
        #expect(again.hasPrefix("packages: read=\(count) inserted=0 updated=0 "))
        #expect(again.contains(" deleted=0 "))
        #expect(again.hasSuffix(" rows=\(try StoreFile(url: program.store).count("Package"))"))
    }
}
