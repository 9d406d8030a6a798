import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// Random saves: what is reported, applied to what was shown, gives what a fetch finds; every time.
///
/// `COREDATASOURCE_LIST_BATCHES` says how many saves there are, and `COREDATASOURCE_SEED` repeats a run.
struct ListEngineTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let batches = environment["COREDATASOURCE_LIST_BATCHES"].flatMap { Int($0) } ?? 4_000
    private static let seed = testSeed()

    @Test func aReportAppliedToTheOldListGivesTheNewOne() throws {
        print("Lists: \(Self.batches) saves, seed \(Self.seed)")
        var random = SeededRandom(seed: Self.seed)
        var done = 0
        while done < Self.batches {
            var list = FollowedList(&random)
            for step in 0..<min(200, Self.batches - done) {
                let complaint = step % 25 == 24 ? try list.move(&random) ?? list.save(&random) : try list.save(&random)
                if let complaint {
                    Issue.record("\(complaint) (seed \(Self.seed), save \(done + step))")
                    return
                }
            }
            done += 200
        }
    }
}

/// A list that follows a world, one that is now and then paused, and what both have on the screen.
private struct FollowedList {
    var world = ListWorld()
    var plan: ListWorld.Plan
    var state: ListState
    var shown: ShownList
    /// What the one that is paused shows, and what it missed.
    var pausedState: ListState
    var pausedShown: ShownList
    var missed = NetChanges()

    init(_ random: inout SeededRandom) {
        plan = ListWorld.Plan(&random)
        for _ in 0..<random.next(below: 20) { _ = world.save(&random) }
        if random.next(below: 2) == 0 { plan.start = world.place(&random) }
        state = Self.read(world, plan)
        shown = world.shown(plan)
        (pausedState, pausedShown) = (state, shown)
    }

    private static func read(_ world: ListWorld, _ plan: ListWorld.Plan) -> ListState {
        let rows = world.rows(plan)
        let isWindow = !plan.query.isHeldWhole
        let held = isWindow ? Array(rows.prefix(plan.query.limit! + plan.query.reserve)) : rows
        return ListState(
            plan.query, RowStorage(held, sizes: .tiny), isComplete: !isWindow || rows.count < held.count + 1,
            asOf: world.lastSave)
    }

    /// Reads on behind the rows that are left, perhaps after more saves.
    private mutating func readOn(
        _ head: ListState, _ net: inout NetChanges, _ random: inout SeededRandom
    ) throws -> ListState? {
        var newer = NetChanges()
        for _ in 0..<random.next(below: 3) {
            let changes = world.save(&random)
            try newer.add(changes, to: plan.query)
            try net.add(changes, to: plan.query)
        }
        let behind = world.rows(plan).filter { row in head.lastHeld.map { plan.query.order.precedes($0, row) } ?? true }
        let tail = RowTail(
            Array(behind.prefix(head.missingCount)), isLast: behind.count < head.missingCount, asOf: world.lastSave)
        switch head.continued(by: tail, newer) {
        case .state(let state, _): return state
        case .isShort(let head): return try readOn(head, &net, &random)
        case .isStale: return nil
        }
    }

    /// Has the list begin elsewhere.
    ///
    /// - Returns: What is wrong then.
    mutating func move(_ random: inout SeededRandom) -> String? {
        let old = state
        plan.start = world.place(&random)
        state = Self.read(world, plan)
        let expected = world.shown(plan)
        if let complaint = check(expected) { return complaint }
        let difference = RowDifference(from: old, to: state, NetChanges(from: old.rows, to: state.rows))
        // One that is paused is moved at once.
        defer { (pausedState, pausedShown, missed) = (state, expected, NetChanges()) }
        return Self.follow(difference, old, state, &shown, expected, plan).map { "after a move: \($0)" }
    }

