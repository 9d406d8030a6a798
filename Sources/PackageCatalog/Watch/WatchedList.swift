internal import CoreDataSource
internal import Foundation

/// What happened to a package, as it is shown.
struct PackageChange {
    var type: ListChangeType
    /// Name, version and section.
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

/// Where the list is shown.
@MainActor
protocol ListView {
    /// - Parameter changes: What happened, by package; those that are gone are not in the list any more.
    func show(_ packages: PackageDataSource, _ changes: [ManagedObjectID: PackageChange])
    /// Says what is not part of the list.
    func say(_ text: String)
}

/// The delegate of the live list: it gathers the changes of one report, and has them shown at its end.
@MainActor
final class WatchedList: DataSourceDelegate {
    static let dataKey = "watch"

    private let packages: PackageDataSource
    private let view: any ListView
    private var changes: [ManagedObjectID: PackageChange] = [:]

    init(_ packages: PackageDataSource, section: String?, _ view: any ListView) throws {
        self.packages = packages
        self.view = view
        try packages.register(
            self, dataKey: Self.dataKey,
            FetchRequest(
                Package.self, where: section.map { \Package.section == $0 },
                order: [SortDescriptor(\.name), SortDescriptor(\.key)]), sectionBy: \.section)
    }

    /// Shows the list as it is.
    func show() {
        view.show(packages, [:])
    }

    func willChangeContent(dataKey: String) {
        changes = [:]
    }

    func didChangeObject(
        _ object: ManagedObject, at indexPath: IndexPath?, for type: ListChangeType, newIndexPath: IndexPath?,
        dataKey: String
    ) {
        guard let package = object as? Package else { return }
        changes[package.objectID] = PackageChange(type: type, text: package.line)
    }

    func didChangeContent(dataKey: String) {
        view.show(packages, changes)
    }

    func didFail(_ error: DataSourceError, dataKey: String) {
        view.say("The list could not be read: \(error.message)")
    }
}

extension Package {
    /// Name, version and section.
    var line: String { "\(name) \(version) [\(section)]" }
}
