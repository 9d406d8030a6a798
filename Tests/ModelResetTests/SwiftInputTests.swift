import Foundation
import TestSupport
import Testing

/// What commands say about Swift that they cannot read, with the file, the line and the exit status.
@Suite struct SwiftInputTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    private func write(_ files: [String: String]) throws {
        for (name, text) in files {
            let url = program.file(name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
    }

    private static let model = "let model = ManagedObjectModel(\"M\") { A.self }\n"
    private static let entity = "@StoredEntity class A: ManagedObject { var x: Int? }\n"

    @Test(arguments: [
        (["app/A.swift": model + entity + "class B {\n"], "app/A.swift:3: error: This bracket has no closing bracket"),
        (["app/A.swift": "let x = \"\n" + model + entity], "app/A.swift:1: error: This string has no end"),
        (
            ["app/A.swift": model + entity, "app/B.swift": "\n" + model.replacing("\"M\"", with: "\"N\"")],
            "app/B.swift:2: error: This is a second model: N, after M in app/A.swift:1."
        ),
        (["app/A.swift": model + model + entity], "app/A.swift:2: error: This is a second model: M"),
        (
            ["app/A.swift": "let m = ManagedObjectModel(\"M\") { for type in types { type } }\n" + entity],
            "app/A.swift:1: error: The classes of a model must be literal"
        ),
        (
            ["app/A.swift": model + entity, "app/B.swift": "// Again\n" + entity],
            "app/B.swift:2: error: A is declared in app/A.swift:2, too."
        ),
        (
            ["app/A.swift": model + "#if DEBUG\n" + entity + "#else\n" + entity + "#endif\n"],
            "app/A.swift:5: error: A is declared in app/A.swift:3, too, but a model is the same in every build."
        ),
        (["app/A.swift": entity], "app: error: These files contain no model."),
        (["app/A.txt": model + entity], "app: error: These files contain no model."),
        (["app/A.swift": model], "app/A.swift:1: error: No class A with @StoredEntity is in these files."),
        (
            ["app/A.swift": model.replacing("\"M\"", with: "\"M\",\nconfiguration: []") + entity],
            "app/A.swift:2: error: A model has no argument configuration. Remove the argument."
        ),
        (
            ["app/A.swift": model.replacing("\"M\"", with: "\"M\",\nversion: 2") + entity],
            "app/A.swift:2: error: The argument version of a model must be a string literal."
        ),
        (
            ["app/A.swift": model.replacing("\"M\"", with: "\"M\",\nconfigurations: [.init(name: 3)]") + entity],
            "app/A.swift:1: error: The configurations of the model must be a list of literals."
        ),
        // The classes that a listed class needs must be listed, too.
        (
            [
                "app/A.swift": model + entity.replacing("ManagedObject", with: "B"),
                "app/B.swift": "\n" + entity.replacing("class A", with: "class B"),
            ],
            "app/A.swift:2: error: The model does not list B, which is declared in app/B.swift:2. Add B.self to the list of the model."
        ),
        (
            [
                "app/A.swift": model + "@StoredEntity class A: ManagedObject {\n@Related var b: B?\n}\n",
                "app/B.swift": entity.replacing("class A", with: "class B"),
            ], "app/A.swift:3: error: The model does not list B, which is declared in app/B.swift:1."
        ),
    ])
    func everyCommandFailsOnAnUnreadableModel(_ files: [String: String], _ message: String) async throws {
        try write(files)
        for words in [
            ["hash", "app"], ["check", "app"], ["diff", "app", "app"], ["diagram", "app"],
            ["status", "app", "--store", "none.sqlite"], ["convert", "app", "--output", "B.xcdatamodeld"],
            ["lock", "app", "--lock", "B.lock"],
        ] {
            let outcome = try await program.run(words)
            #expect(outcome.status == 3, "\(words)")
            // These commands go on with the other models, and list this one.
            let isListed = ["check", "lock"].contains(words[0]) && outcome.output.hasPrefix("app: cannot be read\n")
            #expect(outcome.output == "" || isListed, "\(words): \(outcome.output)")
            #expect(outcome.errors.hasPrefix(message), "\(words): \(outcome.errors)")
        }
        #expect(try program.files("B").isEmpty && program.files("none").isEmpty)
    }

    @Test func aModelMayBeGivenAsItsFiles() async throws {
        try write(["app/M.swift": Self.model, "app/A.swift": Self.entity, "app/Other.swift": "class B {\n"])
        let whole = try await program.run("hash", "app/M.swift", "app/A.swift")
        try write(["whole.swift": Self.model + Self.entity])
        let together = try await program.run("hash", "whole.swift")
        #expect(whole.status == 0 && whole.output == together.output)
        let missing = try await program.run("hash", "app/M.swift", "app/B.swift")
        #expect(missing.status == 3 && missing.errors.contains("app/B.swift: error: No file or folder has this path."))
        try FileManager.default.createSymbolicLink(
            at: program.file("L.swift"), withDestinationURL: program.file("app/A.swift"))
        for (words, again) in [
            (["app/M.swift", "app/A.swift", "app/A.swift"], "app/A.swift"), (["app,app/A.swift"], "app/A.swift"),
            (["app/M.swift,./app/A.swift,L.swift"], "L.swift"),
        ] {
            let twice = try await program.run(["diagram"] + words)
            #expect(
                twice.status == 3 && twice.errors.hasPrefix("\(again): error: This file is given twice,"),
                "\(twice.errors)")
        }
        let mixed = try await program.run("hash", "app/M.swift", "app")
        #expect(mixed.status == 2 && mixed.errors.contains("unexpected argument app"))
    }

