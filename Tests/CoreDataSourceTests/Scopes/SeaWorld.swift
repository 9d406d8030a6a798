import CoreDataSource
import Foundation
import TestSupport

/// A store that one or two processes have open, a server, and one random task after the other.
///
/// Only the answers overlap: during a request, other lists and objects are loaded and stored, objects are deleted, and a load begins
/// that ends after the request. The tasks run one after the other, so the seed determines the world.
final class SeaWorld: Sendable {
    let members: [SeaMember]
    let place: ScopePlace
    let shape: SeaShape
    let server: SeaServer
    /// During the request of a list, only later lists of this order are loaded. Otherwise, two requests could wait for each other.
    let lists: [SeaList]
    private let random: Shared<SeededRandom>
    /// What happened, for the message of a failure.
    let trace = Shared<[String]>([])
    let faults = Shared<[String]>([])
    /// The number of requests that were answered, and of saves that store no answer.
    private let eventCount = Shared(0)
    /// The answers that loads have stored, in their order.
    private let answers = Shared<[SeaAnswer]>([])
    /// The versions that answers have stored. No row becomes older while it stays.
    private let newest = Shared<[SeaObject.ID: Int]>([:])
    /// Whether the app has deleted objects.
    let hasDeleted = Shared(false)
    private let crossing = Shared<(SeaCrossing, Task<Void, Never>)?>(nil)

    init(_ members: [SeaMember], _ place: ScopePlace, _ shape: SeaShape, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        (self.members, self.place, self.shape) = (members, place, shape)
        lists = SeaList.some(random.next(below: 6)).shuffled(using: &random)
        server = SeaServer(
            isTidy: shape == .tidy, hasVisitors: random.next(below: 2) == 0, hasDebtors: random.next(below: 2) == 0,
            hasCalls: shape != .two && random.next(below: 4) > 0)
        self.random = Shared(random)
    }

    func roll(below bound: Int) -> Int {
        var value = 0
        random.update { value = $0.next(below: bound) }
        return value
    }

    func anyMember() -> Int { roll(below: members.count) }

    func note(_ text: String) { if !text.isEmpty { trace.update { $0.append(text) } } }

    func fail(_ text: String) {
        note("!")
        faults.update { $0.append(text) }
    }

    // MARK: Tasks

    func changeServer() {
        var change = ""
        random.update { change = server.change(&$0) }
        note(change)
    }

    /// Changes the server or the store, or loads a list.
    ///
    /// - Parameters:
    ///   - rank: The place of the list that is being requested; -1 if there is none.
    ///   - depth: The number of requests that are waiting.
    func interfere(after rank: Int, depth: Int) async {
        switch roll(below: 10) {
        case 0: await deleteShip()
        case 1: await deleteHarbor()
        case 2: await apply(lists[roll(below: lists.count)])
        case 3: await loadObject()
        case 4, 5, 6:
            let others = lists[(rank + 1)...].filter { $0.name != crossing.value?.0.list.name }
            if depth > 1 || others.isEmpty { return changeServer() }
            await load(others[roll(below: others.count)], by: anyMember(), depth: depth)
        default: changeServer()
        }
    }

    /// Loads a list.
    ///
    /// - Parameter depth: The number of requests that are waiting.
    func load(_ list: SeaList, by member: Int, depth: Int, crossing: SeaCrossing? = nil) async {
        let load = SeaLoad(list, by: member, .some(roll(below: 8)), crossing: crossing)
        await run(load) { [self] in
            try await load.run(members) { [self] in try await answer($0, to: load, depth: depth) }
        }
        if depth == 0 { await endCrossing() }
    }

    /// Runs a load, and checks its result and its requests.
    func run(_ load: SeaLoad, _ work: () async throws -> Void) async {
        note("\(load.name)<")
        place.pass(1)
        // Otherwise, a process may wait for the lease of a load that has ended.
        for member in members { await member.harbors.tier.waitForScopeLeases() }
        do {
            try await work()
            note("\(load.name)>")
            await didStore(load)
        } catch {
            note("\(load.name)>\((error as? DataSourceError)?.code.rawValue ?? "\(error)")")
            await check(error, of: load)
        }
        let requests = load.requests.value
        if requests.count > 3 { fail("\(load.name) made \(requests.count) requests.") }
        if requests.dropLast().contains(where: { !$0.isDisturbed }) { fail("\(load.name) made a needless request.") }
    }

