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

    @Test(arguments: [
        Data(repeating: 0xFF, count: 64), frame("no JSON"), frame("[]"),
        Data([0, 0, 0, 0, 0, 0, 0, 0x7F]) + Data("x".utf8), frame(""),
    ])
    func anInvalidMessageEndsThePluginWithoutACrash(_ input: Data) throws {
        let (_, status) = try run(Self.frame(Self.capability) + input)
        #expect(status == 0)
    }
}