    /// Commands that read the model in the folder `app`, and succeed.
    private static let commands = [
        ["hash", "app"], ["check", "app", "--lock", "model.lock", "--update"], ["diff", "app", "app"],
        ["diagram", "app"], ["status", "app", "--store", "none.sqlite"],
        ["convert", "app", "--output", "M.xcdatamodeld"], ["lock", "app", "--lock", "other.lock"],
    ]

    @Test func aClassInNoModelIsAWarning() async throws {
        try write(["app/A.swift": Self.model + Self.entity + Self.entity.replacing("class A", with: "class B")])
        for words in Self.commands {
            let outcome = try await program.run(words)
            #expect(outcome.status == 0, "\(words): \(outcome.errors)")
            #expect(outcome.errors.hasPrefix("app/A.swift:3: warning: B is in no model."), "\(words)")
        }
        #expect(try await program.run("hash", "app").output.hasSuffix("  M, version M\n"))
    }

    @Test func aNameThatLeadsNowhereIsAWarning() async throws {
        try write([
            "app/A.swift": """
            let m = ManagedObjectModel(
                "M", configurations: [EntityConfiguration(name: "c", entityNames: ["A", "C"])],
                fetchRequests: [FetchRequestTemplate(name: "all", entityName: "C", predicateFormat: "x == 1")]
            ) { A.self; B.self }
            @StoredEntity class A: ManagedObject { var x: Int? }
            @StoredEntity(
                indexes: [
                    FetchIndexDescription(
                        name: "i", elements: [.init(property: "x"), .init(property: "y"), .init(property: "place.city"),
                            .init(property: "place"), .init(property: "all"), .init(property: "one")])
                ])
            class B: A {
                @Related var all: RelatedObjects<A>
                @Related var one: A?
                @Stored(.composite) var place: Place?
            }
            @StoredComposite struct Place { var city: String? }
            """
        ])
        let index = ["y", "place", "all"].map {
            "app/A.swift:7: warning: The index i of B names \($0), which has no stored values. Correct the name, or remove it from the index."
        }
        let others = [
            "The fetch request all fetches C, which is not in the model. Correct the name, or list the class.",
            "The configuration c lists C, which is not in the model. Correct the name, or list the class.",
        ].map { "app/A.swift:1: warning: \($0)" }
        for words in Self.commands where !["convert", "diff"].contains(words[0]) {
            let outcome = try await program.run(words)
            #expect(outcome.status == 0, "\(words)")
            #expect(outcome.errors.split(separator: "\n").map(String.init) == index + others, "\(words)")
        }
    }

    @Test func aSymbolicLinkIsNotFollowed() async throws {
        try write(["app/A.swift": Self.model + Self.entity, "other/B.swift": Self.entity])
        try FileManager.default.createSymbolicLink(
            at: program.file("app/B.swift"), withDestinationURL: program.file("other/B.swift"))
        try FileManager.default.createSymbolicLink(
            at: program.file("app/loop"), withDestinationURL: program.file("app"))
        for words in Self.commands {
            let outcome = try await program.run(words)
            #expect(outcome.status == 0, "\(words): \(outcome.errors)")
            let lines = outcome.errors.split(separator: "\n")
            #expect(lines.count == 2, "\(words): \(outcome.errors)")
            for (line, name) in zip(lines, ["B.swift", "loop"]) {
                #expect(line.hasPrefix("app/\(name):1: warning: This is a symbolic link, which is not followed."))
            }
        }
    }

