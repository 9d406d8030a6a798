import Foundation
import TestSupport

/// What is put to the test.
enum Suite: String, CaseIterable {
    /// Processes are killed in the middle of their saves, and at the system calls of a load and of a revert.
    case kill
    /// The power goes, with what was not synced half written.
    case powerCut = "power-cut"
    /// Each call for the files fails, once and for good.
    case faults
    /// Another process writes to the file with plain SQL.
    case outsideWrites = "outside-writes"
    /// Several processes share a store, and are killed now and then.
    case processes
    /// Several processes share a store on a PostgreSQL server that is killed and halted, through connections that are cut, and that a
    /// standby replaces.
    case postgreSQL = "postgresql"
    /// Memory and the log stay bounded while main is blocked and readers overlap.
    case memory
    /// Tasks, cancels, resets, closes and drops in an order that a seed decides.
    case schedules

    /// Runs it in this process.
    @MainActor
    func run(_ arguments: Arguments, _ findings: Findings) async throws {
        let (size, seed) = (arguments.size, arguments.seed)
        switch self {
        case .kill:
            try await KillSuite(size, seed, findings).run()
            try await TracedKills(size, findings).run()
        case .powerCut: PowerCutSuite(size, seed, findings).run()
        case .faults: try await FaultSuite(size, seed, findings).run()
        case .outsideWrites: try await OutsideWritesSuite(size, seed, findings).run()
        case .processes:
            if arguments.count == nil { try await ProcessesSuite(size, seed, findings).run() }
            try await CheckpointRounds(arguments, findings).run()
        case .postgreSQL:
            #if PostgreSQL
            try await PostgreSQLSuite(size, seed, findings).run()
            try await FailoverSuite(size, seed, findings).run()
            #else
            say("  skipped: this program was built without the trait PostgreSQL")
            #endif
        case .memory: try await MemorySuite(size, seed, findings).run()
        case .schedules: ScheduleSuite(arguments, findings).run()
        }
    }

    /// The arguments when a suite starts this program once more.
    @MainActor
    static func runChild(_ arguments: [String]) async throws {
        switch arguments.first {
        case "kill": try await KillChild(Array(arguments.dropFirst())).run()
        case "traced": try await TracedChild(Array(arguments.dropFirst())).run()
        case "rounds": try RoundsChild(Array(arguments.dropFirst())).run()
        case "sharing": try await SharingChild(Array(arguments.dropFirst())).run()
        case "pool": try await PoolChild(Array(arguments.dropFirst())).run()
        case "outside": try OutsideChild(Array(arguments.dropFirst())).run()
        default: throw InvalidArguments(arguments: arguments)
        }
    }

    struct InvalidArguments: Error {
        let arguments: [String]
    }
}
