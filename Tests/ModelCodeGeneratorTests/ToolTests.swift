import Foundation
import TestSupport
import Testing

/// The tool's exit codes and messages.
@Suite struct ToolTests {
    @Test(arguments: [
        ([], "MODEL is missing"),
        (["A.xcdatamodeld"], "--output is missing"),
        (["A.xcdatamodeld", "B.xcdatamodeld", "--output", "X.swift"], "unexpected argument B.xcdatamodeld"),
        (["A.xcdatamodeld", "--output"], "--output needs a value"),
        (["A.xcdatamodeld", "--output", "X", "--output", "Y"], "duplicate option --output"),
        (["A.xcdatamodeld", "--output", "X", "--colour", "red"], "unknown option --colour"),
        (
            ["A.xcdatamodeld", "--output", "X", "--access", "open"],
            "--access must be public, package or internal, not open"
        ),
        (
            ["A.xcdatamodeld", "--output", "X", "--code-generation", "none"],
            "--code-generation must be class, category or manual, not none"
        ),
    ])
    func aWrongCommandLineIsExplained(arguments: [String], message: String) async throws {
        let run = try await Subprocess.tool(arguments)
        #expect(run.status == 2)
        #expect(run.errors.hasPrefix("model-codegen: error: \(message)\nusage: model-codegen MODEL --output FILE"))
        #expect(run.output == "")
    }

