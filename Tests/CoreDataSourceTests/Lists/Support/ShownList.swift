import RowStore

/// A list as a table view has it on the screen: what was reported, and nothing else.
struct ShownList: Equatable {
    struct Section: Equatable {
        var name: String
        var rows: [Row]
    }

    /// A row, and the version of it that its cell was last drawn from.
    struct Row: Equatable {
        var key: Int64
        var content: String
    }

    /// What is reported of one row.
    struct Change {
        var old: (section: Int, item: Int)?
        var new: (section: Int, item: Int)?
        var isUpdate = false
    }

    var sections: [Section]

    /// Replays a report as a table view does: everything that goes away by old places, then everything that comes by new
    /// ones. Cells are drawn for rows that came, moved or were updated, and for no others.
    ///
    /// - Returns: What a table view would complain about; nil if nothing.
    mutating func replay(
        deletedSections: [Int], insertedSections: [Int], _ changes: [Change], result: ShownList
    ) -> String? {
        let before = sections
        var isGone = before.map { $0.rows.map { _ in false } }
        for change in changes {
            guard let old = change.old else { continue }
            guard before.indices.contains(old.section), before[old.section].rows.indices.contains(old.item) else {
                return "there was no row at \(old)"
            }
            if change.isUpdate {
                if isGone[old.section][old.item] { return "a row that goes was updated" }
                continue
            }
            if isGone[old.section][old.item] { return "the row at \(old) goes twice" }
            isGone[old.section][old.item] = true
        }
        var left: [Section] = []
        for (index, section) in before.enumerated() {
            let rows = zip(section.rows, isGone[index]).filter { !$1 }.map(\.0)
            if !deletedSections.contains(index) {
                left.append(Section(name: section.name, rows: rows))
            } else if !rows.isEmpty {
                return "rows are left in section \(index), which goes"
            }
        }
        for index in insertedSections {
            guard index <= left.count, result.sections.indices.contains(index) else { return "no section \(index)" }
            left.insert(Section(name: result.sections[index].name, rows: []), at: index)
        }
        if left.count != result.sections.count { return "\(left.count) sections instead of \(result.sections.count)" }
        let coming = changes.filter { $0.new != nil && !$0.isUpdate }.map { $0.new! }
        for new in coming.sorted(by: { $0 < $1 }) {
            guard result.sections.indices.contains(new.section),
                result.sections[new.section].rows.indices.contains(new.item), new.item <= left[new.section].rows.count
            else { return "there is no place \(new)" }
            left[new.section].rows.insert(result.sections[new.section].rows[new.item], at: new.item)
        }
        for change in changes where change.isUpdate {
            guard let old = change.old else { return "an update without a place" }
            let key = before[old.section].rows[old.item].key
            for (index, section) in left.enumerated() {
                guard let item = section.rows.firstIndex(where: { $0.key == key }) else { continue }
                guard result.sections[index].rows.indices.contains(item) else { return "\(key) is not where it was" }
                left[index].rows[item].content = result.sections[index].rows[item].content
            }
        }
        sections = left
        return nil
    }
}
