package import Foundation

/// A program that uses a store in a file, under strace, which lists its calls for the store's files, and fails one of them or kills the
/// program there.
package struct TracedProgram {
    /// One system call of a run.
    package struct Call: CustomStringConvertible {
        package let name: String
        /// Its number among the calls of that name, the first being 1: strace counts each name for itself.
        package let number: Int
        /// What strace printed.
        package let line: Substring

        package var description: String { "\(name) \(number)" }
    }

    private let program: URL
    /// The arguments of the program for the file of a store.
    private let arguments: (URL) -> [String]
    /// Which calls there are, as strace takes them: `all`, or `!` and the names of those that are left out.
    private let calls: String
    /// The name of one more file of the folder, whose calls are listed, too.
    private let mark: String?

    package static let isAvailable = Subprocess.isInPath("strace")
    package static let comment = "strace, which kills at a system call, is not installed."

    package init(_ program: URL, calls: String, mark: String? = nil, arguments: @escaping (URL) -> [String]) {
        (self.program, self.calls, self.mark, self.arguments) = (program, calls, mark, arguments)
    }

    /// Runs the program to its end.
    ///
    /// - Returns: Its calls, and the program's result; nil if this system does not let a process trace another.
    package func list(_ file: URL) async throws -> (calls: [Call], child: Subprocess)? {
        guard let child = try await run(file, []) else { return nil }
        var counts: [Substring: Int] = [:]
        let calls = child.errors.split(separator: "\n").compactMap { line -> Call? in
            guard let name = line.prefixMatch(of: /(?:\[pid +\d+\] )?(\w+)\(/)?.output.1 else { return nil }
            counts[name, default: 0] += 1
            return Call(name: String(name), number: counts[name] ?? 0, line: line)
        }
        return (calls, child)
    }

    /// Runs the program, and tampers with one of its calls.
    ///
    /// - Parameter tampering: `signal=KILL`, or `error=EIO`.
    /// - Returns: Nil if this system does not let a process trace another.
    package func run(_ file: URL, _ tampering: String, at call: Call) async throws -> Subprocess? {
        try await run(file, ["-e", "inject=\(call.name):\(tampering):when=\(call.number)"])
    }

    private func run(_ file: URL, _ injection: [String]) async throws -> Subprocess? {
        // As the program sees it, without symbolic links.
        let folder = file.deletingLastPathComponent().resolvingSymlinksInPath()
        let file = folder.appending(component: file.lastPathComponent)
        let endings = ["", "-wal", "-shm", "-journal", ".lock", ".gate", ".write", ".bell"]
        let paths =
            [folder.path] + endings.map { file.path + $0 } + (mark.map { [folder.appending(component: $0).path] } ?? [])
        let child = try await Subprocess(
            "strace",
            ["-f", "-qq", "-e", "signal=none"] + paths.flatMap { ["-P", $0] } + ["-e", "trace=\(calls)"] + injection
                + [program.path] + arguments(file))
        guard !child.errors.contains("PTRACE") && !child.errors.contains("ptrace") else {
            print("Skipped: this system does not let a process trace another.")
            return nil
        }
        return child
    }
}