    private func loadObject() async {
        let kind = roll(below: 3) == 0 ? SeaObject.Kind.harbor : .ship
        let id = SeaObject.ID(kind: kind, key: roll(below: kind == .harbor ? 5 : 8))
        let load = SeaLoad(.object(id), by: anyMember(), .all)
        await run(load) { [self] in
            try await load.runForObject(members, id) { [self] in
                try await enter(load)
                var version = server.newest
                defer { leave(load, version) }
                if roll(below: 3) == 0 { changeServer() }
                if roll(below: 6) == 0 { await deleteShip() }
                if roll(below: 2) == 0 { version = server.newest }
                if roll(below: 8) == 0 { throw Poison() }
                return server.state(at: version)?[id]
            }
        }
    }

    /// Stores the newest list without a load.
    private func apply(_ list: SeaList) async {
        let load = SeaLoad(list, by: anyMember(), .some(roll(below: 8)))
        await run(load) { [self] in
            try await enter(load)
            leave(load, server.newest)
            let (objects, tag) = listed(list, at: server.newest)
            try await load.apply(.list(objects, entityTag: tag), members, at: place.clock.value)
        }
    }

    private func deleteShip() async {
        let (key, member) = (Int64(roll(below: 8)), anyMember())
        begin("-s\(key)")
        do { try await members[member].ships.delete(Ship.self, where: \.key == key) } catch { fail("Ship: \(error)") }
    }

    /// Without the server, the rule Nullify would change ships whose lists keep their tags.
    private func deleteHarbor() async {
        if server.hasVisitors { return changeServer() }
        let (key, member) = (Int64(roll(below: 5)), anyMember())
        begin("-h\(key)")
        do { try await members[member].harbors.delete(Harbor.self, where: \.key == key) } catch {
            let isDenied = (error as? DataSourceError)?.code == .deletionDenied && server.hasDebtors
            if !isDenied { fail("Harbor: \(error)") }
        }
    }

    /// Records that the app saves something.
    private func begin(_ text: String) {
        note(text)
        eventCount.update { $0 += 1 }
        hasDeleted.value = true
        // A deleted object may come back as it was before.
        newest.value = [:]
    }

    // MARK: Requests

    func listed(_ list: SeaList, at version: Int) -> ([SeaObject], tag: String) {
        let objects = server.objects(of: list, at: version).values.sorted { $0.id.key < $1.id.key }
        return (objects, "\(server.tag(of: list, at: version))")
    }

    /// Begins or resumes a request.
    func enter(_ load: SeaLoad, page: Int = 0) async throws {
        place.pass(1)
        let count = eventCount.value
        if page > 0 {
            load.requests.update { requests in
                guard var last = requests.popLast() else { return }
                last.hasPages = true
                if last.eventCount != count { last.isDisturbed = true }
                last.eventCount = count
                requests.append(last)
            }
            return
        }
        let rows = try await members[load.member].rows()
        let request = SeaLoad.Request(
            before: Set(rows.values.filter(load.list.covers).map(\.id)), answerCount: answers.value.count,
            eventCount: count)
        load.requests.update { $0.append(request) }
    }

    /// Ends a request, or a page of it.
    func leave(_ load: SeaLoad, _ version: Int) {
        note("=v\(version)")
        var count = 0
        eventCount.update { events in
            count = events
            events += 1
        }
        load.requests.update { [count] requests in
            guard var last = requests.popLast() else { return }
            if last.eventCount != count { last.isDisturbed = true }
            last.eventCount = count + 1
            last.version = version
            requests.append(last)
        }
    }

