import CoreDataSource
import Foundation
import RowStore
import Synchronization
import TestSupport

/// One order of events: six tasks that save, in each third one also two that save over two data sources, and one that resets,
/// closes, drops, discards and cancels.
struct Schedule {
    private let seed: UInt64
    private let world: ScheduleWorld

    private static let clientCount = 6
    private static let pairCount = 2

    /// What a task knows of its own records at its end.
    private enum ClientResult: Sendable {
        case states(Int, PossibleStates)
        case pair(PairClient)
    }

    init(seed: UInt64, _ findings: Findings) {
        self.seed = seed
        world = ScheduleWorld(seed: seed, findings)
    }

    enum Outcome: Sendable {
        /// The number shows whether two runs were the same.
        case ended(trace: UInt64, steps: Int)
        /// Parts of it may still be about, so that no other can be run in this process.
        case hung
    }

    @MainActor
    func run() -> Outcome {
        let (world, seed) = (world, seed)
        let ending = world.simulation.run { await Schedule.run(world, seed) }
        guard ending == .complete else {
            world.recordViolation("it is \(ending): \(world.simulation.summary): \(world.report)", .hangs)
            return .hung
        }
        if let leftovers = world.leftovers { world.recordViolation("at the end \(leftovers)", .hangs) }
        return .ended(trace: world.simulation.trace, steps: world.simulation.stepCount)
    }

    private static func run(_ world: ScheduleWorld, _ seed: UInt64) async {
        await world.open()
        let clients = (0..<clientCount).map { ScheduleClient($0, world, seed: seed) }
        let known = await withTaskGroup(of: ClientResult?.self) { group in
            for client in clients {
                group.addTask {
                    var client = client
                    return .states(client.number, await client.run(saves: 8))
                }
            }
            for number in 0..<(world.hasPairs ? pairCount : 0) {
                group.addTask {
                    var client = PairClient(number + Int(seed / 3 % 3), world, seed: seed)
                    await client.run(saves: 6)
                    return .pair(client)
                }
            }
            group.addTask {
                await disturb(world, SeededRandom(seed: seed).branch(1))
                return nil
            }
            var known: [ClientResult] = []
            for await case let one? in group { known.append(one) }
            return known
        }
        await check(world, clients, known)
    }

    private static func disturb(_ world: ScheduleWorld, _ random: SeededRandom) async {
        var random = random
        for _ in 0..<8 {
            for _ in 0..<random.next(below: 60) { await world.simulation.pause() }
            let number = random.next(below: 12)
            world.note("disturber", "does \(number)")
            switch number {
            case _ where world.disk.isUnknown: await close(world)
            case 0..<3: _ = try? await world.current?.container.reset()
            case 3..<5:
                world.disk.beginRisk()
                _ = await world.current?.container.discardPending()
                world.disk.endRisk()
            case 5: try? await world.current?.container.flush()
            case 6: await close(world)
            case 7: await drop(world)
            default: world.cancel(random.next(below: clientCount))
            }
        }
        world.note("disturber", nil)
    }

    private static func close(_ world: ScheduleWorld) async {
        // What is pending may not be written.
        world.disk.beginRisk()
        try? await world.take()?.container.close()
        await world.open()
        world.disk.endRisk()
    }

    /// Lets go of the container. The last reference to it goes wherever that is, and closes the store.
    private static func drop(_ world: ScheduleWorld) async {
        world.disk.beginRisk()
        _ = world.take()
        await world.open()
        world.disk.endRisk()
    }

    /// Everybody has ended: now nothing fails, and what is shown is what is stored.
    private static func check(
        _ world: ScheduleWorld, _ clients: [ScheduleClient], _ known: [ClientResult]
    ) async {
        world.note("check", "flushes")
        world.disk.heal()
        if world.disk.isUnknown { await close(world) }
        if world.current == nil { await world.open() }
        guard let opened = world.current else { return }
        do {
            if world.simulation.random(below: 4) == 0 { await waitForRetries(opened.container, world) }
            // The first one may get the error of an attempt that failed before.
            do { try await opened.container.flush() } catch { try await opened.container.flush() }
            var states: [Int: PossibleStates] = [:]
            var pairs: [PairClient] = []
            for one in known {
                switch one {
                case .states(let number, let own): states[number] = own
                case .pair(let client): pairs.append(client)
                }
            }
            try await checkRead(opened, clients, &states, world)
            for place in pairs.indices { try await pairs[place].checkRead(opened) }
            world.note("check", "closes and opens again")
            _ = world.take(cancelsLists: false)
            try await opened.container.close()
            await world.open()
            guard let next = world.current else { return }
            try await checkRead(next, clients, &states, world)
            for place in pairs.indices { try await pairs[place].checkRead(next) }
            _ = world.take(cancelsLists: false)
            try await next.container.close()
        } catch {
            world.recordViolation("the end threw \(error)")
        }
        world.note("check", nil)
    }

    /// What was promised to main comes to the store without anybody asking for it, in minutes at most.
    private static func waitForRetries(_ container: PersistentContainer, _ world: ScheduleWorld) async {
        for _ in 0..<10_000 {
            if container.pendingSaveCount == 0 { return }
            await world.simulation.pause()
        }
        world.recordViolation("saves were not tried again", .hangs)
    }

    private static func checkRead(
        _ opened: ScheduleWorld.Opened, _ clients: [ScheduleClient], _ states: inout [Int: PossibleStates],
        _ world: ScheduleWorld
    ) async throws {
        for (number, recordSource) in opened.recordSources.enumerated() {
            world.note("check", "looks at \(number)")
            let moment = world.disk.moment
            // Nobody asks main for anything yet: it and its lists have to find out by themselves.
            let contextRecords = Set(try await recordSource.contextRecords())
            if !(await world.isListed(contextRecords, number)) { world.recordViolation("a list is stale", .stale) }
            let mainRecords = try await recordSource.mainRecords()
            if contextRecords != Set(mainRecords) {
                world.recordViolation("the context has other records than main", .stale)
            }
            for client in clients where client.number % opened.recordSources.count == number {
                guard var possible = states[client.number] else { continue }
                client.expect(mainRecords, since: moment, "main, at the end,", &possible)
                states[client.number] = possible
            }
        }
    }
}
