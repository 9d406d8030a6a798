internal import CoreDataSource
internal import Foundation

/// An object of a list, as a line of output.
protocol ListedRow: ManagedObject {
    var line: String { get }
}

extension Package: ListedRow {
    /// Name, version and section.
    var line: String { "\(name) \(version) [\(section)]" }
}

extension Dependency: ListedRow {
    /// The dependent package and the requirement. The object stores the package's name, so that the name can be shown even
    /// after the package was deleted.
    var line: String { "\(dependant) [\(text)]" }
}

/// A change of a row, for the output.
struct RowChange {
    var type: ListChangeType
    var text: String

    /// One character for each kind of change.
    var mark: String {
        switch type {
        case .insert: "+"
        case .delete: "-"
        case .move: ">"
        default: "*"
        }
    }
}

/// The output for a list.
@MainActor
protocol ListView {
    /// - Parameter changes: The changes by object. Deleted objects are no longer in the list.
    func show(_ list: WatchedList, _ changes: [ManagedObjectID: RowChange])
    /// Shows a message that is not part of the list.
    func showMessage(_ text: String)
}

/// The delegate of the live list. Collects the changes of a report, and shows them at the end of the report.
@MainActor
final class WatchedList: DataSourceDelegate {
    private static let dataKey = "watch"

    let subject: WatchSubject
    private let packages: PackageDataSource
    private let view: any ListView
    private var changes: [ManagedObjectID: RowChange] = [:]

    init(_ packages: PackageDataSource, _ subject: WatchSubject, _ view: any ListView) throws {
        self.packages = packages
        self.subject = subject
        self.view = view
        switch subject {
        case .packages(let section):
            try packages.register(
                self, dataKey: Self.dataKey,
                ObjectRequest(
                    Package.self, where: section.map { \Package.section == $0 },
                    order: [FetchOrder(SortDescriptor(\.name)), FetchOrder(SortDescriptor(\.key))]),
                sectionBy: \.section)
        case .dependents(let name):
            let known = try packages.main.first(PackageName.self, where: \.name, equals: name)
            let provided = known?.packages.flatMap { $0.provides.map(\.name) } ?? []
            try packages.register(
                self, dataKey: Self.dataKey,
                ObjectRequest(
                    Dependency.self, where: .isIn(\.name, [name] + provided),
                    order: [FetchOrder(SortDescriptor(\.dependant)), FetchOrder(SortDescriptor(\.key))]),
                sectionBy: \.field)
        }
    }

    /// The current rows, by section.
    var sections: [(name: String, rows: [any ListedRow])] {
        (0..<packages.numberOfSections(dataKey: Self.dataKey)).compactMap { section in
            guard let info = packages.sectionInfo(at: section, dataKey: Self.dataKey) else { return nil }
            let rows = (0..<info.numberOfObjects).compactMap { item in
                let path = IndexPath(item: item, section: section)
                return packages.object(at: path, dataKey: Self.dataKey, as: ManagedObject.self) as? any ListedRow
            }
            return (info.name, rows)
        }
    }

    func show() {
        view.show(self, [:])
    }

    func willChangeContent(dataKey: String) {
        changes = [:]
    }

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        guard let row = object as? any ListedRow else { return }
        changes[object.objectID] = RowChange(type: type, text: row.line)
    }

    func didChangeContent(dataKey: String) {
        view.show(self, changes)
    }

    func didFail(_ error: DataSourceError, dataKey: String) {
        view.showMessage("The list could not be read: \(error.message)")
    }
}
