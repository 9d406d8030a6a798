internal import CoreDataSource
internal import Foundation

/// What is shown of an object of a list.
protocol ListedRow: ManagedObject {
    var line: String { get }
}

extension Package: ListedRow {
    /// Name, version and section.
    var line: String { "\(name) \(version) [\(section)]" }
}

extension Dependency: ListedRow {
    /// The package that depends, and what it says. It is the object's own, so that it can still be shown of one that is gone.
    var line: String { "\(dependant) [\(text)]" }
}

/// What happened to an object, as it is shown.
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

/// What a watch follows.
enum WatchSubject: Equatable {
    /// All packages, or those of a section.
    case packages(section: String?)
    /// What depends on the packages of a name, or on what they provide.
    case dependants(of: String)

    /// What the rows are called.
    var noun: String {
        switch self {
        case .packages: "packages"
        case .dependants: "dependants"
        }
    }
}

/// Where the list is shown.
@MainActor
protocol ListView {
    /// - Parameter changes: What happened, by object; those that are gone are not in the list any more.
    func show(_ list: WatchedList, _ changes: [ManagedObjectID: RowChange])
    /// Says what is not part of the list.
    func say(_ text: String)
}

/// The delegate of the live list: it gathers the changes of one report, and has them shown at its end.
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
                FetchRequest(
                    Package.self, where: section.map { \Package.section == $0 },
                    order: [SortDescriptor(\.name), SortDescriptor(\.key)]), sectionBy: \.section)
        case .dependants(let name):
            let known = try packages.main.first(PackageName.self, where: \.name, equals: name)
            let provided = known?.packages.flatMap { $0.provides.map(\.name) } ?? []
            try packages.register(
                self, dataKey: Self.dataKey,
                FetchRequest(
                    Dependency.self, where: .isIn(\.name, [name] + provided),
                    order: [SortDescriptor(\.dependant), SortDescriptor(\.key)]), sectionBy: \.field)
        }
    }

    /// The rows by sections, as they are now.
    var sections: [(name: String, rows: [any ListedRow])] {
        (0..<packages.numberOfSections(Self.dataKey)).compactMap { section in
            guard let info = packages.sectionInfo(at: section, dataKey: Self.dataKey) else { return nil }
            let rows = (0..<info.numberOfObjects).compactMap { item in
                let path = IndexPath(item: item, section: section)
                return packages.object(at: path, dataKey: Self.dataKey, as: ManagedObject.self) as? any ListedRow
            }
            return (info.name, rows)
        }
    }

    /// Shows the list as it is.
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
        view.say("The list could not be read: \(error.message)")
    }
}
