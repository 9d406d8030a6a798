import CoreDataSource
import Foundation

/// Prints what a table view would animate: one group of changes for each save.
final class Screen: DataSourceDelegate {
    private var changes: [String] = []

    func show(_ step: String) { print("> \(step)") }

    func didChangeSection(_ section: ListSection, at index: Int, for type: ListChangeType, dataKey: String) {
        changes.append("\(type) section \(section.name) at \(index)")
    }

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        guard let contact = object as? ContactEntity else { return }
        let places = [indexPath, newIndexPath].compactMap { $0 }.map { "\($0.section).\($0.row)" }
        changes.append("\(type) \(contact.name) at \(places.joined(separator: " -> "))")
    }

    func didChangeContent(dataKey: String) {
        for change in changes { print("  \(change)") }
        changes = []
    }
}
