import CoreDataSource
import TestSupport

/// A list of the server.
struct SeaList: Sendable {
    enum Scope: Sendable {
        case harbors(SyncScope<Harbor>)
        case ships(SyncScope<Ship>)
    }

    let scope: Scope
    /// Whether the list has an object of its kind.
    private let hasMember: @Sendable (SeaObject) -> Bool

    private init(_ scope: Scope, _ hasMember: @escaping @Sendable (SeaObject) -> Bool = { _ in true }) {
        (self.scope, self.hasMember) = (scope, hasMember)
    }

    var name: String {
        switch scope {
        case .harbors(let scope): scope.name
        case .ships(let scope): scope.name
        }
    }

    var kind: SeaObject.Kind {
        switch scope {
        case .harbors: .harbor
        case .ships: .ship
        }
    }

    func covers(_ object: SeaObject) -> Bool { object.id.kind == kind && hasMember(object) }

    private static let harbors = SeaList(.harbors(SyncScope("harbors")))
    private static let nearHarbors = SeaList(.harbors(SyncScope("near", where: \.key <= 2))) { $0.id.key <= 2 }
    private static let ships = SeaList(.ships(SyncScope("ships")))
    private static let plainShips = SeaList(.ships(SyncScope("plain", where: \.flag == 0))) { $0.flag == 0 }
    private static let flaggedShips = SeaList(.ships(SyncScope("flagged", where: \.flag >= 1))) { $0.flag >= 1 }
    private static let oldShips = SeaList(.ships(SyncScope("old", where: \.key <= 4))) { $0.id.key <= 4 }

    /// Lists that together have all objects. A list of harbors has no predicate of a value, because the list would delete harbors
    /// that the server still has, and the delete rules would then edit ships that the server has not changed.
    static func some(_ number: Int) -> [SeaList] {
        let lists = [[ships, plainShips], [plainShips, flaggedShips], [ships, flaggedShips, oldShips]]
        return lists[number % 3] + (number % 2 == 0 ? [harbors] : [harbors, nearHarbors])
    }

    /// The list of one object.
    static func object(_ id: SeaObject.ID) -> SeaList {
        let key = Int64(id.key)
        return switch id.kind {
        case .harbor: SeaList(.harbors(SyncScope(where: \.key, equals: key))) { $0.id == id }
        case .ship: SeaList(.ships(SyncScope(where: \.key, equals: key))) { $0.id == id }
        }
    }
}

/// A server with harbors and ships that change. It remembers all its versions, beginning with version 0, which is empty. The entity
/// tag of a list is the version that has last changed the list, so no tag is used again.
final class SeaServer: Sendable {
    /// Whether each harbor has a ship.
    private let isTidy: Bool
    /// Whether ships have a next harbor, and whether they have a lender.
    let hasVisitors: Bool
    let hasDebtors: Bool
    /// Whether ships call at harbors. A harbor also lists its callers.
    private let hasCalls: Bool
    private let states = Shared<[SeaState]>([[:]])

    init(isTidy: Bool, hasVisitors: Bool, hasDebtors: Bool, hasCalls: Bool) {
        (self.isTidy, self.hasVisitors, self.hasDebtors, self.hasCalls) = (isTidy, hasVisitors, hasDebtors, hasCalls)
    }

    var newest: Int { states.value.count - 1 }

    /// The numbers of the versions after a version.
    func versions(after version: Int) -> Range<Int> { version + 1..<states.value.count }

    /// - Returns: Nil if the server has no such version.
    func state(at version: Int) -> SeaState? {
        let states = states.value
        return states.indices.contains(version) ? states[version] : nil
    }

    func objects(of list: SeaList, at version: Int) -> SeaState {
        (state(at: version) ?? [:]).filter { list.covers($0.value) }
    }

    /// Returns the version that has last changed the list.
    func tag(of list: SeaList, at version: Int) -> Int {
        let objects = objects(of: list, at: version)
        var tag = version
        while tag > 0, self.objects(of: list, at: tag - 1) == objects { tag -= 1 }
        return tag
    }

