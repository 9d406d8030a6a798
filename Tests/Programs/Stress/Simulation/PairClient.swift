import CoreDataSource
import TestSupport

/// A task of a schedule that makes saves over two data sources: one record in each, always with the same revision.
struct PairClient: Sendable {
    private let number: Int
    private let world: ScheduleWorld
    /// The data sources, in the order in which it names them.
    private let tables: [Int]
    private var random: SeededRandom
    /// The revisions that the records may have; 0 if they are not there.
    private var possible: Set<Int64> = [0]
    /// Those of which nobody knows whether they were saved: that shows when the store is opened again.
    private var undecided: Set<Int64> = []
    private var last = PossibleStates.Moment()

    private struct DeliberateError: Error {}

    init(_ number: Int, _ world: ScheduleWorld, seed: UInt64) {
        self.number = number
        self.world = world
        tables = [[0, 2], [2, 0], [1, 0], [2, 1]][number % 4]
        random = SeededRandom(seed: seed).branch(UInt64(number) + 2000)
    }

    private var name: String { "pair \(number)" }

    private func record(_ place: Int, _ revision: Int64) -> RecordData {
        RecordData(key: "\(name)/\(place)", task: Int32(1000 + number), revision: revision)
    }

    mutating func run(saves: Int64) async {
        for revision in 1...saves {
            guard let opened = await world.currentContainer(for: name) else { break }
            await save(revision, opened)
            if random.next(below: 2) == 0, let opened = world.current {
                do { try await checkRead(opened) } catch { expect(error, "a read of a pair") }
            }
        }
        world.note(name, nil)
    }

    private mutating func save(_ revision: Int64, _ opened: ScheduleWorld.Opened) async {
        world.note(name, "saves \(revision)")
        let recordSources = tables.map { opened.recordSources[$0] }
        let (first, second): (EntityDataSource, EntityDataSource) = (recordSources[0], recordSources[1])
        let values = tables.indices.map { record($0, revision) }
        let throwsDeliberately = random.next(below: 5) == 0
        do {
            try await opened.container.perform(in: first, second) { first, second in
                try recordSources[0].put(values[0], in: first)
                Simulation.interleave()
                try recordSources[1].put(values[1], in: second)
                if throwsDeliberately { throw DeliberateError() }
            }
            world.findings.count(.acknowledged)
            let now = world.disk.moment
            possible = hasReset(now) ? [revision, 0] : [revision]
            undecided = []
            last = now
        } catch is DeliberateError {
        } catch {
            world.findings.count(.refused)
            if (error as? DataSourceError)?.code == .outcomeUnknown { undecided.insert(revision) }
            expect(error, "a save of two data sources")
        }
    }

    private func expect(_ error: any Error, _ call: String) {
        let code = (error as? DataSourceError)?.code
        if code.map(ScheduleClient.expected.contains) != true { world.recordViolation("\(call) threw \(error)") }
    }

    /// Both records are of the same save, and of one that can be.
    mutating func checkRead(_ opened: ScheduleWorld.Opened) async throws {
        world.note(name, "looks")
        let before = world.disk.moment
        let records = try await world.read(opened)
        let now = world.disk.moment
        let revisions = tables.indices.map { place in
            records[tables[place]].first { $0.key == record(place, 0).key }?.revision ?? 0
        }
        advance(now)
        if revisions[0] != revisions[1] {
            world.recordViolation("a read sees revisions \(revisions) of \(name)", .half)
        } else if !possible.union(undecided).contains(revisions[0]) {
            world.recordViolation(
                "a read sees revision \(revisions[0]) of \(name), which can be \(possible.sorted())", .lost)
        }
        possible = [revisions[0]]
        last = before
        advance(now)
        last = now
    }

    private mutating func advance(_ now: PossibleStates.Moment) {
        if hasReset(now) { possible.insert(0) }
    }

    /// Whether a reset was under way at any time since the last moment.
    private func hasReset(_ now: PossibleStates.Moment) -> Bool { now.resetsBegun > last.resetsEnded }
}