    /// Makes some saves, and follows them.
    ///
    /// - Returns: What is wrong then.
    mutating func save(_ random: inout SeededRandom) throws -> String? {
        var net = NetChanges()
        for _ in 0...(random.next(below: 6) == 0 ? 2 : 0) { try net.add(world.save(&random), to: plan.query) }
        let old = state
        var places: RowPlaces?
        switch state.applying(net, asOf: world.lastSave) {
        case .state(let new, let found): (state, places) = (new, found)
        case .isStale: return "a row was not found"
        case .isShort(let head):
            guard let longer = try readOn(head, &net, &random) else { return "a row was not found after reading on" }
            state = longer
        }
        missed.add(net, to: plan.query)
        let expected = world.shown(plan)
        if let complaint = check(expected) { return complaint }
        let difference = RowDifference(from: old, to: state, net, places)
        if let complaint = Self.follow(difference, old, state, &shown, expected, plan) { return complaint }
        guard random.next(below: 5) == 0 else { return nil }
        defer { (pausedState, missed) = (state, NetChanges()) }
        let catchingUp = RowDifference(catchingUpFrom: pausedState, to: state, missed)
        return Self.follow(catchingUp, pausedState, state, &pausedShown, expected, plan).map { "after a pause: \($0)" }
    }

    private func check(_ expected: ShownList) -> String? {
        let sections = (0..<state.sectionCount).map { section in
            let rows = state.range(ofSection: section).map { index in
                ShownList.Row(key: state.rows[index].key, content: ListWorld.content(state.rows[index].row))
            }
            return ShownList.Section(name: state.sectionName(section), rows: rows)
        }
        return ShownList(sections: sections) == expected ? nil : "the list is \(sections) instead of \(expected)"
    }

    private static func follow(
        _ difference: RowDifference, _ old: ListState, _ new: ListState, _ shown: inout ShownList,
        _ expected: ShownList,
        _ plan: ListWorld.Plan
    ) -> String? {
        let changes = difference.changes.map { change in
            ShownList.Change(
                old: change.old.map(old.place), new: change.new.map(new.place), isUpdate: change.kind == .update)
        }
        if let excess = excess(difference, shown, expected, plan) { return excess }
        let complaint = shown.replay(
            deletedSections: difference.deletedSections, insertedSections: difference.insertedSections, changes,
            result: expected)
        return complaint ?? (shown == expected ? nil : "it shows \(shown) instead of \(expected)")
    }

    /// What is reported though it need not be.
    private static func excess(
        _ difference: RowDifference, _ shown: ShownList, _ expected: ShownList, _ plan: ListWorld.Plan
    ) -> String? {
        let before = Survivors(shown)
        let after = Survivors(expected)
        let stayed = before.rows.filter { after.contents[$0.key] != nil }
        let changed = Set(stayed.filter { after.contents[$0.key] != $0.content }.map(\.key))
        for change in difference.changes where change.kind == .update || change.kind == .move {
            if !changed.contains(change.key) { return "\(change.key) did not change but is reported" }
        }
        let places = after.places
        // Rows that are sorted as before are no moves; of the others as many stay as can.
        let free = stayed.filter { row in
            let old = (key: row.key, item: ListWorld.Item(row.content))
            let new = (key: row.key, item: ListWorld.Item(after.contents[row.key] ?? ""))
            return plan.precedes(old, new) || plan.precedes(new, old)
        }.map(\.key)
        // The heaviest ascending run.
        let runners = stayed.filter { before.sections[$0.key] == after.sections[$0.key] }
        var weights: [Int] = []
        for (index, row) in runners.enumerated() {
            let own = free.contains(row.key) ? 1 : 10_000
            let best = (0..<index).filter { places[runners[$0].key]! < places[row.key]! }.map { weights[$0] }.max()
            weights.append(own + (best ?? 0))
        }
        let staying = (weights.max() ?? 0) % 10_000
        let moves = difference.changes.count { $0.kind == .move }
        return moves == free.count - staying ? nil : "\(moves) moves instead of \(free.count - staying)"
    }

    private struct Survivors {
        var rows: [ShownList.Row] = []
        var contents: [Int64: String] = [:]
        var places: [Int64: Int] = [:]
        var sections: [Int64: String] = [:]

        init(_ shown: ShownList) {
            for section in shown.sections {
                for row in section.rows {
                    contents[row.key] = row.content
                    sections[row.key] = section.name
                    places[row.key] = rows.count
                    rows.append(row)
                }
            }
        }
    }
}

extension ListState {
    fileprivate func place(_ index: Int) -> (section: Int, item: Int) {
        let section = section(ofRow: index)
        return (section, index - range(ofSection: section).lowerBound)
    }
}
