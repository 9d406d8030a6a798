package import RowStore

/// Finds the lists that saves may concern, without a visit to the other lists.
///
/// If the predicate of a list requires values, or a range of numbers or dates, the list is found by the values of the changed rows
/// before and after a save. All other lists are found by the entities that the save changes.
///
/// A list that is not found shows the same rows after the saves as before, and none of its objects counts as changed. This is
/// only true for a list that shows the newest rows. A list that is behind must get all saves.
package struct ListIndex {
    /// Lists with these properties in common are searched together.
    private struct Shape: Hashable {
        let entity: Int
        let family: [Int]
        let columns: [Int]
        let isRange: Bool
    }

    fileprivate struct Group {
        /// The entities of all lists of the group.
        let family: [Int]
        /// The links of all lists of the group.
        let links: ChangedLinks
        let layout: EntityLayout
        let columns: [Int]
        /// Whether the lists are found by ranges of the only column.
        let isRange: Bool
        /// The numbers of all lists of the group.
        var all: [Int] = []
        var numbersByValues: [[RowValue]: [Int]] = [:]
        var ranges = RangeIndex()
    }

    private var groups: [Shape: Group] = [:]
    /// The numbers of the lists that are found by the entities of a save.
    private var numbersByEntity: [Int: [Int]] = [:]

    package init() {}

    /// Adds a list. Lists of the same entities must have the same ``ListQuery/links``.
    ///
    /// - Parameters:
    ///   - number: A number that identifies the list.
    ///   - usesValues: Whether a save that changes none of the list's rows can be left out. If false, the list is found for all
    ///     saves of its entities.
    package mutating func add(_ number: Int, _ query: ListQuery, usesValues: Bool = true) {
        if usesValues, let required = query.requiredValues {
            withGroup(of: query, required.columns, isRange: false) { $0.add(number, required) }
        } else if usesValues, let required = query.requiredRange {
            withGroup(of: query, [required.column], isRange: true) { $0.add(number, required) }
        } else {
            for entity in query.watched.union(query.links.entities) {
                numbersByEntity[entity, default: []].append(number)
            }
        }
    }

    private mutating func withGroup(
        of query: ListQuery, _ columns: [Int], isRange: Bool, _ add: (inout Group) -> Void
    ) {
        let shape = Shape(entity: query.entity, family: query.family, columns: columns, isRange: isRange)
        let empty = Group(
            family: query.family, links: query.links, layout: query.order.layout, columns: columns, isRange: isRange)
        add(&groups[shape, default: empty])
    }

    /// Returns the numbers of the lists that the saves may concern.
    ///
    /// **Complexity**: for each changed row, one look-up for each combination of entities and columns with required values or
    /// a required range. After a save of very many rows, all lists of the entities are returned.
    package func lists(concernedBy saves: [ChangeSet]) -> Set<Int> {
        var found: Set<Int> = []
        if !numbersByEntity.isEmpty {
            for entity in Set(saves.lazy.flatMap(\.entities).map(\.entity)) {
                if let numbers = numbersByEntity[entity] { found.formUnion(numbers) }
            }
        }
        for group in groups.values { group.find(saves, &found) }
        return found
    }
}

extension ListIndex.Group {
    fileprivate mutating func add(_ number: Int, _ required: RequiredValues) {
        all.append(number)
        for values in required.combinations { numbersByValues[values, default: []].append(number) }
    }

    fileprivate mutating func add(_ number: Int, _ required: RequiredRange) {
        all.append(number)
        ranges.add(number, required.bounds)
    }

    fileprivate func find(_ saves: [ChangeSet], _ found: inout Set<Int>) {
        var rowCount = 0
        for changes in saves.lazy.flatMap(\.entities) where family.contains(changes.entity) {
            rowCount += changes.rowCount
        }
        // If very many rows have changed, visiting all lists is faster than the look-ups, because the lists handle large saves
        // off the main actor. If links have changed, any list can have the objects of these links.
        if rowCount > max(256, 32 * all.count) || saves.contains(where: links.isAny) {
            return found.formUnion(all)
        }
        if rowCount == 0 { return }
        for changes in saves.lazy.flatMap(\.entities) where family.contains(changes.entity) {
            for row in changes.inserted { find(row.key, row.row, &found) }
            for row in changes.deleted { find(row.key, row.row, &found) }
            for row in changes.updated {
                find(row.key, row.row, &found)
                find(row.key, row.previous, &found)
            }
        }
    }

    private func find(_ key: Int64, _ row: RowSnapshot, _ found: inout Set<Int>) {
        if isRange {
            let column = columns[0]
            guard let number = RequiredRange.number(of: row, column, layout.order(of: column).storage) else { return }
            return ranges.find(number, &found)
        }
        guard let values = RequiredValues.values(ofRow: key, row, in: columns, layout),
            let numbers = numbersByValues[values]
        else { return }
        found.formUnion(numbers)
    }
}
