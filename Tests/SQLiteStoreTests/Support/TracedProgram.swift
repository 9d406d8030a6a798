import Foundation
import TestSupport

/// `store-program` under strace, which lists its calls for the store's files, and fails one of them or kills the program there.
struct TracedProgram {
    /// One system call of a run.
    struct Call: CustomStringConvertible {
        let name: String
        /// Its number among the calls of that name, the first being 1: strace counts each name for itself.
        let number: Int
        /// What strace printed.
        let line: Substring

        var description: String { "\(name) \(number)" }
    }

    /// What the program is given after the store's file.
    let arguments: [String]
    /// Which calls there are, as strace takes them: `all`, or `!` and the names of those that are left out.
    let calls: String
    /// The name of one more file of the folder, whose calls are listed, too.
    var mark: String?

    static let isAvailable = Subprocess.isInPath("strace")
    static let comment = "strace, which kills at a system call, is not installed."

    /// Runs the program to its end.
    ///
    /// - Returns: Its calls, and the program's result; nil if this system does not let a process trace another.
    func list(_ folder: TemporaryFolder) async throws -> (calls: [Call], child: Subprocess)? {
        guard let child = try await run(folder, []) else { return nil }
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
    func run(_ folder: TemporaryFolder, _ tampering: String, at call: Call) async throws -> Subprocess? {
        try await run(folder, ["-e", "inject=\(call.name):\(tampering):when=\(call.number)"])
    }

    private func run(_ folder: TemporaryFolder, _ injection: [String]) async throws -> Subprocess? {
        // As the program sees it, without symbolic links.
        let folderPath = folder.url.resolvingSymlinksInPath().path
        let file = folderPath + "/test.store"
        let endings = ["", "-wal", "-shm", "-journal", ".lock", ".gate", ".write", ".bell"]
        let paths = [folderPath] + endings.map { file + $0 } + (mark.map { [folderPath + "/" + $0] } ?? [])
        let program = PackageFiles.products.appending(component: "store-program").path
        let child = try await Subprocess(
            "strace",
            ["-f", "-qq", "-e", "signal=none"] + paths.flatMap { ["-P", $0] } + ["-e", "trace=\(calls)"] + injection
                + [program, file] + arguments)
        guard !child.errors.contains("PTRACE") && !child.errors.contains("ptrace") else {
            print("Skipped: this system does not let a process trace another.")
            return nil
        }
        return child
    }
}

extension [TracedProgram.Call] {
    /// All of them with `COREDATASOURCE_THOROUGH`, and without it about so many, at equal distances, beginning at a random one.
    func some(_ count: Int) -> [Element] {
        let step = isThorough ? 1 : Swift.max(1, self.count / count)
        return stride(from: Int.random(in: 0..<step), to: self.count, by: step).map { self[$0] }
    }
}
