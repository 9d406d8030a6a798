import Foundation
import TestSupport
import Testing

/// What `convert` cannot write, and what it leaves if it fails.
@Suite struct ConvertLossTests {
    private let program: Program

    init() throws {
        program = try Program()
    }

    private func write(_ name: String, _ text: String) throws {
        let url = program.file(name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: url, atomically: true, encoding: .utf8)
    }

    private func names() throws -> [String] {
        let names = FileManager.default.enumerator(atPath: program.folder.path)?.compactMap { $0 as? String }
        return (names ?? []).sorted()
    }

    // MARK: Failures

    @Test(arguments: ["../../escaped", "a/b", "", "..", "a/../../b"])
    func aVersionThatIsNoNameOfAFolderIsAnError(_ version: String) async throws {
        for arguments in ["\"\(version)\"", "\"M\", version: \"\(version)\""] {
            try write(
                "a/m.swift",
                "\nlet m = ManagedObjectModel(\(arguments)) { A.self }\n@StoredEntity class A: ManagedObject { var x: Int }"
            )
            let before = try names()
            let outcome = try await program.run("convert", "a", "--output", "out/B.xcdatamodeld")
            #expect(outcome.status == 3)
            #expect(outcome.errors.hasPrefix("a/m.swift:2: error: The version \"\(version)\" cannot be the name"))
            #expect(try names() == before)
        }
    }

    @Test func nothingIsLeftIfTheWrittenFilesCannotBeRead() async throws {
        let path = try program.write(Shop.first)
        try write(
            "app/M.swift",
            "let m = ManagedObjectModel(\"M\") { Other.self }\n@StoredEntity class Other: ManagedObject { var x: Int }")
        let before = try names()
        let hash = try await program.run("hash", "app").output
        let outcome = try await program.run("convert", path, "--output", "app")
        #expect(outcome.status == 3 && outcome.errors.contains("the command has removed the files that it wrote."))
        #expect(try names() == before)
        #expect(try await program.run("hash", "app").output == hash)
    }

    @Test func foldersOfAFailureAreRemoved() async throws {
        let version = String(repeating: "x", count: 250)
        try write(
            "a/m.swift",
            "let m = ManagedObjectModel(\"M\", version: \"\(version)\") { A.self }\n@StoredEntity class A: ManagedObject { var x: Int }"
        )
        let before = try names()
        let outcome = try await program.run("convert", "a", "--output", "new/folder/B.xcdatamodeld")
        #expect(outcome.status == 2 && outcome.errors.contains("cannot be"), "\(outcome.errors)")
        #expect(try names() == before)
    }

    // MARK: Bundles

