import CoreDataSource
import Foundation
import RowStore
import TestSupport

/// One task of a schedule: it saves its own records, and knows what they may be.
struct ScheduleClient: Sendable {
    let number: Int
    let world: ScheduleWorld
    let ledger: Ledger
    private var random: SeededRandom

    /// What calls may throw. Nothing of such a call is left, but for `outcomeUnknown`.
    static let expected: Set<DataSourceError.Code> = [
        .diskFull, .storeBusy, .storeUnreadable, .uniquenessViolated, .saveRolledBack, .storeReset, .storeClosed,
        .storeUnavailable, .pendingDiscarded, .outcomeUnknown,
    ]

    init(_ number: Int, _ world: ScheduleWorld, seed: UInt64) {
        self.number = number
        self.world = world
        ledger = Ledger(seed: seed, task: number, isShort: true)
        random = SeededRandom(seed: seed).branch(UInt64(number) + 1000)
    }

    /// - Returns: What its records may be.
    mutating func run(saves: Int64) async -> PossibleStates {
        var states = PossibleStates()
        for save in 1...saves {
            guard let opened = await world.currentContainer(for: name) else { break }
            await self.save(ledger.operation(save, on: states.any), opened, &states)
            if states.count > 6 || random.next(below: 3) == 0 {
                if let opened = world.current { await checkRead(opened, &states) }
            }
            for _ in 0..<random.next(below: 3) { await world.simulation.pause() }
        }
        world.note(name, nil)
        return states
    }

    private var name: String { "task \(number)" }

    private mutating func save(
        _ operation: Operation, _ opened: ScheduleWorld.Opened, _ states: inout PossibleStates
    ) async {
        let recordSource = opened.recordSources[number % opened.recordSources.count]
        let form = random.next(below: 5)
        world.note(name, "\(operation), form \(form)")
        do {
            switch operation.kind {
            case .write(let put, let remove) where remove.isEmpty && form == 0:
                try await callBack(recordSource, operation.values(put))
                states.recordOutcome(operation, .stored, world.disk.moment)
            case .write(let put, let remove) where remove.isEmpty && form == 4:
                let isStored = try await block(recordSource, operation.values(put))
                states.recordOutcome(
                    operation, isStored || operation.level == .store ? .stored : .shown, world.disk.moment)
            default:
                if form == 1 {
                    try await world.cancellable(number) { try await recordSource.run(operation) }
                } else {
                    try await recordSource.run(operation)
                }
                states.recordOutcome(operation, operation.level == .store ? .stored : .shown, world.disk.moment)
            }
            world.findings.count(.acknowledged)
            world.note(name, "made it")
        } catch {
            world.note(name, "threw \((error as? DataSourceError)?.code.rawValue ?? "\(error)")")
            world.findings.count(.refused)
            let code = (error as? DataSourceError)?.code
            states.recordOutcome(operation, code == .outcomeUnknown ? .unknown : .threw, world.disk.moment)
            if !(error is CancellationError), code.map(ScheduleClient.expected.contains) != true {
                world.recordViolation("\(operation) threw \(error)")
            }
        }
    }

    private func callBack(_ recordSource: any RecordSource, _ values: [RecordData]) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            recordSource.put(values) { continuation.resume(with: $0.map { _ in }) }
        }
    }

    /// Saves while main is blocked, where that can be; main shows it at once.
    ///
    /// - Returns: Whether it was so. If not, it was saved in the usual way.
    @MainActor
    private func block(_ recordSource: any RecordSource, _ values: [RecordData]) async throws -> Bool {
        guard world.simulation.mayBlock else {
            try await recordSource.put(values)
            return true
        }
        world.note(name, "blocks main")
        let resets = world.disk.moment.resetsBegun
        try recordSource.putAndWait(values)
        world.findings.count(.blocked)
        do {
            let mainRecords = Set(try recordSource.mainRecords())
            if world.disk.moment.resetsBegun == resets, !mainRecords.isSuperset(of: values) {
                world.recordViolation("main does not show a save for which it was blocked", .stale)
            }
        } catch {
            // The container was closed meanwhile. The save has been made.
            let code = (error as? DataSourceError)?.code
            if code.map(ScheduleClient.expected.contains) != true {
                world.recordViolation("a look of blocked main threw \(error)")
            }
        }
        return true
    }

    /// Looks at its records on main, in the private context, or in a read.
    mutating func checkRead(_ opened: ScheduleWorld.Opened, _ states: inout PossibleStates) async {
        let recordSource = opened.recordSources[number % opened.recordSources.count]
        let place = ["main", "the context", "a read"][random.next(below: 3)]
        world.note(name, "looks in \(place)")
        let before = world.disk.moment
        do {
            let records =
                switch place {
                case "main": try await recordSource.mainRecords()
                case "the context": try await recordSource.contextRecords()
                default: try await world.read(opened)[number % opened.recordSources.count]
                }
            expect(records, since: before, place, &states)
        } catch {
            let code = (error as? DataSourceError)?.code
            if code.map(ScheduleClient.expected.contains) != true { world.recordViolation("a look threw \(error)") }
        }
    }

    /// Expects that its records among those can be.
    func expect(
        _ records: [RecordData], since moment: PossibleStates.Moment, _ place: String, _ states: inout PossibleStates
    ) {
        let own = records.filter { Int($0.task) == number }
        world.note(name, "saw \(own.first { $0.key == ledger.key(0) }?.revision ?? 0) in \(place)")
        let before = states.states
        guard !states.observe(own, ledger, between: moment, and: world.disk.moment) else { return }
        // The first record shows which save is there.
        let last = own.first { $0.key == ledger.key(0) }?.revision
        let isHalf = before.contains { $0[0]?.revision == last }
        let found = own.map { "\($0.key)=\($0.revision)" }.sorted().joined(separator: " ")
        let possible = before.map { cells in
            cells.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.revision)" }.joined(separator: " ")
        }
        world.recordViolation(
            "\(place) has other records of task \(number) than can be: \(found); can be: \(possible)",
            isHalf ? .half : .lost)
    }
}
