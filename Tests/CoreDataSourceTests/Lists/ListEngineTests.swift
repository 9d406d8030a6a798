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
                let problem = step % 25 == 24 ? try list.move(&random) ?? list.save(&random) : try list.save(&random)
                if let problem {
                    Issue.record("\(problem) (seed \(Self.seed), save \(done + step))")
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
    /// What the one that is paused shows.
    var paused: ShownState
    var pausedShown: ShownList
    /// The rows that were updated since the last report, and since the pause began. They may be as before.
    var (updated, updatedInPause): (Set<Int64>, Set<Int64>) = ([], [])

    init(_ random: inout SeededRandom) {
        plan = ListWorld.Plan(&random)
        for _ in 0..<random.next(below: 20) { _ = world.save(&random) }
        if random.next(below: 2) == 0 { plan.start = world.place(&random) }
        state = world.state(plan)
        shown = world.shown(plan)
        (paused, pausedShown) = (ShownState(state), shown)
        paused.pause()
    }

    /// Reads on behind the rows that are left, perhaps after more saves.
    private mutating func readMore(
        _ head: ListState, _ net: inout NetChanges, _ random: inout SeededRandom
    ) throws -> ListState? {
        var newer = NetChanges()
        for _ in 0..<random.next(below: 3) {
            let changes = makeSave(&random)
            try newer.add(changes, to: plan.query)
            try net.add(changes, to: plan.query)
        }
        switch head.continued(by: world.tail(of: head, plan), newer) {
        case .state(let state, _): return state
        case .isShort(let head): return try readMore(head, &net, &random)
        case .isStale: return nil
        }
    }

    /// Has the list begin elsewhere.
    ///
    /// - Returns: What is wrong then.
    mutating func move(_ random: inout SeededRandom) -> String? {
        let old = state
        plan.start = world.place(&random)
        state = world.state(plan)
        let expected = world.shown(plan)
        if let problem = check(expected) { return problem }
        let difference = RowDifference(
            from: old, to: state, NetChanges.comparing(old.rows, with: state.rows, of: state.query).net)
        if let problem = Self.follow(difference, old, state, &shown, expected, plan) {
            return "after a move: \(problem)"
        }
        updatedInPause = []
        // One that is paused is moved at once.
        let move = paused.move(to: state, ListReason(.initial))
        return Self.follow(move.difference, move.old, move.new, &pausedShown, expected, plan).map {
            "after a move in a pause: \($0)"
        }
    }

    private mutating func makeSave(_ random: inout SeededRandom) -> ChangeSet {
        let changes = world.save(&random)
        let keys = changes.entities.flatMap(\.updated).map(\.key)
        updated.formUnion(keys)
        updatedInPause.formUnion(keys)
        return changes
    }

    /// Makes some saves, and follows them.
    ///
    /// - Returns: What is wrong then.
    mutating func save(_ random: inout SeededRandom) throws -> String? {
        var net = NetChanges()
        updated = []
        for _ in 0...(random.next(below: 6) == 0 ? 2 : 0) { try net.add(makeSave(&random), to: plan.query) }
        let old = state
        var places: RowIndexes?
        switch state.applying(net, asOf: world.lastSave) {
        case .state(let new, let found): (state, places) = (new, found)
        case .isStale: return "a row was not found"
        case .isShort(let head):
            guard let longer = try readMore(head, &net, &random) else { return "a row was not found after reading on" }
            state = longer
        }
        let expected = world.shown(plan)
        if let problem = check(expected) { return problem }
        let report = ListReport(from: old, to: state, net, places, ListReason(.save), since: .now)
        let problem = Self.follow(report.difference, old, state, &shown, expected, plan, updated: updated)
        if let problem { return problem }
        if paused.receive(report) != nil { return "a report was shown in a pause" }
        return random.next(below: 5) == 0 ? catchUp(expected).map { "after a pause: \($0)" } : nil
    }

    /// Ends the pause for a moment.
    ///
    /// - Returns: What is wrong then.
    private mutating func catchUp(_ expected: ShownList) -> String? {
        defer {
            paused.pause()
            updatedInPause = []
        }
        let report = paused.resume(at: state, ListReason(.save))
        if paused.state !== state { return "it shows an older state" }
        guard let report else {
            let isSame = pausedShown == expected && updatedInPause.isDisjoint(with: pausedShown.keys.joined())
            return isSame ? nil : "it shows \(pausedShown) instead of \(expected)"
        }
        return Self.follow(
            report.difference, report.old, report.new, &pausedShown, expected, plan, updated: updatedInPause)
    }

    private func check(_ expected: ShownList) -> String? {
        let list = ShownList(state)
        return list == expected ? nil : "the list is \(list) instead of \(expected)"
    }

    private static func follow(
        _ difference: RowDifference, _ old: ListState, _ new: ListState, _ shown: inout ShownList,
        _ expected: ShownList,
        _ plan: ListWorld.Plan, updated: Set<Int64> = []
    ) -> String? {
        if let excess = excess(difference, shown, expected, plan, updated) { return excess }
        let problem = shown.replay(difference, from: old, to: new, result: expected)
        return problem ?? (shown == expected ? nil : "it shows \(shown) instead of \(expected)")
    }

    /// What is reported though it need not be, or is not reported though its object may have been drawn in between.
    private static func excess(
        _ difference: RowDifference, _ shown: ShownList, _ expected: ShownList, _ plan: ListWorld.Plan,
        _ updated: Set<Int64>
    ) -> String? {
        let before = Survivors(shown)
        let after = Survivors(expected)
        let stayed = before.rows.filter { after.contents[$0.key] != nil }
        let changed = Set(stayed.filter { after.contents[$0.key] != $0.content || updated.contains($0.key) }.map(\.key))
        let missing = changed.subtracting(difference.changes.map(\.key))
        if let key = missing.first { return "\(key) was updated and is not reported" }
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
