internal import RowStore

/// What one call of `sweep` keeps of the children of one parent.
struct ChildSweep {
    let parent: ManagedObject
    /// The relationship's place among those of the parent's entity.
    let relationship: Int
    /// The keys of the children that stay.
    let kept: Set<Int64>
    /// Whether the list had a value without an object.
    let hasIgnored: Bool
    let rules: SyncRules

    /// `ThreadEntity/12.messages`.
    private var name: String { "\(parent.objectID).\(parent.layout.relationships[relationship].name)" }

    /// Checks whether the children that the list lacks may be deleted.
    ///
    /// - Parameters:
    ///   - lacking: How many children the list lacks; at least 1.
    ///   - stored: How many children were stored before.
    ///   - call: The rules of the sync that contains the sweep, if there is one.
    /// - Throws: `emptySync`, `syncDeletesTooMuch`.
    func deletes(_ lacking: Int, of stored: Int, _ call: SyncRules?) throws(DataSourceError) -> Bool {
        guard rules.deletes, call?.deletes ?? true else { return false }
        let options = rules.options.union(call?.options ?? [])
        if kept.isEmpty, lacking > 0, !options.contains(.allowsEmpty) {
            throw DataSourceError(
                .emptySync,
                "sweep got an empty list for \(name), which would delete all \(lacking) of its objects. Pass options: .allowsEmpty if that is intended.",
                entityName: parent.layout.name)
        }
        if hasIgnored, !options.contains(.allowsIgnoredValues) { return false }
        if rules.deletion.refuses(lacking, of: stored) { throw rules.deletion.tooMuch(lacking, of: stored, name) }
        return true
    }
}

/// The sweeps of a batch, in the order of their calls. A later sweep of the same relationship replaces the earlier one.
struct ChildSweeps {
    /// One relationship of one entity.
    struct Group: Hashable {
        let entity: Int
        let relationship: Int
    }

    private(set) var groups: [(group: Group, sweeps: [ChildSweep])] = []
    private var places: [Group: (group: Int, sweeps: [Int64: Int])] = [:]

    var isEmpty: Bool { groups.isEmpty }

    mutating func insert(_ sweep: ChildSweep) {
        let group = Group(entity: sweep.parent.layout.index, relationship: sweep.relationship)
        guard let known = places[group] else {
            places[group] = (groups.count, [sweep.parent.key: 0])
            groups.append((group, [sweep]))
            return
        }
        if let place = known.sweeps[sweep.parent.key] {
            groups[known.group].sweeps[place] = sweep
        } else {
            places[group]?.sweeps[sweep.parent.key] = groups[known.group].sweeps.count
            groups[known.group].sweeps.append(sweep)
        }
    }

    /// The keys of all objects that a sweep keeps.
    var kept: Set<Int64> {
        groups.reduce(into: []) { kept, group in for sweep in group.sweeps { kept.formUnion(sweep.kept) } }
    }
}

/// What the sweeps of a batch did.
struct SweepReport {
    /// How many children were stored before.
    var stored = 0
    var kept = 0
    var deleted: [ManagedObjectID] = []
}
