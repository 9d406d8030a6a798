internal import CoreDataSource

/// The list for whoever reads standard output: a line for each change, in the order of the list, those that are gone first.
struct LineView: ListView {
    func show(_ packages: PackageDataSource, _ changes: [ManagedObjectID: PackageChange]) {
        if changes.isEmpty {
            let sections = packages.numberOfSections(WatchedList.dataKey)
            print("watching: \(packages.allObjects(dataKey: WatchedList.dataKey).count) packages, \(sections) sections")
        }
        let gone = changes.values.filter { $0.type == .delete }.sorted { $0.text < $1.text }
        let shown = changes.count > gone.count ? packages.allObjects(dataKey: WatchedList.dataKey) : []
        for change in gone + shown.compactMap({ changes[$0.objectID] }) { print(change.mark, change.text) }
        flush()
    }

    func say(_ text: String) {
        print(text)
        flush()
    }
}