    // MARK: Changes

    /// - Returns: What has changed, for the trace of a world.
    func change(_ random: inout SeededRandom) -> String {
        let last = states.value[newest]
        var state = last
        for _ in 0..<Int.random(in: 1...3, using: &random) { edit(&state, &random) }
        if isTidy { removeEmptyHarbors(&state) }
        removeCalls(of: &state)
        let number = newest + 1
        for (id, object) in state {
            var same = object
            same.version = last[id]?.version ?? number
            state[id] = same
            if same != last[id] { state[id]?.version = number }
        }
        if state == last { return "" }
        states.update { $0.append(state) }
        let gone = last.keys.filter { state[$0] == nil }.map { "-\($0.kind.rawValue)\($0.key)" }
        let new = state.values.filter { $0.version == number }.map { "\($0)" }
        return "v\(number)[" + (gone.sorted() + new.sorted()).joined(separator: ", ") + "]"
    }

    private func edit(_ state: inout SeaState, _ random: inout SeededRandom) {
        let ship = SeaObject.ID(kind: .ship, key: random.next(below: 8))
        let harbor = SeaObject.ID(kind: .harbor, key: random.next(below: 5))
        let (flag, choice) = (random.next(below: 3), random.next(below: 10))
        let harbors = state.keys.filter { $0.kind == .harbor }.map(\.key).sorted()
        switch choice {
        case 0: state[harbor] = SeaObject(id: harbor, flag: flag, calls: state[harbor]?.calls ?? [])
        case 1: remove(harbor, from: &state)
        case 2: state[ship] = nil
        case 3, 4: state[ship]?.flag = flag
        case 5 where hasCalls, 6 where hasCalls: changeCall(of: ship, at: harbor, &state)
        default:
            var new = SeaObject(
                id: ship, flag: flag, home: harbors.randomElement(using: &random) ?? harbor.key,
                calls: state[ship]?.calls ?? [])
            if harbors.isEmpty { state[harbor] = SeaObject(id: harbor) }
            if hasVisitors, random.next(below: 2) == 0 { new.next = harbors.randomElement(using: &random) }
            if hasDebtors, random.next(below: 3) == 0 { new.lender = harbors.randomElement(using: &random) }
            state[ship] = new
        }
    }

    /// Lets a ship call at a harbor, or no longer do so.
    private func changeCall(of ship: SeaObject.ID, at harbor: SeaObject.ID, _ state: inout SeaState) {
        guard let ports = state[ship]?.calls, let callers = state[harbor]?.calls else { return }
        let isNew = !ports.contains(harbor.key)
        state[ship]?.calls = isNew ? (ports + [harbor.key]).sorted() : ports.filter { $0 != harbor.key }
        state[harbor]?.calls = isNew ? (callers + [ship.key]).sorted() : callers.filter { $0 != ship.key }
    }

    /// Removes the calls of objects that were removed.
    private func removeCalls(of state: inout SeaState) {
        let before = state
        for (id, object) in before {
            let kind: SeaObject.Kind = id.kind == .ship ? .harbor : .ship
            state[id]?.calls = object.calls.filter { key in
                before[SeaObject.ID(kind: kind, key: key)]?.calls.contains(id.key) == true
            }
        }
    }

    /// Removes a harbor by the delete rules.
    private func remove(_ harbor: SeaObject.ID, from state: inout SeaState) {
        if state.values.contains(where: { $0.lender == harbor.key && $0.home != harbor.key }) { return }
        state[harbor] = nil
        for (id, object) in state {
            if object.home == harbor.key {
                state[id] = nil
            } else if object.next == harbor.key {
                state[id]?.next = nil
            }
        }
    }

    /// A ship whose lender is removed owes its home.
    private func removeEmptyHarbors(_ state: inout SeaState) {
        let homes = Set(state.values.compactMap(\.home))
        for id in state.keys where id.kind == .harbor && !homes.contains(id.key) {
            for (ship, object) in state where object.lender == id.key { state[ship]?.lender = object.home }
            remove(id, from: &state)
        }
    }
}
