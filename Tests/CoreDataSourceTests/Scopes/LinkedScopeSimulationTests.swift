import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Random loads of harbors and ships, whose relationships have the delete rules Cascade, Nullify and Deny. Ships also call at harbors,
/// and the lists of both have these many-to-many links. Ships leave and join lists by edits. In some worlds, hooks count ships, or
/// delete harbors without ships. Loads have different limits of deletions.
///
/// A load may make another request only if others have saved something during the last one, and may end with the error of a rule only
/// if the rule refuses the newest answer. When the server stops to change, every load succeeds with few requests, and the lists become
/// those of the server.
///
/// `COREDATASOURCE_SCOPES` says how many worlds there are of each kind of store, and `COREDATASOURCE_SEED` sets the seed. The seed
/// determines what each world does. The tasks of a world run one after the other, so the same seed repeats a run, except where two
/// lists are loaded at the same time (`loadTwo`).
@MainActor
struct LinkedScopeSimulationTests {
    @Test(arguments: ScopeStoreKind.allCases)
    func listsOfLinkedObjectsBecomeThoseOfTheServer(_ kind: ScopeStoreKind) async throws {
        let seed = testSeed()
        let wanted = ProcessInfo.processInfo.environment["COREDATASOURCE_SCOPES"].flatMap { Int($0) }
        let rounds = wanted ?? [.memory: 24, .server: 4][kind] ?? 6
        print("Linked scopes: \(rounds) worlds, seed \(seed)")
        for round in 0..<rounds {
            let place = try ScopePlace(kind, model: .sea)
            let shape = SeaShape.allCases[(round / 2 + Int(seed % 4)) % 4]
            let count = ScopeStoreKind.shared.contains(kind) && round % 2 == 1 ? 2 : 1
            let containers = try (0..<count).map { _ in try place.open() }
            let members = try containers.map { try shape.member(of: $0) }
            let world = SeaWorld(members, place, shape, seed: seed &+ UInt64(round))
            if let failed = try await run(world) {
                Issue.record("COREDATASOURCE_SEED=\(seed), \(kind), round \(round), \(failed): \(world)")
            }
            for container in containers { try await container.close() }
        }
    }

    /// - Returns: Where the first fault was found; nil if there is none.
    private func run(_ world: SeaWorld) async throws -> String? {
        for _ in 0..<5 { world.changeServer() }
        for step in 0..<20 {
            world.note("|\(step)|")
            await world.interfere(after: -1, depth: 0)
            await world.load(world.lists[world.roll(below: world.lists.count)], by: world.anyMember(), depth: 0)
            try await world.check()
            if !world.faults.value.isEmpty { return "step \(step)" }
        }
        for (number, phase) in [world.loadTwo, world.loadDuringLoads, world.loadAll, world.loadAll].enumerated() {
            world.note("|end \(number)|")
            await phase()
            try await world.check()
            if !world.faults.value.isEmpty { return "end \(number)" }
        }
        try await world.checkEnd()
        return world.faults.value.isEmpty ? nil : "end"
    }
}

// MARK: The end

extension SeaWorld: CustomStringConvertible {
    var description: String {
        """
        \(shape), \(members.count) processes, lists \(lists.map(\.name)), visitors \(server.hasVisitors), debtors \(server.hasDebtors)
        \(faults.value.joined(separator: "\n"))
        \(trace.value.joined(separator: " "))
        """
    }

    /// Loads two lists at the same time, after the last change of the server. Each answer is refused at most twice because of the other
    /// one: because of its rows, and because it has dropped the tag of the list.
    func loadTwo() async {
        for _ in 0..<3 { changeServer() }
        let first = roll(below: lists.count)
        let second = (first + 1 + roll(below: lists.count - 1)) % lists.count
        let loads = [SeaLoad(lists[first], by: 0, .all), SeaLoad(lists[second], by: members.count - 1, .all)]
        let tasks = loads.map { load in
            Task { [self] in try await load.run(members) { [self] in try await newestAnswer(to: $0, load) } }
        }
        for (load, task) in zip(loads, tasks) {
            if case .failure(let error) = await task.result, !mayFail(load, error) { fail("\(load.name): \(error)") }
            if load.requests.value.count > 3 { fail("\(load.name) made too many requests beside another load.") }
        }
    }

