import Foundation
import RowStore
import SQLiteStore
import Testing
import TestSupport

/// A real process that opens a store, killed or failed by the system at its calls for the store's files.
///
/// Every call is tried with `COREDATASOURCE_THOROUGH`, and some, beginning at a random one, without.
@Suite(
    .serialized, .enabled(if: Subprocess.isInPath("strace"), "strace, which kills at a system call, is not installed."))
struct SystemCallTests {
    /// Calls that change no file are left out, for they lead to no other state than the one before them.
    @Test(arguments: ResetScenario.allCases)
    func whereverTheProcessIsKilledTheNextStartFindsAWholeStore(scenario: ResetScenario) async throws {
        let step = isThorough ? 1 : 5
        let calls = isThorough ? "all" : "!fcntl,close,newfstatat,pread64,fchown,readlink,getdents64"
        var number = Int.random(in: 1...step)
        var kills = 0
        while true {
            let folder = try TemporaryFolder()
            try scenario.prepare(folder)
            let child = try await trace(folder, scenario.programArguments, calls, "signal=KILL:when=\(number)")
            guard let child else { return }
            try scenario.expectWhole(folder, "killed at system call \(number)")
            if child.status == 0 { break }
            try #require(child.status == SIGKILL, "\(child.output) \(child.errors)")
            kills += 1
            number += step
        }
        #expect(kills > 1)
    }

    /// Neither a store that is current nor one that would have to be reset is touched, whatever fails while it is read.
    @Test(arguments: ["EACCES", "EBUSY", "EIO", "EMFILE", "ENOSPC"], [("hash", "discard"), ("other", "fail")])
    func whateverTheSystemRefusesTheStoreStaysAsItIs(fault: String, start: (String, String)) async throws {
        let step = isThorough ? 1 : 41
        var number = Int.random(in: 1...step)
        while true {
            let folder = try TemporaryFolder()
            try ResetScenario.reset.prepare(folder)
            let before = folder.contents()
            let child = try await trace(folder, [start.0, "", start.1], "all", "error=\(fault):when=\(number)")
            guard let child else { return }
            let moment = "\(fault) at system call \(number): \(child.output)"
            #expect(child.status == 0 ? child.output == "current\n" : child.status == 1, "\(moment)\(child.errors)")
            #expect(folder.contents() == before, "\(moment)")
            if child.errors.contains("INJECTED") == false { break }
            number += step
        }
    }

    /// Runs the program under strace, which tampers with one of its calls for the store's files.
    ///
    /// - Returns: Nil if this system does not let a process trace another.
    private func trace(
        _ folder: TemporaryFolder, _ arguments: [String], _ calls: String, _ tampering: String
    ) async throws -> Subprocess? {
        // As the program sees it, without symbolic links.
        let folderPath = folder.url.resolvingSymlinksInPath().path
        let paths = [
            "", "/test.store", "/test.store-wal", "/test.store-shm", "/test.store-journal", "/test.store.lock",
        ]
        let program = PackageFiles.products.appending(component: "store-program").path
        let child = try await Subprocess(
            "strace",
            ["-f", "-qq"] + paths.flatMap { ["-P", folderPath + $0] } + [
                "-e", "trace=\(calls)", "-e", "inject=all:\(tampering)", program, folderPath + "/test.store",
            ] + arguments)
        guard !child.errors.contains("PTRACE") && !child.errors.contains("ptrace") else {
            print("Skipped: this system does not let a process trace another.")
            return nil
        }
        return child
    }
}

extension ResetScenario {
    /// What `store-program` needs to do the same.
    fileprivate var programArguments: [String] {
        switch self {
        case .creation, .reset, .finishing: ["other", "", "discard"]
        case .backup: ["other", "", "backup"]
        case .standard: ["other", "", "standard"]
        case .standardKey: ["hash", "7", "standard"]
        case .changedEntities: ["other", "", "changedEntities"]
        case .sourceKey: ["hash", "7", "backup"]
        case .upgrade: ["", (try? FirstFormatStore.world.fixture.modelFile.path) ?? "", "upgrade"]
        case .migration: ["", "", "migrate"]
        case .refusedMigration: ["", "", "strict"]
        }
    }
}