    @Test func helpIsNoError() async throws {
        let run = try await Subprocess.tool(["--help"])
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("usage: model-codegen MODEL --output FILE"))
        #expect(run.errors == "")
    }

    @Test func aModelThatIsNotThereHasACodeOfItsOwnAndLeavesNoFile() async throws {
        let directory = try TemporaryDirectory()
        let output = directory.url.appending(component: "Output.swift")
        let run = try await Subprocess.tool(["Models/None.xcdatamodeld", "--output", output.path])
        #expect(run.status == 3)
        #expect(run.errors.contains("None.xcdatamodeld"))
        #expect(!FileManager.default.fileExists(atPath: output.path))
    }

    @Test(arguments: [
        ("<entity name=\"Thing\">\n<attribute name=\"a\" attributeType=\"Strin\"/></entity>", 3),
        ("<entity name=\"Thing\" parentEntity=\"None\"/>", 2), ("<entity name=\"Thing\">", 3),
    ])
    func aModelThatCannotBeReadIsAnErrorWithItsLine(elements: String, line: Int) async throws {
        let directory = try TemporaryDirectory()
        let model = directory.url.appending(component: "Odd.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let text = "<model type=\"com.apple.IDECoreDataModeler.DataModel\">\n\(elements)\n</model>"
        try Data(text.utf8).write(to: model.appending(component: "contents"))
        let output = directory.url.appending(component: "Output.swift")
        let run = try await Subprocess.tool([model.path, "--output", output.path])
        #expect(run.status == 3)
        #expect(run.errors.hasPrefix("\(model.path)/contents:\(line): error: "), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: output.path))
    }

    @Test(arguments: RefusedModel.allCases)
    func aRuleThatCannotBeReadIsAnErrorWithItsLine(model: RefusedModel) async throws {
        let directory = try TemporaryDirectory()
        let bundle = directory.url.appending(component: "M.xcdatamodeld")
        let contents = try model.write(to: bundle)
        let output = directory.url.appending(component: "Output.swift")
        let run = try await Subprocess.tool([bundle.path, "--output", output.path])
        #expect(run.status == 3)
        #expect(
            run.errors.hasPrefix("\(contents.path):\(RefusedModel.line): error: \(model.message)"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: output.path))
    }

    /// SwiftPM lists the files of a model outside of the target once, and watches only those.
    @Test func aFileThatTheBuildDoesNotWatchIsAnError() async throws {
        let directory = try TemporaryDirectory()
        let model = directory.url.appending(component: "Shop.xcdatamodeld")
        func write(_ version: String) throws -> URL {
            let file = model.appending(components: "\(version).xcdatamodel", "contents")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("<model type=\"com.apple.IDECoreDataModeler.DataModel\"><entity name=\"A\"/></model>".utf8).write(
                to: file)
            return file
        }
        let first = try write("Shop")
        let settings = directory.url.appending(component: "ModelPlugin.json")
        try Data("{}".utf8).write(to: settings)
        let output = directory.url.appending(component: "Output.swift")
        func run(_ words: String...) async throws -> Subprocess {
            try await Subprocess.tool([model.path, "--output", output.path, "--version", "Shop"] + words)
        }
        let watched = ["--watched", first.path]
        #expect(try await run(watched[0], watched[1]).status == 0)
        #expect(
            try await run(watched[0], watched[1], "--settings", settings.path, "--settings-text", "{}").status == 0)
        let edited = try await run(watched[0], watched[1], "--settings", settings.path, "--settings-text", "{ }")
        #expect(edited.status == 4)
        #expect(
            edited.errors.hasPrefix(
                "\(settings.path): error: This file was edited after SwiftPM had read it. Run `touch"))
        // An editor's own file is none of the model.
        try Data().write(to: first.deletingLastPathComponent().appending(component: ".contents.swp"))
        #expect(try await run(watched[0], watched[1]).status == 0)
        let second = try write("Shop 2")
        let added = try await run(watched[0], watched[1])
        #expect(added.status == 4)
        #expect(added.errors.hasPrefix("\(second.path): error: This file was added after SwiftPM had listed the files"))
        #expect(added.errors.hasSuffix("Run `touch Package.swift`, and build again.\n"))
        #expect(try await run(watched[0], watched[1], "--watched", second.path).status == 0)
        #expect(try await run().status == 0)
    }

    @Test func anOddModelIsAWarningWithItsLine() async throws {
        let directory = try TemporaryDirectory()
        let model = directory.url.appending(component: "Odd.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let text = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Thing" colour="red"/>
            </model>
            """
        try text.write(to: model.appending(component: "contents"), atomically: true, encoding: .utf8)
        let output = directory.url.appending(component: "Output.swift")
        let run = try await Subprocess.tool([model.path, "--output", output.path])
        #expect(run.status == 0)
        #expect(run.errors.hasPrefix("\(model.path)/contents:3: warning: "))
        #expect(FileManager.default.fileExists(atPath: output.path))
    }

    @Test func entitiesOfOneClassAreAWarning() async throws {
        let directory = try TemporaryDirectory()
        let model = directory.url.appending(component: "Twins.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let text = """
            <model type="com.apple.IDECoreDataModeler.DataModel">
            <entity name="A" representedClassName="Thing" codeGenerationType="class"/>
            <entity name="B" representedClassName="Thing" codeGenerationType="class"/></model>
            """
        try text.write(to: model.appending(component: "contents"), atomically: true, encoding: .utf8)
        let output = directory.url.appending(component: "Output.swift")
        let run = try await Subprocess.tool([model.path, "--output", output.path])
        #expect(run.status == 0)
        #expect(run.errors.hasPrefix("\(model.path): warning: More than one entity has the class Thing: A, B."))
    }

    @Test func anOutputThatCannotBeWrittenIsAnError() async throws {
        let run = try await Subprocess.tool([
            "Models/Contacts.xcdatamodeld", "--output", "/nowhere/at/all/Output.swift",
        ])
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("model-codegen: error: "))
    }

    /// A build that depends on the file is then not run again.
    @Test func aFileWithTheSameContentIsNotWritten() async throws {
        let directory = try TemporaryDirectory()
        let output = directory.url.appending(component: "Output.swift")
        let arguments = ["Models/Contacts.xcdatamodeld", "--output", output.path]
        #expect(try await Subprocess.tool(arguments).status == 0)
        let old = Date(timeIntervalSinceReferenceDate: 0)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: output.path)
        #expect(try await Subprocess.tool(arguments).status == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: output.path)[.modificationDate] as? Date == old)
    }
}