    /// Loads each list while another list is loaded during each of its requests. If a hook of another process deletes harbors of that
    /// list, an answer that needs the same harbors is refused each time, because it is not known that a hook has deleted them. So if
    /// there are two processes, nothing is loaded during the third request.
    func loadDuringLoads() async {
        for (index, list) in lists.enumerated() {
            let load = SeaLoad(list, by: anyMember(), .all)
            let other = lists[(index + 1) % lists.count]
            await run(load, mayFail: mayFail) { [self] in
                try await load.run(members) { [self] request in
                    try await newestAnswer(to: request, load) { [self] in
                        if shape == .tidy, members.count > 1, load.requests.value.count == 3 { return }
                        await loadAlone(other, mayFail: mayFail)
                    }
                }
            }
        }
    }

    /// Loads all lists, one after the other. The ships come first, because ships that are no longer linked deny no deletion.
    func loadAll() async {
        for kind in [SeaObject.Kind.ship, .harbor] {
            for list in lists where list.kind == kind { await loadAlone(list) { _, _ in false } }
        }
    }

    /// Nothing else is saved during the load, so it makes one request.
    private func loadAlone(_ list: SeaList, mayFail: (SeaLoad, any Error) -> Bool) async {
        let load = SeaLoad(list, by: anyMember(), .all)
        await run(load, mayFail: mayFail) { [self] in
            try await load.run(members) { [self] in try await newestAnswer(to: $0, load) }
        }
        if load.requests.value.count != 1 { fail("\(load.name) made \(load.requests.value.count) requests alone.") }
    }

    private func run(
        _ load: SeaLoad, mayFail: (SeaLoad, any Error) -> Bool, _ work: () async throws -> Void
    ) async {
        await run(load) {
            do { try await work() } catch {
                if !mayFail(load, error) { fail("\(load.name) failed at the end: \(error)") }
                throw error
            }
        }
    }

    /// The stored ships may be linked to harbors that the server has removed.
    private func mayFail(_ load: SeaLoad, _ error: any Error) -> Bool {
        let isDenied = (error as? DataSourceError)?.code == .deletionDenied
        return isDenied && server.hasDebtors && load.list.kind == .harbor
    }

    private func newestAnswer(
        to request: ScopeRequest, _ load: SeaLoad, _ work: () async -> Void = {}
    ) async throws -> ServerAnswer<SeaObject> {
        try await enter(load)
        await work()
        leave(load, server.newest)
        let (objects, tag) = listed(load.list, at: server.newest)
        return request.entityTag == tag ? .notModified : .list(objects, entityTag: tag)
    }

    // MARK: Checks

    /// Checks the rows and the tags that each process finds.
    func check() async throws {
        for member in members { try await member.container.flush() }
        for (number, member) in members.enumerated() {
            let rows = try await member.rows()
            var found = server.faults(in: rows, mayLackLinks: shape == .two)
            found += server.callFaults(in: rows, mayLackLinks: shape == .tidy || hasDeleted.value)
            for list in lists {
                guard let tag = try member.freshness(of: list).entityTag.flatMap({ Int($0) }) else { continue }
                found += server.faults(of: list, tag: tag, in: rows)
            }
            let incomplete = try await member.container.read { [shape] context in
                try context.fetch(Harbor.self).filter { !shape.isComplete($0) }.map { "h\($0.key)" }
            }
            found += incomplete.map { "The hook has left \($0)." }
            if !found.isEmpty {
                fail("Process \(number): \(found.sorted()), rows \(rows.values.map { "\($0)" }.sorted())")
            }
        }
    }

    /// The store has the newest lists, with their tags.
    func checkEnd() async throws {
        for member in members {
            for fault in server.differences(from: try await member.rows(), mayLackLinks: shape == .two) { fail(fault) }
            for list in lists {
                let (tag, newest) = (try member.freshness(of: list).entityTag, server.tag(of: list, at: server.newest))
                if tag != "\(newest)" { fail("\(list.name) has the tag \(tag ?? "nil") instead of \(newest).") }
            }
        }
    }
}
