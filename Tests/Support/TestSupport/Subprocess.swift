package import Foundation

/// The results of a program that has ended.
package struct Subprocess {
    package private(set) var status: Int32
    package private(set) var output: String
    package private(set) var errors: String

    /// Runs a program in the package's directory. The program is a path, or is found in PATH.
    ///
    /// The wait blocks no thread, because a few tests need one of the few threads.
    package init(_ program: String, _ arguments: [String], in directory: URL = PackageFiles.root) async throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.currentDirectoryURL = directory
        // Files instead of pipes, because a program that writes much to both pipes would wait for a reader.
        let streams = try TemporaryDirectory()
        let files = try ["output", "errors"].map { name in
            let file = streams.url.appending(component: name)
            try Data().write(to: file)
            return (file: file, handle: try FileHandle(forWritingTo: file))
        }
        process.standardOutput = files[0].handle
        process.standardError = files[1].handle
        let ended = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in ended.continuation.finish() }
        try process.run()
        // The program has its own descriptors by now. Foundation keeps these open for long, and lists all open files at every
        // start.
        for file in files { try file.handle.close() }
        for await _ in ended.stream {}
        status = process.terminationStatus
        output = try String(contentsOf: files[0].file, encoding: .utf8)
        errors = try String(contentsOf: files[1].file, encoding: .utf8)
    }

    /// Whether a program with the name is in PATH.
    package static func isInPath(_ program: String) -> Bool {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }
}
