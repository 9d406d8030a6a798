import Foundation
import TestSupport
import Testing

/// Packages and what they depend on, which the catalog follows as links.
@Suite struct DependencyTests {
    private let program: CatalogProgram
    private let packages = [
        ControlPackage(name: "desktop", depends: "editor (>= 2), mail-agent | nothing"),
        ControlPackage(name: "editor", version: "2.1", depends: "libc (>= 1.9), libx:any"),
        ControlPackage(name: "postfix", depends: "libc, missing | libx (<< 1)", provides: "mail-agent, smtp (= 3)"),
        ControlPackage(name: "exim", depends: "libc (>= 2.0~rc1)", provides: "mail-agent"),
        ControlPackage(
            name: "libc", version: "2.0", maintainer: "Ann <ann@example.org>", depends: nil, preDepends: "base"),
        ControlPackage(name: "libx", depends: nil),
        ControlPackage(name: "base", depends: nil),
        ControlPackage(name: "sender", depends: "smtp (>= 3), smtp (>= 4)"),
        ControlPackage(name: "hen", depends: "egg"), ControlPackage(name: "egg", depends: "hen"),
    ]

    init() async throws {
        program = try CatalogProgram()
        let outcome = try await program.update(packages.text)
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test func requirementsArePrintedWithThePackagesThatMeetThem() async throws {
        #expect(
            try await program.command("depends", "desktop").lines == [
                "desktop 1.0\tDepends\teditor (>= 2)\teditor 2.1",
                "desktop 1.0\tDepends\tmail-agent | nothing\texim 1.0, postfix 1.0",
            ])
        #expect(
            try await program.command("depends", "postfix").lines == [
                "postfix 1.0\tDepends\tlibc\tlibc 2.0", "postfix 1.0\tDepends\tmissing | libx (<< 1)\tmissing",
            ])
        #expect(try await program.command("depends", "libc").lines == ["libc 2.0\tPre-Depends\tbase\tbase 1.0"])
        #expect(try await program.command("depends", "base").lines.isEmpty)
        // A name that is only provided has a version if the package says so.
        #expect(
            try await program.command("depends", "sender").lines == [
                "sender 1.0\tDepends\tsmtp (>= 3)\tpostfix 1.0", "sender 1.0\tDepends\tsmtp (>= 4)\tmissing",
            ])
    }

    @Test func packagesThatNeedAPackageArePrinted() async throws {
        #expect(
            try await program.command("rdepends", "libc").lines == [
                "editor 2.1\tDepends\tlibc (>= 1.9)", "exim 1.0\tDepends\tlibc (>= 2.0~rc1)",
                "postfix 1.0\tDepends\tlibc",
            ])
        // Also by a name that it provides.
        #expect(
            try await program.command("rdepends", "postfix").lines == [
                "desktop 1.0\tDepends\tmail-agent", "sender 1.0\tDepends\tsmtp (>= 3)",
            ])
        #expect(try await program.command("rdepends", "libx").lines == ["editor 2.1\tDepends\tlibx:any"])
        #expect(try await program.command("rdepends", "desktop").lines.isEmpty)
    }

    @Test func aShortestChainSaysWhyAPackageIsThere() async throws {
        #expect(
            try await program.command("why", "base").lines == [
                "desktop 1.0 Depends: editor (>= 2)", "editor 2.1 Depends: libc (>= 1.9)",
                "libc 2.0 Pre-Depends: base",
            ])
        #expect(
            try await program.command("why", "libx").lines == [
                "desktop 1.0 Depends: editor (>= 2)", "editor 2.1 Depends: libx:any",
            ])
        #expect(try await program.command("why", "desktop").lines == ["Nothing depends on desktop."])
        #expect(try await program.command("why", "hen").lines == ["Only packages that need each other lead to hen."])
    }

    @Test(arguments: ["depends", "rdepends", "why"]) func anUnknownPackageIsNamed(command: String) async throws {
        let outcome = try await program.command(command, "nothing")
        #expect(outcome.status == 1)
        #expect(outcome.errors == "package-catalog: Not in the catalog: nothing\n")
    }

    @Test func linksFollowTheInput() async throws {
        var changed = packages
        changed[0].depends = "exim"
        changed[4].depends = "libx"
        changed.removeLast(2)
        let lines = try await program.update(changed.text).lines
        #expect(lines[1].contains("inserted=0 updated=2 unchanged=6 deleted=2 "))
        #expect(try await program.command("rdepends", "postfix").lines == ["sender 1.0\tDepends\tsmtp (>= 3)"])
        #expect(
            try await program.command("rdepends", "libx").lines == [
                "editor 2.1\tDepends\tlibx:any", "libc 2.0\tDepends\tlibx",
            ])
        let store = StoreFile(url: program.store)
        // Names that no package has, provides or depends on are gone: nothing, hen and egg.
        #expect(try store.count("Dependency") == 11)
        #expect(try store.count("PackageName") == 11)
        #expect(try store.integrity() == "ok")
    }

    @Test func aDeletedPackageLeavesTheDependenciesOfOthers() async throws {
        #expect(try await program.command("delete", "libx").lines == ["packages: deleted=1 rows=9"])
        #expect(try await program.command("depends", "editor").lines.last == "editor 2.1\tDepends\tlibx:any\tmissing")
        let outcome = try await program.command("rdepends", "libx")
        #expect(outcome.status == 1)
    }

    @Test func aMaintainerWithPackagesIsNotDeleted() async throws {
        let denied = try await program.command("delete", "--maintainer", "ann@example.org")
        #expect(denied.status == 1)
        #expect(
            denied.errors
                == "package-catalog: ann@example.org still has packages (1): libc. Delete these packages first.\n")
        let many = try await program.command("delete", "--maintainer", "jane@example.org")
        #expect(many.errors.contains("still has packages (9): base, desktop, editor and 6 more."))
        #expect(try StoreFile(url: program.store).count("Maintainer") == 2)
        let missing = try await program.command("delete", "--maintainer", "nobody")
        #expect(missing.errors == "package-catalog: Not in the catalog: nobody\n")
        // With the last of its packages a maintainer goes by itself.
        _ = try await program.command("delete", "libc")
        #expect(try StoreFile(url: program.store).count("Maintainer") == 1)
    }

    @Test func aWatchFollowsWhatDependsOnAPackage() async throws {
        let watching = try program.converse([
            "watch", "--input", program.input.path, "--store", program.store.path, "--rdepends", "postfix",
        ])
        let start = await watching.next { $0.hasPrefix("watching: ") }
        #expect(start.last == "watching: 3 dependents, 1 sections")
        try watching.send("delete sender")
        #expect(
            await watching.next { $0.hasPrefix("packages: ") } == [
                "- sender 1.0 [smtp (>= 3)]", "- sender 1.0 [smtp (>= 4)]", "packages: deleted=1 rows=9",
            ])
        var changed = packages
        changed[0].depends = "mail-agent (>= 9)"
        changed[5].preDepends = "postfix"
        try program.replaceInput(changed)
        let replaced = await watching.next { $0.hasPrefix("packages: ") }
        #expect(
            Set(replaced.dropLast()) == [
                "- desktop 1.0 [mail-agent]", "+ desktop 1.0 [mail-agent (>= 9)]", "+ libx 1.0 [postfix]",
                "+ sender 1.0 [smtp (>= 3)]", "+ sender 1.0 [smtp (>= 4)]",
            ])
        #expect(try await watching.end() == 0)
    }
}
