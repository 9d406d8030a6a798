import Foundation
import TestSupport
import Testing

/// A first update that is killed leaves nothing of a save, or all of it.
///
/// The moments are drawn at random, as parts of the time that a whole update takes; a failure names its own.
@Suite struct KillTests {
    private let program: CatalogProgram
    private let packageCount = 2000
    private let maintainerCount = 7

    init() throws {
        program = try CatalogProgram()
        try Data(ControlPackage.many(packageCount).text.utf8).write(to: program.input)
    }

    @Test func aSaveIsThereWholeOrNotAtAll() async throws {
        let whole = try await update(killedAfter: nil)
        for _ in 0..<8 {
            let moment = whole * Double.random(in: 0.1...1)
            try removeStore()
            _ = try await update(killedAfter: moment)
            try await checkStore("killed after \(moment) of \(whole)")
        }
    }

    /// Runs an update, and kills it after that time.
    ///
    /// - Returns: How long it ran.
    private func update(killedAfter moment: Duration?) async throws -> Duration {
        let start = ContinuousClock.now
        let process = try program.start(["--input", program.input.path, "--store", program.store.path])
        if let moment {
            let identifier = process.processIdentifier
            let delay = Int(moment / .microseconds(1))
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) { kill(identifier, SIGKILL) }
        }
        await process.end()
        return ContinuousClock.now - start
    }

    private func checkStore(_ moment: String) async throws {
        let store = StoreFile(url: program.store)
        #expect(try [0, packageCount].contains(store.count("Package")), "\(moment)")
        #expect(try [0, maintainerCount].contains(store.count("Maintainer")), "\(moment)")
        #expect(try store.integrity() == "ok", "\(moment)")
        let outcome = try await program.run(["--input", program.input.path, "--store", program.store.path])
        #expect(outcome.status == 0, "\(moment)")
        #expect(outcome.lines.last?.hasSuffix("rows=\(maintainerCount)") == true, "\(moment)")
        #expect(try store.count("Package") == packageCount, "\(moment)")
    }

    private func removeStore() throws {
        for suffix in ["", "-wal", "-shm", ".lock"] {
            let path = program.store.path + suffix
            if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
        }
    }
}
