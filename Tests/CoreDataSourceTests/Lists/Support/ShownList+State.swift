import CoreDataSource
import RowStore

extension ShownList {
    /// What a state shows.
    init(_ state: ListState) {
        sections = (0..<state.sectionCount).map { section in
            let rows = state.range(ofSection: section).map { index in
                Row(key: state.rows[index].key, content: ListWorld.content(state.rows[index].row))
            }
            return Section(name: state.sectionName(section), rows: rows)
        }
    }

    /// Replays a report as a table view does.
    ///
    /// - Returns: What a table view would complain about; nil if nothing.
    mutating func replay(
        _ difference: RowDifference, from old: ListState, to new: ListState, result: ShownList
    ) -> String? {
        let changes = difference.changes.map { change in
            Change(old: change.old.map(old.place), new: change.new.map(new.place), isUpdate: change.kind == .update)
        }
        return replay(
            deletedSections: difference.deletedSections, insertedSections: difference.insertedSections, changes,
            result: result)
    }
}

extension ListState {
    fileprivate func place(_ index: Int) -> (section: Int, item: Int) {
        let section = section(ofRow: index)
        return (section, index - range(ofSection: section).lowerBound)
    }
}