    private func converted(_ entities: String) async throws -> (errors: [String], text: String) {
        let path = try program.write(Shop.withClasses(entities))
        let hash = try await program.run("hash", path).output
        let outcome = try await program.run("convert", path, "--output", "Swift")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try await program.run("hash", "Swift").output == hash)
        let files = try FileManager.default.contentsOfDirectory(atPath: program.file("Swift").path).sorted()
        let texts = try files.map { try String(contentsOf: program.file("Swift/\($0)"), encoding: .utf8) }
        return (outcome.errors.split(separator: "\n").map(String.init), texts.joined())
    }

    @Test func anEntityMayHaveADotInItsName() async throws {
        let (errors, text) = try await converted(
            "<entity name=\"A.B\"><attribute name=\"x\" attributeType=\"String\"/></entity>")
        #expect(errors.isEmpty && text.contains("@StoredEntity(\"A.B\")"))
    }

    /// Words that mean something else in the place of a type.
    @Test(arguments: ["any", "some", "each", "sending"])
    func anEntityMayHaveTheNameOfAWordBeforeTypes(_ name: String) async throws {
        let (errors, text) = try await converted(
            "<entity name=\"\(name)\"><relationship name=\"r\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"\(name)\"/></entity>"
        )
        #expect(errors.isEmpty && text.contains("class `\(name)`: ManagedObject"))
        #expect(text.contains("var r: `\(name)`?"))
    }

    @Test(arguments: [
        "1e100", "99999999999999999999999999999999999999e127", "-1e40", "12345678901234567890123456789012345678",
    ])
    func aLongDecimalIsWrittenInAFormThatIsRead(_ number: String) async throws {
        let (errors, _) = try await converted(
            "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Decimal\" defaultValueString=\"\(number)\" minValueString=\"-1e60\" maxValueString=\"\(number.hasPrefix("-") ? "0" : number)\"/></entity>"
        )
        #expect(errors.isEmpty)
        let back = "Back/Shop.xcdatamodeld"
        #expect(try await program.run("convert", "Swift", "--output", back).errors == "")
        for model in ["Swift", back] {
            #expect(
                try await program.run("diff", "Shop.xcdatamodeld", model).output
                    == "The models have the same persisted shape: no store is reset.\n")
        }
    }

    @Test(arguments: [
        (
            "<entity name=\"A\"><attribute name=\"t\" attributeType=\"String\"/><attribute name=\"c\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"canonical:(t)\" defaultValueString=\"z\"/></entity>",
            ["The default value of A.c is left out: a derived attribute has no default value."]
        ),
        (
            "<entity name=\"A\"><attribute name=\"s\" attributeType=\"String\" optional=\"YES\"/><attribute name=\"a\" optional=\"YES\" attributeType=\"Composite\" composite=\"E\"/></entity><composite name=\"E\"></composite>",
            [
                "The composite E is left out: it has no attributes.",
                "A.a is left out: its composite E has no attributes.",
            ]
        ),
        (
            "<entity name=\"A\"><attribute name=\"t\" optional=\"YES\" transient=\"YES\" indexed=\"YES\" attributeType=\"String\"/><attribute name=\"s\" attributeType=\"String\" optional=\"YES\"/></entity>",
            ["The index of A.t is left out: an attribute without a column of its own has no index."]
        ),
        (
            "<entity name=\"A\"><attribute name=\"n\" attributeType=\"Integer 16\" minValueString=\"5\" maxValueString=\"1\"/><attribute name=\"t\" attributeType=\"String\" minValueString=\"9\" maxValueString=\"2\"/><attribute name=\"d\" optional=\"YES\" attributeType=\"Date\" minDateTimeInterval=\"10\" maxDateTimeInterval=\"-10\"/></entity>",
            [
                "The bounds of A.n are left out: no value is between them.",
                "The bounds of A.t are left out: no value is between them.",
                "The bounds of A.d are left out: no value is between them.",
            ]
        ),
        (
            "<entity name=\"A\"><attribute name=\"s\" attributeType=\"String\" optional=\"YES\"/><relationship name=\"bs\" optional=\"YES\" toMany=\"YES\" minCount=\"5\" maxCount=\"2\" deletionRule=\"Nullify\" destinationEntity=\"A\" inverseName=\"a\" inverseEntity=\"A\"/><relationship name=\"a\" optional=\"YES\" maxCount=\"1\" deletionRule=\"Nullify\" destinationEntity=\"A\" inverseName=\"bs\" inverseEntity=\"A\"/></entity>",
            ["A.bs and its inverse have no properties: no number of objects is between its counts."]
        ),
        (
            "<entity name=\"A\"><attribute name=\"t\" attributeType=\"String\" optional=\"YES\"/><attribute name=\"c\" optional=\"YES\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"canonical:(t)\"><userInfo><entry key=\"swiftType\" value=\"Mood\"/></userInfo></attribute></entity>",
            ["A.c has no property: a property with the type Mood? cannot be derived."]
        ),
        (
            "<entity name=\"A\"><attribute name=\"p\" optional=\"YES\" attributeType=\"Composite\" composite=\"P\"/></entity><composite name=\"P\"><attribute name=\"x\" optional=\"YES\" indexed=\"YES\" attributeType=\"String\"/><attribute name=\"o\" optional=\"YES\" transient=\"YES\" attributeType=\"Undefined\"/></composite>",
            [
                "The index of P.x is left out: a part of a composite has no index.",
                "P.o is left out: attributes of type Undefined have no Swift type.",
            ]
        ),
    ])
    func aPartThatSwiftCannotSayIsNamed(_ entities: String, _ sentences: [String]) async throws {
        let (errors, _) = try await converted(entities)
        #expect(errors == sentences.map { "Shop.xcdatamodeld: warning: \($0)" })
    }

    /// The reader of the bundle warns of the pattern, too.
    @Test func aPatternOfANumberIsNamed() async throws {
        let (errors, text) = try await converted(
            "<entity name=\"A\"><attribute name=\"n\" attributeType=\"Integer 16\" regularExpressionString=\"[0-9]\"/></entity>"
        )
        #expect(
            errors.last == "Shop.xcdatamodeld: warning: The pattern of A.n is left out: only strings match a pattern.")
        #expect(errors.count == 2 && !text.contains("matching:"), "\(errors)")
    }

    /// This part has a column, so the hash of the written model is another one.
    @Test func aPartOfACompositeWithATypeThatIsNoNameIsNamed() async throws {
        let entities =
            "<entity name=\"A\"><attribute name=\"p\" optional=\"YES\" attributeType=\"Composite\" composite=\"P\"/></entity><composite name=\"P\"><attribute name=\"x\" optional=\"YES\" attributeType=\"String\"/><attribute name=\"o\" optional=\"YES\" attributeType=\"String\"><userInfo><entry key=\"swiftType\" value=\"no type\"/></userInfo></attribute></composite>"
        let path = try program.write(Shop.withClasses(entities))
        let outcome = try await program.run("convert", path, "--output", "Swift")
        #expect(outcome.status == 1 && outcome.output.contains("so the written model differs"))
        #expect(
            outcome.errors
                == "\(path): warning: P.o is left out: its swiftType \"no type\" is not the name of a type of the app.\n"
        )
    }

    private static let kindsOfCode: [(kinds: [String], owners: String?)] = [
        (["class", "category", "", "class", "manual"], "B, C, E"), (["", "", "category"], "all entities"),
        (["class", "class"], nil),
    ]

    /// One sentence for a model, not one for each entity.
    @Test(arguments: kindsOfCode)
    func classesThatTheAppWritesAreNamed(_ kinds: [String], _ owners: String?) async throws {
        let entities = zip(["A", "B", "C", "D", "E"], kinds).map { name, kind in
            let kind = kind.isEmpty ? "" : " codeGenerationType=\"\(kind)\""
            return "<entity name=\"\(name)\"\(kind)><attribute name=\"x\" attributeType=\"String\"/></entity>"
        }
        let path = try program.write(entities.joined())
        let outcome = try await program.run("convert", path, "--output", "Swift")
        #expect(outcome.status == 0)
        let sentence =
            "which codeGenerationType leaves to the app. If the app has classes of its own for them, move the other members of these classes to the files, and remove the classes."
        let expected = owners.map { "\(path): warning: The files declare the classes of \($0), \(sentence)\n" }
        #expect(outcome.errors == expected ?? "")
        #expect(try await program.run("convert", "Swift", "--output", "Back/Shop.xcdatamodeld").errors == "")
        let text = try String(
            contentsOf: program.file("Back/Shop.xcdatamodeld/Shop.xcdatamodel/contents"), encoding: .utf8)
        #expect(text.split(separator: "codeGenerationType=\"class\"").count == kinds.count + 1)
    }

    // MARK: Swift

    @Test(arguments: [
        ("@Stored(userInfo: [\"a\": \"\\u{0}\"]) var x: Int?", "3: error: A.x has a text with the character U+0000,"),
        ("\nvar x: String = \"\\n\\t\\r\\u{1B}\"", "4: error: A.x has a text with the character U+001B,"),
        ("@Stored(name: \"\\u{FFFE}\") var x: Int?", "3: error: A.\u{FFFE} has a text with the character U+FFFE,"),
        ("@Stored(.composite) var s: S?", "6: error: S.y has a text with the character U+0001,"),
    ])
    func aCharacterThatXMLCannotContainIsAnError(_ property: String, _ message: String) async throws {
        try write(
            "app/A.swift",
            """
            let m = ManagedObjectModel("M") { A.self }
            @StoredEntity class A: ManagedObject {
            \(property)
            }
            @StoredComposite struct S {
            @StoredPart(hashModifier: "\\u{1}") var y: Int?
            }
            """)
        let outcome = try await program.run("convert", "app", "--output", "M.xcdatamodeld")
        #expect(outcome.status == 3 && outcome.output == "")
        #expect(outcome.errors.hasPrefix("app/A.swift:\(message)"), "\(outcome.errors)")
        #expect(try program.files("M.xcdatamodeld").isEmpty)
    }

    @Test func aPartThatABundleCannotSayIsNamed() async throws {
        try write(
            "app/A.swift",
            """
            let m = ManagedObjectModel(
                "M", earlierVersions: [EarlierVersion(hashes: ["0"], entityNames: ["A": "B"])]) { A.self }
            @StoredEntity class A: ManagedObject {
                var id: UUID = UUID()
                var day: Date = .now
                @Stored(.codable) var list: [Int] = [1]
                @Stored(name: "model") var property: Int?
                @Stored(isOptional: true) var text: String = ""
                var plain: String = "x"
                @Related(name: "link") var other: A?
                @Stored(raw: Int16.self) var kind: Kind = .a
            }
            """)
        let outcome = try await program.run("convert", "app", "--output", "B.xcdatamodeld")
        #expect(outcome.status == 0)
        let form = "in the class that is generated for the bundle."
        let expected = [
            "11: warning: The raw value of Kind.a is not in these files, depends on an #if, or differs in several enums of that name, so the default value of kind is not known. The hash does not contain default values.",
            "1: warning: The model has the name M, but a bundle gives its own name to its model: B.",
            "1: warning: earlierVersions: is left out: a bundle has the names of earlier versions only in its older versions. Add these versions to the bundle, or its lock file, before users migrate their stores.",
            "4: warning: The initial value UUID() of A.id is left out: a bundle contains only literals. Set the value of each new object in your code.",
            "5: warning: The initial value .now of A.day is left out: a bundle contains only literals. Set the value of each new object in your code.",
            "6: warning: The initial value [1] of A.list is left out: a bundle contains only literals. Set the value of each new object in your code.",
            "6: warning: A.list is an optional \(form)", "7: warning: A.property is the property model \(form)",
            "8: warning: A.text is an optional \(form)",
            "11: warning: A.kind has no property in the class that is generated for the bundle: its swiftType is Kind, so the attribute must be optional or have a default value, for stored values without a case.",
            "10: warning: A.other is the property link \(form)",
        ]
        #expect(outcome.errors.split(separator: "\n").map(String.init) == expected.map { "app/A.swift:\($0)" })
    }
}
