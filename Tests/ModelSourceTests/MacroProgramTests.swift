import Foundation
import ModelSource
import TestSupport
import Testing

/// The program that the compiler runs, over its input and output.
struct MacroProgramTests {
    private static func frame(_ text: String) -> Data {
        withUnsafeBytes(of: UInt64(text.utf8.count).littleEndian) { Data($0) } + Data(text.utf8)
    }

    /// Runs the program with that input, and closes it.
    private func run(_ input: Data) throws -> (output: Data, status: Int32) {
        let process = Process()
        process.executableURL = PackageFiles.products.appending(component: "EntityMacros-tool")
        let (stdin, stdout) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, FileHandle.nullDevice)
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: input)
        try stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (output, process.terminationStatus)
    }

    private static let capability = #"{"getCapability":{"capability":{"protocolVersion":7}}}"#

    @Test func theMacroPluginAnswersMessagesInOrder() throws {
        let (output, status) = try run(Self.frame(Self.capability) + Self.frame("{}") + Self.frame(Self.capability))
        #expect(status == 0)
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.components(separatedBy: "getCapabilityResult").count == 3 && text.contains("expandMacroResult"))
    }

    /// A compiler that is killed leaves half a message, or none.
    @Test(arguments: [0, 1, 7, 8, 9, 20])
    func theMacroPluginEndsWithItsInput(_ count: Int) throws {
        let whole = Self.frame(Self.capability)
        #expect(try run(whole + whole.prefix(count)).status == 0)
    }

    /// The compiler is killed after any byte of its messages.
    @Test func aCompilerMayBeKilledAtAnyByte() throws {
        let url = PackageFiles.tests.appending(path: "Fixtures/CompilerMessages/swift-6.3.1.jsonl")
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
        let frames = lines.map(Self.frame)
        let whole = frames.reduce(Data(), +)
        let seed = testSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<12 {
            let count = Int.random(in: 0...whole.count, using: &random)
            let (output, status) = try run(whole.prefix(count))
            var sent = 0
            let answered = frames.prefix { frame in
                sent += frame.count
                return sent <= count
            }.count
            #expect(status == 0, "\(count) bytes, seed \(seed)")
            #expect(Self.answerCount(in: output) == answered, "\(count) bytes, seed \(seed)")
        }
    }

    private static func answerCount(in output: Data) -> Int {
        var (rest, count) = (output, 0)
        while rest.count >= 8 {
            let length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 8 + length else { break }
            (rest, count) = (Data(rest.dropFirst(8 + length)), count + 1)
        }
        return rest.isEmpty ? count : -1
    }

    /// The compiler is killed while it waits for an answer, so that nobody reads the answer.
    @Test func theMacroPluginEndsIfNobodyReadsItsAnswer() throws {
        let process = Process()
        process.executableURL = PackageFiles.products.appending(component: "EntityMacros-tool")
        let (stdin, stdout) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, FileHandle.nullDevice)
        try process.run()
        try stdout.fileHandleForReading.close()
        try? stdin.fileHandleForWriting.write(contentsOf: Self.frame(Self.capability) + Self.frame(Self.capability))
        try? stdin.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }

    /// A program between the compiler and the macros kills the compiler: before it gets an answer, and in the middle of one.
    @Test(
        .timeLimit(.minutes(30)), .enabled(if: Subprocess.isInPath("swiftc")),
        arguments: [
            "kill -KILL $PPID; MACROS; echo $? > ENDED",
            "(MACROS; echo $? > ENDED) | { head -c 8; kill -KILL $PPID; cat; }",
        ])
    func theMacroPluginEndsAfterItsCompilerIsKilled(_ commands: String) async throws {
        let folder = try TemporaryDirectory()
        func path(_ name: String) -> String { folder.url.appending(component: name).path }
        let macros = PackageFiles.products.appending(component: "EntityMacros-tool").path
        let script = commands.replacing("MACROS", with: "timeout 240 '\(macros)'").replacing(
            "ENDED", with: "'\(path("ended"))'")
        try "#!/bin/sh\n: > '\(path("started"))'\n\(script)\n".write(
            toFile: path("macros"), atomically: true, encoding: .utf8)
        try #require(chmod(path("macros"), 0o755) == 0)
        try "import CoreDataSource\n@StoredEntity class A: ManagedObject { var x: Int }\n".write(
            toFile: path("A.swift"), atomically: true, encoding: .utf8)
        let cache = PackageFiles.products.resolvingSymlinksInPath().appending(component: "MisuseModuleCache")
        let flags = PackageFiles.importFlags.map {
            $0.hasSuffix("#EntityMacros") ? path("macros") + "#EntityMacros" : $0
        }
        let compiler = try await Subprocess(
            "swiftc",
            ["-typecheck", "-parse-as-library", "-swift-version", "6", "-module-cache-path", cache.path] + flags
                + [path("A.swift")])
        try #require(FileManager.default.fileExists(atPath: path("started")), "\(compiler.errors)")
        #expect(compiler.status != 0)
        // The macros can still run when the compiler has been killed.
        while (try? String(contentsOfFile: path("ended"), encoding: .utf8))?.last != "\n" {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try String(contentsOfFile: path("ended"), encoding: .utf8) == "0\n")
    }

    @Test(arguments: [
        Data(repeating: 0xFF, count: 64), frame("no JSON"), frame("[]"),
        Data([0, 0, 0, 0, 0, 0, 0, 0x7F]) + Data("x".utf8), frame(""),
    ])
    func anInvalidMessageEndsThePluginWithoutACrash(_ input: Data) throws {
        let (_, status) = try run(Self.frame(Self.capability) + input)
        #expect(status == 0)
    }
}
