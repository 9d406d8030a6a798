import Foundation
import TestSupport

/// The program as it was built for this test run, with a folder of its own.
struct CatalogProgram {
    private let directory: TemporaryDirectory
    var folder: URL { directory.url }
    var store: URL { folder.appending(component: "packages.sqlite") }
    var input: URL { folder.appending(component: "input") }

    /// What a run came to.
    struct Outcome {
        var status: Int32
        var output: String
        var errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    var executable: URL { PackageFiles.products.appending(component: "package-catalog") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Makes the store equal to the text.
    func update(_ text: String, _ options: String...) async throws -> Outcome {
        try await update(Data(text.utf8), options)
    }

    func update(_ bytes: Data, _ options: [String] = []) async throws -> Outcome {
        try bytes.write(to: input)
        return try await run(["--input", input.path, "--store", store.path] + options)
    }

    /// Runs a command on the store.
    func command(_ words: String...) async throws -> Outcome {
        try await run(words + ["--store", store.path])
    }

    func run(
        _ arguments: [String], standardInput: URL? = nil, environment: [String: String] = [:]
    ) async throws -> Outcome {
        let process = try start(
            arguments, standardInput: standardInput.map { try FileHandle(forReadingFrom: $0) }, environment: environment
        )
        await process.end()
        return Outcome(status: process.terminationStatus, output: try text("output"), errors: try text("errors"))
    }

    func start(
        _ arguments: [String], standardInput: FileHandle? = nil, standardOutput: Any? = nil,
        environment: [String: String] = [:]
    ) throws -> Process {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = standardInput ?? FileHandle.nullDevice
        // Files, not pipes: a program that writes much to both cannot wait for a reader of either.
        process.standardOutput = try standardOutput ?? handle("output")
        process.standardError = try handle("errors")
        try process.run()
        return process
    }

    private func handle(_ name: String) throws -> FileHandle {
        let file = folder.appending(component: name)
        try Data().write(to: file)
        return try FileHandle(forWritingTo: file)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(component: name), encoding: .utf8)
    }
}
