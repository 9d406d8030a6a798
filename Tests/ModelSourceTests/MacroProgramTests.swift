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

    @Test func itAnswersEachMessageInItsOrder() throws {
        let (output, status) = try run(Self.frame(Self.capability) + Self.frame("{}") + Self.frame(Self.capability))
        #expect(status == 0)
        let text = String(decoding: output, as: UTF8.self)
        #expect(text.components(separatedBy: "getCapabilityResult").count == 3 && text.contains("expandMacroResult"))
    }

    /// A compiler that is killed leaves half a message, or none.
    @Test(arguments: [0, 1, 7, 8, 9, 20])
    func itEndsWithItsInput(_ count: Int) throws {
        let whole = Self.frame(Self.capability)
        #expect(try run(whole + whole.prefix(count)).status == 0)
    }

    @Test(arguments: [
        Data(repeating: 0xFF, count: 64), frame("no JSON"), frame("[]"),
        Data([0, 0, 0, 0, 0, 0, 0, 0x7F]) + Data("x".utf8), frame(""),
    ])
    func whatIsNoMessageEndsItWithoutACrash(_ input: Data) throws {
        let (_, status) = try run(Self.frame(Self.capability) + input)
        #expect(status == 0)
    }
}