    /// What a link may have is missing.
    @Test(arguments: [
        ("A.swift", model, "app/A.swift:1: error: No class A with @StoredEntity is in these files."),
        ("A.swift", "", "app: error: These files contain no model."),
    ])
    func theErrorNamesASymbolicLinkThatIsNotFollowed(_ name: String, _ text: String, _ message: String) async throws {
        try write(["app/\(name)": text, "other/B.swift": Self.model + Self.entity])
        try FileManager.default.createSymbolicLink(
            at: program.file("app/B.swift"), withDestinationURL: program.file("other/B.swift"))
        let outcome = try await program.run("hash", "app")
        #expect(outcome.status == 3 && outcome.errors.hasPrefix(message), "\(outcome.errors)")
        #expect(
            outcome.errors.hasSuffix(
                " app/B.swift: This is a symbolic link, which is not followed. If classes of the model are there, give their path.\n"
            ), "\(outcome.errors)")
    }

    @Test func aPathMayBeALinkToAFolderOrAFile() async throws {
        try write(["app/A.swift": Self.model + Self.entity])
        let hash = try await program.run("hash", "app").output
        for (link, destination) in [("folder", "app"), ("file.swift", "app/A.swift")] {
            try FileManager.default.createSymbolicLink(
                at: program.file(link), withDestinationURL: program.file(destination))
            let outcome = try await program.run("hash", link)
            #expect(outcome.status == 0 && outcome.output == hash && outcome.errors == "", "\(outcome.errors)")
        }
        try FileManager.default.createSymbolicLink(
            at: program.file("zero.swift"), withDestinationURL: URL(filePath: "/dev/zero"))
        let outcome = try await program.run("hash", "zero.swift")
        #expect(outcome.status == 3 && outcome.errors.hasPrefix("zero.swift: error: This is not a regular file. Give"))
    }

    @Test func aFileWithANameThatIsNotUTF8IsAWarning() async throws {
        try write(["app/A.swift": Self.model + Self.entity])
        let bytes = Array("\(program.folder.path)/app/".utf8) + [0xFF] + Array(".swift".utf8) + [0]
        let path = bytes.map { CChar(bitPattern: $0) }
        let descriptor = open(path, O_CREAT, 0o600)
        // Other file systems refuse the name.
        guard descriptor >= 0 else { return }
        defer { unlink(path) }
        close(descriptor)
        let outcome = try await program.run("hash", "app")
        #expect(
            outcome.status == 0 && outcome.errors.contains(":1: warning: No file has this name, so it is not read."))
    }

    /// A program that reads a pipe would wait forever.
    @Test func aPipeIsNotRead() async throws {
        try write(["app/A.swift": Self.model + Self.entity, "app/B.swift/A.swift": "let x = 1"])
        try #require(mkfifo(program.file("app/C.swift").path, 0o600) == 0)
        let outcome = try await program.run("hash", "app")
        #expect(outcome.status == 0)
        #expect(
            outcome.errors
                == "app/C.swift:1: warning: This is not a regular file, and is not read. Remove it, or move it out of the folder.\n"
        )
    }

    @Test func theLineThatIsNotUTF8IsNamed() async throws {
        try write(["app/A.swift": Self.model + Self.entity])
        for (text, line) in [(Data("\u{FEFF}é\n// gr".utf8) + [0xF6, 0x0A], 2), (Data([0xFF, 0xFE, 0x40, 0]), 1)] {
            try text.write(to: program.file("app/B.swift"))
            let outcome = try await program.run("hash", "app")
            #expect(outcome.status == 3)
            #expect(
                outcome.errors == "app/B.swift:\(line): error: The file is not UTF-8 text. Save the file as UTF-8.\n")
        }
    }

    @Test func moreThanAnyProgramHasIsNotRead() async throws {
        try write(["app/A.swift": Self.model + Self.entity, "app/B.swift": ""])
        // The file has no blocks on the disk.
        let file = try FileHandle(forWritingTo: program.file("app/B.swift"))
        try file.truncate(atOffset: 1 << 40)
        try file.close()
        let outcome = try await program.run("hash", "app")
        #expect(outcome.status == 3)
        #expect(outcome.errors.hasPrefix("app/B.swift: error: The files have more than 268435456 bytes."))
    }

    @Test func enumsOfOneNameDoNotGetTheDefaultsOfEachOther() async throws {
        func entity(_ name: String, _ value: Int) -> String {
            "@StoredEntity class \(name): ManagedObject {\nenum Kind: Int16, AttributeStorable { case a = \(value) }\n@Stored(raw: Int16.self) var kind: Kind = .a\n}\n"
        }
        try write([
            "app/A.swift": "let m = ManagedObjectModel(\"M\") { A.self; B.self }\n" + entity("A", 1) + entity("B", 2)
        ])
        #expect(try await program.run("convert", "app", "--output", "M.xcdatamodeld").status == 0)
        let contents = try String(contentsOf: program.file("M.xcdatamodeld/M.xcdatamodel/contents"), encoding: .utf8)
        let values = contents.matches(of: /defaultValueString="(.)"/).map { String($0.1) }
        #expect(values == ["1", "2"])
    }

    /// Runs the program as a user for whom a file or folder is closed. Nil if that is not possible here.
    private func run(_ words: [String], withClosed name: String) async throws -> Subprocess? {
        // The administrator may open everything.
        let isAdministrator = geteuid() == 0
        let names = ["/usr/bin/setpriv", PackageFiles.products.appending(component: "model-reset").path]
        guard !isAdministrator || names.allSatisfy(FileManager.default.isExecutableFile) else { return nil }
        for path in [program.folder.path, program.file("app").path] { try #require(chmod(path, 0o755) == 0) }
        let path = program.file(name).path
        try #require(chmod(path, 0) == 0)
        defer { chmod(path, 0o755) }
        guard isAdministrator else { return try await program.run(words) }
        return try await Subprocess(
            names[0], ["--reuid", "65534", "--regid", "65534", "--clear-groups", names[1]] + words, in: program.folder)
    }

    @Test func aFolderThatCannotBeOpenedIsAWarning() async throws {
        try write(["app/A.swift": Self.model + Self.entity, "app/d/B.swift": Self.entity])
        guard let outcome = try await run(["hash", "app"], withClosed: "app/d") else { return }
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.errors.hasPrefix("app/d:1: warning: This folder cannot be opened, and is not read"),
            "\(outcome.errors)")
    }

    @Test(arguments: [
        ("app", "app: error: The folder cannot be opened. Check its permissions."),
        ("app/A.swift", "app/A.swift: error: The file cannot be read ("),
    ])
    func whatIsGivenAndCannotBeOpenedIsAnError(_ name: String, _ message: String) async throws {
        try write(["app/A.swift": Self.model + Self.entity])
        guard let outcome = try await run(["hash", "app"], withClosed: name) else { return }
        #expect(outcome.status == 3 && outcome.errors.hasPrefix(message), "\(outcome.errors)")
    }

    @Test(.timeLimit(.minutes(30))) func aFolderMayHaveTenThousandClasses() async throws {
        let names = (0..<10_000).map { "E\($0)" }
        let list = "let m = ManagedObjectModel(\"M\") {\n\(names.map { "\($0).self\n" }.joined())}\n"
        try write(["app/M.swift": list])
        for name in names.prefix(100) {
            try write(["app/\(name).swift": Self.entity.replacing("A:", with: "\(name):")])
        }
        let rest = names.dropFirst(100).map { Self.entity.replacing("A:", with: "\($0):") }
        try write(["app/Rest.swift": rest.joined()])
        for words in Self.commands {
            let outcome = try await program.run(words)
            #expect(outcome.status == 0 && outcome.errors == "", "\(words): \(outcome.errors)")
        }
        let whole = try await program.run("hash", "app").output
        #expect(try await program.run("hash", "M.xcdatamodeld").output == whole)
        try write(["app/Z.swift": Self.entity.replacing("A:", with: "E9999:")])
        let other = try await program.run("hash", "app")
        #expect(other.status == 3)
        #expect(other.errors.hasPrefix("app/Z.swift:1: error: E9999 is declared in app/Rest.swift:9900, too."))
    }
}
