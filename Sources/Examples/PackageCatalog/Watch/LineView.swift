internal import CoreDataSource

/// The list on standard output: a line for each change, in the order of the list, deleted rows first.
struct LineView: ListView {
    func show(_ list: WatchedList, _ changes: [ManagedObjectID: RowChange]) {
        let gone = changes.values.filter { $0.type == .delete }.sorted { $0.text < $1.text }
        let sections = changes.isEmpty || changes.count > gone.count ? list.sections : []
        let rows = sections.flatMap(\.rows)
        if changes.isEmpty { print("watching: \(rows.count) \(list.subject.noun), \(sections.count) sections") }
        for change in gone + rows.compactMap({ changes[$0.objectID] }) { print(change.mark, change.text) }
        flush()
    }

    func say(_ text: String) {
        print(text)
        flush()
    }
}
