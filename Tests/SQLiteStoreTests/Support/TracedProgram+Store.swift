import Foundation
import TestSupport

/// `store-program` under strace.
extension TracedProgram {
    /// - Parameters:
    ///   - arguments: What the program is given after the store's file.
    ///   - calls: Which calls there are, as strace takes them.
    ///   - mark: The name of one more file of the folder, whose calls are listed, too.
    init(arguments: [String], calls: String, mark: String? = nil) {
        let program = PackageFiles.products.appending(component: "store-program")
        self.init(program, calls: calls, mark: mark) { file in [file.path] + arguments }
    }

    func list(_ folder: TemporaryFolder) async throws -> (calls: [Call], child: Subprocess)? {
        try await list(folder.store)
    }

    func run(_ folder: TemporaryFolder, _ tampering: String, at call: Call) async throws -> Subprocess? {
        try await run(folder.store, tampering, at: call)
    }
}

extension [TracedProgram.Call] {
    /// All of them with `COREDATASOURCE_THOROUGH`, and without it about so many, at equal distances, beginning at a random one.
    func some(_ count: Int) -> [Element] {
        let step = isThorough ? 1 : Swift.max(1, self.count / count)
        return stride(from: Int.random(in: 0..<step), to: self.count, by: step).map { self[$0] }
    }
}
