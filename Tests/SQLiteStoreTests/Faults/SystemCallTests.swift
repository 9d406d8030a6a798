import Foundation
import RowStore
import SQLiteStore
import Testing
import TestSupport

/// A real process that opens a store, killed or failed by the system at its calls for the store's files.
///
/// Every call is tried with `COREDATASOURCE_THOROUGH`, and some, beginning at a random one, without.
@Suite(.serialized, .enabled(if: TracedProgram.isAvailable, "\(TracedProgram.comment)"))
struct SystemCallTests {
    /// Calls that change no file are left out, for they lead to no other state than the one before them.
    @Test(arguments: ResetScenario.allCases)
    func whereverTheProcessIsKilledTheNextStartFindsAWholeStore(scenario: ResetScenario) async throws {
        let program = TracedProgram(
            arguments: scenario.programArguments,
            calls: isThorough ? "all" : "!fcntl,close,newfstatat,pread64,fchown,readlink,getdents64")
        guard let calls = try await calls(program, scenario, atLeast: 10) else { return }
        for call in calls.some(12) {
            let folder = try TemporaryFolder()
            try scenario.prepare(folder)
            guard let child = try await program.run(folder, "signal=KILL", at: call) else { return }
            try #require(child.status == SIGKILL, "\(call): \(child.output) \(child.errors)")
            try scenario.expectWhole(folder, "killed at \(call)")
        }
    }

    /// Neither a store that is current nor one that would have to be reset is touched, whatever fails while it is read.
    @Test(arguments: ["EACCES", "EBUSY", "EIO", "EMFILE", "ENOSPC"], [("hash", "discard"), ("other", "fail")])
    func aRefusedSystemCallChangesNoStore(fault: String, start: (String, String)) async throws {
        let program = TracedProgram(arguments: [start.0, "", start.1], calls: "all")
        guard let calls = try await calls(program, .reset, atLeast: 10) else { return }
        for call in calls.some(8) {
            let folder = try TemporaryFolder()
            try ResetScenario.reset.prepare(folder)
            let before = folder.contents()
            guard let child = try await program.run(folder, "error=\(fault)", at: call) else { return }
            let moment = "\(fault) at \(call): \(child.output)"
            #expect(child.errors.contains("INJECTED"), "\(moment)")
            #expect(child.status == 0 ? child.output == "current\n" : child.status == 1, "\(moment)\(child.errors)")
            #expect(folder.contents() == before, "\(moment)")
        }
    }

    /// The calls of a run without a fault.
    private func calls(
        _ program: TracedProgram, _ scenario: ResetScenario, atLeast count: Int
    ) async throws -> [TracedProgram.Call]? {
        let folder = try TemporaryFolder()
        try scenario.prepare(folder)
        guard let calls = try await program.list(folder)?.calls else { return nil }
        try #require(calls.count >= count, "\(calls)")
        return calls
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