    private func answer(
        _ request: ScopeRequest, to load: SeaLoad, depth: Int
    ) async throws -> ServerAnswer<SeaObject> {
        try await enter(load, page: request.page)
        // The server makes its answer when the request begins, or when it ends.
        var version = request.cursor.flatMap { Int($0) } ?? server.newest
        defer { leave(load, version) }
        let rank = lists.firstIndex { $0.name == load.list.name } ?? lists.count - 1
        if let crossing = load.crossing {
            crossing.began.send()
            await crossing.ended.wait()
        }
        for _ in 0..<roll(below: 3) { await interfere(after: rank, depth: depth + 1) }
        if depth == 0 && request.page == 0 { await cross(load, after: rank) }
        if request.page == 0, roll(below: 2) == 0 { version = server.newest }
        let (objects, tag) = listed(load.list, at: version)
        if request.page > 0 { return .page(Array(objects.dropFirst(1)), next: nil) }
        switch roll(below: 12) {
        case 0: throw Poison()
        case 1, 2: return .page(Array(objects.prefix(2)), next: "\(version)")
        default: return request.entityTag == tag ? .notModified : .list(objects, entityTag: tag)
        }
    }

    /// Sometimes begins a load that ends after the given load. Another process would compare only the times of the two requests.
    private func cross(_ load: SeaLoad, after rank: Int) async {
        if crossing.value != nil || rank + 1 >= lists.count || roll(below: 3) > 0 { return }
        let new = SeaCrossing(list: lists[rank + 1 + roll(below: lists.count - rank - 1)])
        let task = Task {
            await self.load(new.list, by: load.member, depth: 2, crossing: new)
            // The load may have ended without a request.
            new.began.send()
        }
        crossing.value = (new, task)
        await new.began.wait()
    }

    private func endCrossing() async {
        guard let (crossing, task) = crossing.value else { return }
        crossing.ended.send()
        await task.value
        self.crossing.value = nil
    }

    // MARK: Checks

    /// Records a stored answer. It must not have replaced a newer one.
    private func didStore(_ load: SeaLoad) async {
        guard !load.requests.value.isEmpty else { return }
        let answer = load.answer
        answers.update { $0.append(answer) }
        do {
            let rows = try await members[load.member].rows()
            var versions = newest.value.filter { id, _ in (rows[id]?.version ?? 0) > 0 }
            for (id, version) in versions {
                guard let row = rows[id], row.version < version else { continue }
                fail("\(load.name): \(row) has replaced version \(version).")
            }
            for id in server.objects(of: answer.list, at: answer.version).keys {
                if let row = rows[id] { versions[id] = max(row.version, versions[id] ?? 0) }
            }
            newest.value = versions
        } catch { fail("\(error)") }
    }

    /// An error must be true, and may be no error of an answer that is older than another one.
    private func check(_ error: any Error, of load: SeaLoad) async {
        if error is Poison { return }
        let requests = load.requests.value
        guard let code = (error as? DataSourceError)?.code, let last = requests.last,
            [.scopeChanged, .emptySync, .tooManyDeletions, .deletionDenied].contains(code)
        else { return fail("\(load.name): \(error)") }
        if code == .scopeChanged {
            if requests.count == 3, requests.allSatisfy(\.isDisturbed) { return }
            return fail("\(load.name) was refused after \(requests.count) requests.")
        }
        // The rows are no longer those before the first page.
        if last.hasPages { return }
        do {
            let rows = try await members[load.member].rows()
            let newer = answers.value[last.answerCount...].first {
                server.replaces(load.answer, last.before, newer: $0, in: rows)
            }
            if let newer, requests.count < 3 {
                fail("\(load.name) ended with \(code.rawValue), although \(newer.list.name) is newer.")
            }
            if !last.isDisturbed, !isTrue(code, load, rows) { fail("\(load.name): \(error)") }
        } catch { fail("\(error)") }
    }

    /// Whether a rule refuses the answer of a load during whose last request nothing else was saved.
    private func isTrue(_ code: DataSourceError.Code, _ load: SeaLoad, _ rows: SeaState) -> Bool {
        let listed = server.objects(of: load.list, at: load.answer.version)
        let inScope = rows.values.filter(load.list.covers)
        let missing = Set(inScope.map(\.id)).subtracting(listed.keys)
        switch code {
        case .emptySync: return listed.isEmpty && !missing.isEmpty && !load.rule.options.contains(.allowsEmpty)
        case .tooManyDeletions:
            return load.rule.share.map { Double(missing.count) > $0 * Double(inScope.count) } ?? false
        default:
            return rows.values.contains { row in
                row.lender.map { missing.contains(SeaObject.ID(kind: .harbor, key: $0)) } ?? false
            }
        }
    }
}
